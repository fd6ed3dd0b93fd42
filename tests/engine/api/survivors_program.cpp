// A rank of a job in which one rank dies: the others make a team of those that are left.

#include <csignal>
#include <cstddef>
#include <cstdio>
#include <memory>

#include <muster/muster.hpp>

namespace {

constexpr std::size_t dies = 2;

muster::task<> program(muster::team& team) {
  co_await muster::barrier(team);
  if (team.rank() == dies) std::raise(SIGKILL);
  bool failed = false;
  try {
    while (true) co_await muster::allreduce(team, 1, muster::sum);
  } catch (const muster::error& why) {
    failed = why.code() == muster::errc::rank_died;
  }
  const std::unique_ptr<muster::team> rest = co_await muster::shrink(team);
  const auto total = co_await muster::allreduce(*rest, team.rank(), muster::sum);
  std::printf("rank %zu, now %zu of %zu: sum %zu, told %s\n", team.rank(), rest->rank(),
              rest->size(), total, failed ? "of a death" : "something else");
}

}  // namespace

int main() {
  muster::world world;
  world.run(program(world.team()));
}
