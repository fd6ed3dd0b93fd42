#include <cstdio>
#include <vector>

#include <muster/muster.hpp>

muster::task<> program(muster::team& team) {
  std::vector<double> data(1000, static_cast<double>(team.rank()));
  co_await muster::allreduce(team, data, muster::sum);
  std::printf("rank %zu of %zu: sum %g\n", team.rank(), team.size(), data[0]);
}

int main() {
  muster::world world;
  world.run(program(world.team()));
}
