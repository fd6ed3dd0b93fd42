// Where the kernel refuses to copy from another rank's memory, that rank stages it instead.

#include <doctest/doctest.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <exception>
#include <span>
#include <string>

#include "tests/harness/refuse_call.hpp"
#include "tools/conformance/build.hpp"
#include "tools/conformance/findings.hpp"
#include "tools/conformance/random.hpp"
#include "tools/conformance/sweep.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

/// From here on the kernel refuses this thread, and no other, every copy from a process's memory.
void refuse_copies() {
  REQUIRE(refuse_call(SYS_process_vm_readv));
  char byte = 0;
  const iovec here{&byte, 1};
  REQUIRE(::process_vm_readv(::getpid(), &here, 1, &here, 1, 0) == -1);
  REQUIRE(errno == EPERM);
}

enum class refused { first_rank, every_other_rank, all_ranks };

bool applies(refused to, std::size_t rank) {
  switch (to) {
    case refused::first_rank:
      return rank == 0;
    case refused::every_other_rank:
      return rank % 2 == 1;
    default:
      return true;
  }
}

void run_row(const algorithm& row, team& of, findings& found) {
  std::vector<spec> calls = calls_for(row, of);
  constexpr std::size_t long_enough_to_lend = 8192;
  std::erase_if(calls, [](const spec& call) { return call.count < long_enough_to_lend; });
  if (calls.empty()) return;
  of.choose(row.what, choices_of(row).front());
  make_calls(of, calls, {.in_flight = 3, .unpunctual = true, .seed = run_seed()}, found);
}

std::string run_row(const algorithm& row, const world_case& world, refused to) {
  const std::string what =
      std::string(name(row.what)) + " " + std::string(row.id) + ", " + describe(world);
  const watchdog alive(what);
  findings found;
  const auto rank = [&](team& of) {
    if (applies(to, of.rank())) refuse_copies();
    run_row(row, of, found);
  };
  try {
    run_threads(world.ranks, rank, options_for(world));
  } catch (const std::exception& why) {
    found.add(std::string("exception: ") + why.what());
  }
  const std::string wrong = found.take();
  return wrong.empty() ? wrong : what + "; " + how_to_replay() + "\n" + wrong;
}

void check_every_row(refused to) {
  constexpr std::size_t all[] = {2, 3, 5};
  constexpr std::size_t few[] = {3};
  const auto ranks = sanitized ? std::span<const std::size_t>(few) : all;
  constexpr layout nodes[] = {layout::one_node, layout::uneven, layout::node_each};
  constexpr movement data[] = {movement::foreign};
  auto number = static_cast<std::uint64_t>(to) << 32U;
  for (const world_case& world : worlds(ranks, nodes, data)) {
    for (const algorithm& row : tested_rows()) {
      if (!is_tried(number++)) continue;
      const std::string wrong = run_row(row, world, to);
      CHECK_MESSAGE(wrong.empty(), wrong);
    }
  }
}

TEST_CASE("copies refused to the first rank") { check_every_row(refused::first_rank); }
TEST_CASE("copies refused to every other rank") { check_every_row(refused::every_other_rank); }
TEST_CASE("copies refused to all ranks") { check_every_row(refused::all_ranks); }

}  // namespace
}  // namespace muster::testing
