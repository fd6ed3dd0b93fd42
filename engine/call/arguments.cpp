#include <muster/call/arguments.hpp>

#include <array>

namespace muster {
namespace {

template <std::size_t N>
std::string_view entry(const std::array<std::string_view, N>& names, std::size_t index) noexcept {
  return index < N ? names[index] : "unknown";
}

}  // namespace

std::string_view name(collective what) noexcept {
  static constexpr std::array<std::string_view, collectives> names = {"barrier",
                                                                      "bcast",
                                                                      "reduce",
                                                                      "allreduce",
                                                                      "allgather",
                                                                      "alltoall",
                                                                      "scatter",
                                                                      "gather",
                                                                      "reduce_scatter_block",
                                                                      "scan",
                                                                      "exscan",
                                                                      "scatterv",
                                                                      "gatherv",
                                                                      "allgatherv",
                                                                      "alltoallv",
                                                                      "reduce_scatter",
                                                                      "neighbor_allgather",
                                                                      "neighbor_alltoall",
                                                                      "neighbor_allgatherv",
                                                                      "neighbor_alltoallv"};
  return entry(names, static_cast<std::size_t>(what));
}

std::string_view name(datatype type) noexcept {
  static constexpr std::array<std::string_view, datatypes> names = {"byte",
                                                                    "int8",
                                                                    "uint8",
                                                                    "int16",
                                                                    "uint16",
                                                                    "int32",
                                                                    "uint32",
                                                                    "int64",
                                                                    "uint64",
                                                                    "float32",
                                                                    "float64",
                                                                    "float16",
                                                                    "bfloat16",
                                                                    "complex64",
                                                                    "complex128",
                                                                    "boolean",
                                                                    "int16_indexed",
                                                                    "int32_indexed",
                                                                    "int64_indexed",
                                                                    "float32_indexed",
                                                                    "float64_indexed",
                                                                    "custom"};
  return entry(names, static_cast<std::size_t>(type));
}

std::string_view name(reduction op) noexcept {
  static constexpr std::array<std::string_view, reductions> names = {
      "none",        "sum",     "product", "min",     "max",    "logical_and", "logical_or",
      "logical_xor", "bit_and", "bit_or",  "bit_xor", "minloc", "maxloc",      "custom"};
  return entry(names, static_cast<std::size_t>(op));
}

bool supports(reduction op, datatype type) noexcept {
  const bool is_pair = type >= datatype::int16_indexed && type <= datatype::float64_indexed;
  const bool is_complex = type == datatype::complex64 || type == datatype::complex128;
  const bool is_integer = type <= datatype::uint64;
  const bool is_number =
      is_integer || is_complex || (type >= datatype::float32 && type <= datatype::bfloat16);
  switch (op) {
    case reduction::none:
      return false;
    case reduction::sum:
    case reduction::product:
      return is_number;
    case reduction::min:
    case reduction::max:
      return is_number && !is_complex;
    case reduction::minloc:
    case reduction::maxloc:
      return is_pair;
    case reduction::custom:
      return type == datatype::custom;
    default:
      return is_integer || type == datatype::boolean;
  }
}

bool is_exact(reduction op, datatype type) noexcept {
  // A NaN or a signed zero makes the order of min and max of reals show.
  return type <= datatype::uint64 || type == datatype::boolean ||
         ((op == reduction::minloc || op == reduction::maxloc) && type <= datatype::int64_indexed &&
          type >= datatype::int16_indexed);
}

}  // namespace muster
