// Collectives on the memory of Kokkos Views, as the guide shows them.

#include <Kokkos_Core.hpp>

#include <span>

#include <muster/muster.hpp>

#include "tests/guide/require.hpp"

using guide::require;

namespace {

muster::task<> program(muster::team& team) {
  // [kokkos]
  Kokkos::View<double*, Kokkos::HostSpace> field("field", 1000);
  Kokkos::deep_copy(field, 1.5);
  const std::span<double> data(field.data(), field.span());
  co_await muster::allreduce(team, data, muster::sum);
  // [kokkos end]
  require(field.span_is_contiguous());
  require(field(999) == 1.5 * static_cast<double>(team.size()));
}

}  // namespace

int main() {
  const Kokkos::ScopeGuard kokkos;
  muster::world world;
  world.run(program(world.team()));
}
