#include "engine/collective/arguments.hpp"

#include <array>

namespace muster {

std::string_view name(collective what) noexcept {
  constexpr std::array<std::string_view, collectives> names = {
      "barrier", "bcast", "reduce", "allreduce", "allgather", "alltoall"};
  const auto index = static_cast<std::size_t>(what);
  return index < names.size() ? names[index] : "unknown";
}

std::string_view name(datatype type) noexcept {
  constexpr std::array<std::string_view, 11> names = {"byte",   "int8",    "uint8",  "int16",
                                                      "uint16", "int32",   "uint32", "int64",
                                                      "uint64", "float32", "float64"};
  const auto index = static_cast<std::size_t>(type);
  return index < names.size() ? names[index] : "unknown";
}

std::string_view name(reduction op) noexcept {
  constexpr std::array<std::string_view, 5> names = {"none", "sum", "product", "min", "max"};
  const auto index = static_cast<std::size_t>(op);
  return index < names.size() ? names[index] : "unknown";
}

}  // namespace muster
