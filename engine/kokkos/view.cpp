#include <muster/kokkos/view.hpp>

#include <algorithm>
#include <string>

#include <muster/base/error.hpp>

namespace muster::kokkos {

std::string_view name(order which) noexcept {
  switch (which) {
    case order::any:
      return "any";
    case order::left:
      return "left";
    case order::right:
      return "right";
  }
  return "";
}

namespace detail {
namespace {

std::string text(const placement& of) {
  if (of.rank == 0) return "none (rank 0)";
  std::string all;
  for (std::size_t i = 0; i < of.rank; ++i) {
    all += (i == 0 ? "" : " x ") + std::to_string(of.extents[i]);
  }
  return all;
}

}  // namespace

std::size_t placement::size() const noexcept {
  std::size_t product = 1;
  for (std::size_t i = 0; i < rank; ++i) product *= extents[i];
  return product;
}

bool placement::is_consecutive(order in) const noexcept {
  std::size_t expected = 1;
  for (std::size_t step = 0; step < rank; ++step) {
    const std::size_t i = in == order::left ? step : rank - 1 - step;
    if (extents[i] == 0) return true;  // there are none at all
    if (extents[i] != 1 && strides[i] != expected) return size() == 0;
    expected *= extents[i];
  }
  return true;
}

std::size_t wide_dimensions(const placement& of) noexcept {
  return static_cast<std::size_t>(std::count_if(of.extents.begin(), of.extents.begin() + of.rank,
                                                [](std::size_t each) { return each > 1; }));
}

order order_by_strides(const placement& of) noexcept {
  // Extents do not count: the order is the same whatever they are.
  for (std::size_t i = 1; i < of.rank; ++i) {
    if (of.strides[i] < of.strides[i - 1]) return order::right;
  }
  return order::left;
}

void require_like(std::string_view call, const placement& send, const placement& receive) {
  if (send.extents == receive.extents) return;
  throw error(errc::invalid_argument, std::string(call) + ": send has extents " + text(send) +
                                          "; expected " + text(receive) + ", those of receive");
}

void require_one_order(std::string_view call, const placement& send, const placement& receive) {
  if (send.by == receive.by || send.by == order::any || receive.by == order::any) return;
  throw error(errc::invalid_argument, std::string(call) + ": elements of send are in order " +
                                          std::string(name(send.by)) + "; expected " +
                                          std::string(name(receive.by)) +
                                          ", that of receive, since blocks are consecutive in it");
}

}  // namespace detail
}  // namespace muster::kokkos
