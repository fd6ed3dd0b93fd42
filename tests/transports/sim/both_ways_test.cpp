// Long messages that ranks pass on while others come: at the same time, which they are only where
// invitations do not wait behind them.

#include <doctest/doctest.h>

#include <algorithm>
#include <chrono>
#include <string_view>
#include <vector>

#include <muster/api/collectives.hpp>
#include <muster/run/perform.hpp>

#include "tests/transports/sim/run.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::size_t mib = std::size_t{1} << 20;
constexpr clock_time latency = 10us;
constexpr clock_time byte_time = 1ns;

struct passing_on {
  std::size_t nodes;
  collective what;
  std::string_view row;
  std::size_t bytes;
  clock_time late;  ///< each rank comes so much later than the one after it
  double times;     ///< so often `bytes` follow each other, for the last rank to have everything
  std::size_t latencies;
  std::size_t ranks_a_node = 1;
};

/// On a cluster where only the network costs time.
double time_of(const passing_on& in) {
  sim::model only_network = free_model();
  only_network.network.bandwidth_gbs = 1 / static_cast<double>(byte_time.count());
  only_network.network.latency_ns = static_cast<double>(latency.count());
  sim::options how;
  how.payload = false;
  for (std::size_t node = 0; node < in.nodes; ++node)
    how.node_of.insert(how.node_of.end(), in.ranks_a_node, node);
  std::byte nothing{};
  const auto ends = run(only_network, how, [&](sim::rank& me) -> task<> {
    me.team().choose(in.what, in.row);
    arguments call;
    call.what = in.what;
    call.type = datatype::byte;
    call.count = in.bytes;
    if (has_op(in.what)) call.op = reduction::bit_xor;
    call.receive = &nothing;
    if (in.what != collective::bcast) call.send = &nothing;
    co_await me.rest((in.nodes - 1 - me.number()) * in.late);
    co_await perform(me.team(), call);
  });
  return std::ranges::max(ends);
}

double least_time_of(const passing_on& in) {
  const clock_time in_turn = in.latencies * latency + (in.nodes - 1) * in.late;
  return in.times * static_cast<double>(in.bytes * byte_time.count()) +
         static_cast<double>(in_turn.count());
}

TEST_CASE("what is passed on leaves while the next one comes") {
  using enum collective;
  const std::vector<passing_on> cases = {
      {8, allgather, "leader_ring", mib / 64, 0us, 28, 7, 4},
      {8, bcast, "chain", mib, 0us, 1 + 6.0 / 32, 7},
      {4, bcast, "srm", mib, 0us, 2, 2},
      {8, allreduce, "ring", mib / 8, 0us, 2 * 7.0 / 8, 14},
      {8, scan, "doubling", mib / 4, 2 * latency, 3, 3},
  };
  for (const passing_on& each : cases) {
    const double time = time_of(each);
    const double least = least_time_of(each);
    CHECK_MESSAGE((time > 0.9 * least && time < 1.1 * least), name(each.what), " ", each.row, ": ",
                  time, " ns; expected about ", least);
  }
}

}  // namespace
}  // namespace muster::testing
