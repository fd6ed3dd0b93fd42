// Collectives on Kokkos Views, as docs/kokkos.md and the guide show them.

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <vector>

#include <muster/kokkos.hpp>
#include <muster/muster.hpp>

#include "tests/guide/require.hpp"

using guide::require;

namespace {

using host = Kokkos::DefaultHostExecutionSpace;

muster::task<> first_call(muster::team& team) {
  // [kokkos]
  Kokkos::View<double**, Kokkos::LayoutLeft> mine("mine", 100, 20);
  Kokkos::View<double**, Kokkos::LayoutLeft> total("total", 100, 20);
  Kokkos::deep_copy(mine, 1.5);
  co_await muster::kokkos::allreduce(team, mine, total, muster::sum);
  // [kokkos end]
  require(total(99, 19) == 1.5 * static_cast<double>(team.size()));
}

muster::task<> instances(muster::team& team) {
  const std::size_t n = team.size();
  // [kokkos instance]
  const host instance;
  const Kokkos::View<double**, Kokkos::LayoutRight> send("send", n, 50);
  const Kokkos::View<double**, Kokkos::LayoutRight> receive("receive", n, 50);
  const Kokkos::RangePolicy<host> rows(instance, 0, n);
  Kokkos::parallel_for("fill", rows, KOKKOS_LAMBDA(int r) { send(r, 0) = r; });
  auto call = muster::start(muster::kokkos::alltoall(instance, team, send, receive));
  // … work that needs neither of them …
  co_await call;
  // [kokkos instance end]
  require(receive(n - 1, 0) == static_cast<double>(team.rank()));
}

muster::task<> subviews(muster::team& team) {
  // [kokkos subview]
  Kokkos::View<double***> grid("grid", 10, 10, 4);
  const auto component = Kokkos::subview(grid, Kokkos::ALL, Kokkos::ALL, 2);
  co_await muster::kokkos::bcast(team, component, 0);
  // [kokkos subview end]
}

muster::task<> blocks(muster::team& team) {
  // [kokkos blocks]
  const Kokkos::View<double**, Kokkos::LayoutLeft> columns("columns", 8, 2);
  const Kokkos::View<double**, Kokkos::LayoutLeft> all("all", 8, 2 * team.size());
  co_await muster::kokkos::allgather(team, columns, all);  // rank r's are columns 2r and 2r + 1
  // [kokkos blocks end]
}

muster::task<> varying(muster::team& team) {
  // [kokkos varying]
  std::vector<std::size_t> counts;  // in elements, in the order of the View
  for (std::size_t r = 0; r < team.size(); ++r) counts.push_back(10 * (r + 1));
  const muster::block_layout layout{.counts = counts};
  const Kokkos::View<int**, Kokkos::LayoutRight> rows("rows", team.rank() + 1, 10);
  const Kokkos::View<int*> all("all", 5 * team.size() * (team.size() + 1));
  co_await muster::kokkos::allgatherv(team, rows, all, layout);
  // [kokkos varying end]
}

muster::task<> reducers(muster::team& team) {
  const Kokkos::View<double*, Kokkos::HostSpace> x("x", 100);
  const Kokkos::RangePolicy<host> all(0, 100);
  Kokkos::deep_copy(x, 2.0);
  // [kokkos reducer]
  double norm = 0;
  const Kokkos::Sum<double> result(norm);
  Kokkos::parallel_reduce(
      "norm", all, KOKKOS_LAMBDA(int i, double& to) { to += x(i) * x(i); }, result);
  co_await muster::kokkos::allreduce(team, result);  // `norm` is that of all ranks
  // [kokkos reducer end]
  require(norm == 400 * static_cast<double>(team.size()));
  // [kokkos reducer type]
  using least = Kokkos::MinLoc<double, int>;
  const Kokkos::View<least::value_type*> places("places", 3);
  for (int i = 0; i < 3; ++i) places(i).loc = static_cast<int>(team.rank());
  co_await muster::kokkos::allreduce(team, places, muster::kokkos::reducer<least>);
  // [kokkos reducer type end]
  require(places(2).loc == 0);
  // [kokkos function]
  const Kokkos::View<int*> ids("ids", 4);
  const auto latest = [](const int& before, const int& now) { return now != 0 ? now : before; };
  co_await muster::kokkos::scan(team, ids, latest);  // in rank order
  // [kokkos function end]
}

muster::task<> messages(muster::team& team) {
  const std::uint64_t tag = 3;
  // [kokkos messages]
  const Kokkos::View<double**, Kokkos::LayoutRight> field("field", 16, 16);
  const auto edge = Kokkos::subview(field, Kokkos::ALL, 15);
  const auto halo = Kokkos::subview(field, Kokkos::ALL, 0);
  if (team.rank() == 0) co_await muster::kokkos::send(team, 1, tag, edge);
  if (team.rank() == 1) co_await muster::kokkos::receive(team, 0, tag, halo);
  // [kokkos messages end]
}

muster::task<> program(muster::team& team) {
  co_await first_call(team);
  co_await instances(team);
  co_await subviews(team);
  co_await blocks(team);
  co_await varying(team);
  co_await reducers(team);
  if (team.size() > 1) co_await messages(team);
}

}  // namespace

int main() {
  const Kokkos::ScopeGuard kokkos;
  muster::world world;
  world.run(program(world.team()));
}
