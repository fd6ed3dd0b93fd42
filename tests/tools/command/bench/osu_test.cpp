#include "tools/command/bench/osu.hpp"

#include <doctest/doctest.h>

#include <vector>

#include "tests/tools/command/bench/measured.hpp"

namespace muster::bench {
namespace {

TEST_CASE("a block a library: bytes and microseconds, in OSU's columns") {
  const std::vector<measurement> all = {
      measured(library::muster, {collective::allreduce, 4, 8}, 0.456),
      measured(library::openmpi, {collective::allreduce, 4, 8}, 1.2),
      measured(library::muster, {collective::allreduce, 4, 1048576}, 1234.5),
      measured(library::openmpi, {collective::allreduce, 4, 1048576}, 4321),
  };
  CHECK(osu_blocks(all, collective::allreduce, 4) ==
        "\n# Muster Allreduce Latency Test, 4 ranks\n"
        "# Size       Avg Latency(us)\n"
        "8                       0.46\n"
        "1048576              1234.50\n"
        "\n# Open MPI Allreduce Latency Test, 4 ranks\n"
        "# Size       Avg Latency(us)\n"
        "8                       1.20\n"
        "1048576              4321.00\n");
}

TEST_CASE("a barrier has no sizes") {
  const std::vector<measurement> all = {
      measured(library::muster, {collective::barrier, 2, 0}, 0.1)};
  CHECK(osu_blocks(all, collective::barrier, 2) ==
        "\n# Muster Barrier Latency Test, 2 ranks\n"
        " # Avg Latency(us)\n"
        "              0.10\n");
}

TEST_CASE("how it was measured is said, and what is wrong or missing has no figure") {
  std::vector<measurement> all = {measured(library::muster, {collective::reduce, 2, 8}, 1),
                                  measured(library::muster, {collective::reduce, 2, 64}, 2),
                                  measured(library::muster, {collective::reduce, 2, 512}, 3)};
  for (measurement& one : all) one.how.same_buffers = true;
  all[1].verified = false;
  all[2].samples = 0;
  all[2].failure = "a rank ended";
  CHECK(osu_blocks(all, collective::reduce, 2) ==
        "\n# Muster Reduce Latency Test, 2 ranks, same buffers\n"
        "# Size       Avg Latency(us)\n"
        "8                       1.00\n"
        "# 64        wrong results\n"
        "# 512       a rank ended\n");
}

}  // namespace
}  // namespace muster::bench
