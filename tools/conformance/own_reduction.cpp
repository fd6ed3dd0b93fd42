#include "tools/conformance/own_reduction.hpp"

#include <algorithm>

namespace muster::testing {

std::string_view name(own_reduction op) {
  constexpr std::array<std::string_view, 5> names = {"none", "matrices", "maps", "stretches",
                                                     "triples"};
  return names[static_cast<std::size_t>(op)];
}

matrix joined(const matrix& a, const matrix& b) {
  return {a[0] * b[0] + a[1] * b[2], a[0] * b[1] + a[1] * b[3], a[2] * b[0] + a[3] * b[2],
          a[2] * b[1] + a[3] * b[3]};
}

map joined(const map& a, const map& b) {
  return {a.scale * b.scale, b.scale * a.offset + b.offset, a.steps + b.steps};
}

stretch joined(const stretch& a, const stretch& b) {
  return {a.first, b.last, a.products + a.last * b.first + b.products};
}

triple joined(const triple& a, const triple& b) {
  return {static_cast<std::uint8_t>(a[0] + b[0]), std::max(a[1], b[1]),
          static_cast<std::uint8_t>(a[2] ^ b[2])};
}

const custom_reduction& custom_of(own_reduction op) {
  constexpr auto join = [](const auto& a, const auto& b) { return joined(a, b); };
  static const auto matrices = make_reduction<matrix>(join);
  static const auto maps = make_reduction<map>(join);
  static const auto stretches = make_reduction<stretch>(join);
  static const auto triples = make_reduction<triple>(join, commutative::yes);
  switch (op) {
    case own_reduction::matrices:
      return matrices;
    case own_reduction::maps:
      return maps;
    case own_reduction::stretches:
      return stretches;
    default:
      return triples;
  }
}

}  // namespace muster::testing
