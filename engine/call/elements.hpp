#pragma once

#include <complex>
#include <concepts>
#include <cstddef>
#include <ranges>
#include <string_view>
#include <type_traits>

#include <muster/call/arguments.hpp>

/// Which C++ types and ranges collectives take.
namespace muster {
namespace detail {

template <class T>
inline constexpr datatype type_of = datatype::custom;  // no type of Muster's own
template <class T>
  requires(std::integral<T> && !std::same_as<T, bool> && sizeof(T) <= 8)
inline constexpr datatype type_of<T> =
    sizeof(T) == 1   ? (std::is_signed_v<T> ? datatype::int8 : datatype::uint8)
    : sizeof(T) == 2 ? (std::is_signed_v<T> ? datatype::int16 : datatype::uint16)
    : sizeof(T) == 4 ? (std::is_signed_v<T> ? datatype::int32 : datatype::uint32)
                     : (std::is_signed_v<T> ? datatype::int64 : datatype::uint64);
template <>
inline constexpr datatype type_of<bool> = datatype::boolean;
template <>
inline constexpr datatype type_of<float> = datatype::float32;
template <>
inline constexpr datatype type_of<double> = datatype::float64;
template <>
inline constexpr datatype type_of<float16> = datatype::float16;
template <>
inline constexpr datatype type_of<bfloat16> = datatype::bfloat16;
template <>
inline constexpr datatype type_of<std::complex<float>> = datatype::complex64;
template <>
inline constexpr datatype type_of<std::complex<double>> = datatype::complex128;
template <>
inline constexpr datatype type_of<indexed<std::int16_t>> = datatype::int16_indexed;
template <>
inline constexpr datatype type_of<indexed<std::int32_t>> = datatype::int32_indexed;
template <>
inline constexpr datatype type_of<indexed<std::int64_t>> = datatype::int64_indexed;
template <>
inline constexpr datatype type_of<indexed<float>> = datatype::float32_indexed;
template <>
inline constexpr datatype type_of<indexed<double>> = datatype::float64_indexed;

}  // namespace detail

/// Types that the built-in reductions combine: integers, reals, complex numbers, booleans, indexed
/// values. Which reduction takes which, `supports` says; others are refused when called.
template <class T>
concept number = detail::type_of<std::remove_cv_t<T>> != datatype::custom;

/// Types that collectives move, and that a `custom_reduction` combines: anything trivially
/// copyable.
template <class T>
concept movable_element = std::is_trivially_copyable_v<std::remove_cv_t<T>>;

template <number T>
consteval datatype datatype_of() {
  return detail::type_of<std::remove_cv_t<T>>;
}

/// A buffer to read from: a contiguous range that outlives the call (an lvalue, a span, a view).
template <class R>
concept send_buffer = std::ranges::contiguous_range<R> && std::ranges::borrowed_range<R> &&
                      std::ranges::sized_range<R> && movable_element<std::ranges::range_value_t<R>>;
/// A buffer to write to.
template <class R>
concept receive_buffer =
    send_buffer<R> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>;
/// A buffer to read elements from that are then received as those of another.
template <class S, class R>
concept send_buffer_for =
    send_buffer<S> && std::same_as<std::ranges::range_value_t<S>, std::ranges::range_value_t<R>>;

namespace detail {

template <class R>
using element_of = std::ranges::range_value_t<R>;

template <class R>
const std::byte* read_from(R&& range) noexcept {
  return reinterpret_cast<const std::byte*>(std::ranges::data(range));
}
template <class R>
std::byte* write_to(R&& range) noexcept {
  return reinterpret_cast<std::byte*>(std::ranges::data(range));
}

/// "allgather: receive has 3 elements; expected 4, a block as long as send for each rank".
[[noreturn]] void reject_size(std::string_view call, std::string_view argument, std::size_t has,
                              std::size_t expected, std::string_view because);
[[noreturn]] void reject_blocks(std::string_view call, std::size_t has, std::size_t ranks);

/// Each of these throws `errc::invalid_argument`, naming call, argument and what was expected.
inline void require_size(std::string_view call, std::string_view argument, std::size_t has,
                         std::size_t expected, std::string_view because) {
  if (has != expected) [[unlikely]] {
    reject_size(call, argument, has, expected, because);
  }
}
/// Throws unless a buffer of `has` elements divides into one block a rank.
inline std::size_t require_blocks(std::string_view call, std::size_t has, std::size_t ranks) {
  if (has % ranks != 0) [[unlikely]] {
    reject_blocks(call, has, ranks);
  }
  return has / ranks;
}
/// Throws unless there is a block for each rank and all lie within a buffer of `has` elements.
void require_within(std::string_view call, std::string_view argument, std::size_t has,
                    const block_layout& blocks, std::size_t ranks,
                    std::string_view because = "one for each rank");
/// The same for the neighbors of a rank, of which there may be none.
[[noreturn]] void reject_neighbor_blocks(std::string_view call, std::string_view argument,
                                         std::size_t has, std::size_t neighbors);
inline std::size_t require_neighbor_blocks(std::string_view call, std::string_view argument,
                                           std::size_t has, std::size_t neighbors) {
  if (neighbors == 0) return 0;
  if (has % neighbors != 0) [[unlikely]] {
    reject_neighbor_blocks(call, argument, has, neighbors);
  }
  return has / neighbors;
}

}  // namespace detail
}  // namespace muster
