#include "tools/mpi/combined_here.hpp"

#include <array>
#include <complex>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <muster/call/combine_operations.hpp>

namespace muster::mpi {
namespace {

using long_complex = std::complex<long double>;

/// A value and its index, padding included: what is found is the whole of one element.
template <class Value, class Index>
class pair_bytes {
public:
  Value value() const noexcept { return part<Value>(offsetof(fields, value)); }
  Index index() const noexcept { return part<Index>(offsetof(fields, index)); }

private:
  struct fields {
    Value value;
    Index index;
  };
  template <class Part>
  Part part(std::size_t at) const noexcept {
    Part result;
    std::memcpy(&result, bytes_.data() + at, sizeof result);
    return result;
  }

  std::array<std::byte, sizeof(fields)> bytes_;
};
using long_double_int = pair_bytes<long double, std::int32_t>;
using two_floats = pair_bytes<float, float>;
using two_doubles = pair_bytes<double, double>;

template <class T>
constexpr bool is_made_of_long_doubles =
    std::is_same_v<T, long double> || std::is_same_v<T, long_complex>;

template <class T>
void store(std::byte* to, const T& element) noexcept {
  const auto* from = reinterpret_cast<const std::byte*>(&element);
  if constexpr (is_made_of_long_doubles<T>) {
    constexpr std::size_t used = 10;  // of its bytes; the rest pads
    for (std::size_t at = 0; at < sizeof(T); at += sizeof(long double)) {
      std::memcpy(to + at, from + at, used);
    }
  } else {
    std::memcpy(to, from, sizeof(T));
  }
}

// Elements may lie anywhere, whatever the alignment of T.
template <class T, class Op>
void combine(const custom_reduction&, std::byte* to, const std::byte* left, const std::byte* right,
             std::size_t count) {
  for (std::size_t at = 0; at < count * sizeof(T); at += sizeof(T)) {
    T a;
    T b;
    std::memcpy(&a, left + at, sizeof(T));
    std::memcpy(&b, right + at, sizeof(T));
    store(to + at, Op::apply(a, b));
  }
}

template <class T, class Op>
constexpr custom_reduction by{
    .apply = combine<T, Op>, .element_bytes = sizeof(T), .commutative = true};

template <class T>
const custom_reduction* of_numbers(reduction op) noexcept {
  if (op == reduction::sum) return &by<T, operations::add>;
  if (op == reduction::product) return &by<T, operations::multiply>;
  if constexpr (std::is_floating_point_v<T>) {
    if (op == reduction::min) return &by<T, operations::lesser>;
    if (op == reduction::max) return &by<T, operations::greater>;
  }
  return nullptr;
}

template <class T>
const custom_reduction* of_pairs(reduction op) noexcept {
  if (op == reduction::minloc) return &by<T, operations::find_least>;
  if (op == reduction::maxloc) return &by<T, operations::find_greatest>;
  return nullptr;
}

}  // namespace

const custom_reduction* combined_here(elements what, reduction op) noexcept {
  switch (what) {
    case elements::long_doubles:
      return of_numbers<long double>(op);
    case elements::long_double_complex:
      return of_numbers<long_complex>(op);
    case elements::long_doubles_indexed:
      return of_pairs<long_double_int>(op);
    case elements::float_pairs:
      return of_pairs<two_floats>(op);
    case elements::double_pairs:
      return of_pairs<two_doubles>(op);
    case elements::of_muster:
    case elements::of_mpi:
      break;
  }
  return nullptr;
}

std::size_t extent_of(elements what, datatype as) noexcept {
  switch (what) {
    case elements::of_muster:
      return size_of(as);
    case elements::long_doubles:
      return sizeof(long double);
    case elements::long_double_complex:
      return sizeof(long_complex);
    case elements::long_doubles_indexed:
      return sizeof(long_double_int);
    case elements::float_pairs:
      return sizeof(two_floats);
    case elements::double_pairs:
      return sizeof(two_doubles);
    case elements::of_mpi:
      break;
  }
  return 0;
}

}  // namespace muster::mpi
