#include <muster/kokkos/sides.hpp>

namespace muster::kokkos::detail {

std::byte* nowhere() noexcept {
  // Nothing is read from it or written to it.
  alignas(64) static std::byte place{};
  return &place;
}

packing::packing(const placement& where, order in, const memory_source& from, std::size_t element)
    : by_(walk_through(where, in)),
      memory_(buffer_pool::here().take(from, where.size() * element)) {}

}  // namespace muster::kokkos::detail
