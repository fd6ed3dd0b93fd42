#include "engine/collective/combine.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace muster {
namespace {

// Integer sums and products wrap, as users of reductions expect; in C++ only unsigned ones do.
template <class T>
[[gnu::always_inline]] inline auto wrapping(T value) noexcept {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<std::conditional_t<(sizeof(T) < 4), std::uint32_t, std::make_unsigned_t<T>>>(
        value);
  } else {
    return value;
  }
}

struct add {
  template <class T>
  [[gnu::always_inline]] static T apply(T a, T b) noexcept {
    return static_cast<T>(wrapping(a) + wrapping(b));
  }
};
struct multiply {
  template <class T>
  [[gnu::always_inline]] static T apply(T a, T b) noexcept {
    return static_cast<T>(wrapping(a) * wrapping(b));
  }
};
struct lesser {
  template <class T>
  [[gnu::always_inline]] static T apply(T a, T b) noexcept {
    return b < a ? b : a;
  }
};
struct greater {
  template <class T>
  [[gnu::always_inline]] static T apply(T a, T b) noexcept {
    return a < b ? b : a;
  }
};

constexpr std::size_t tile_bytes = 2048;  // stays in the first-level cache beside its inputs
constexpr std::size_t few_bytes = 128;    // up to here a tile is not worth its copies

// User buffers need not be aligned, so elements go through memcpy, which compiles to plain loads.
template <class T>
[[gnu::always_inline]] inline T element(const std::byte* from, std::size_t i) noexcept {
  T value;
  std::memcpy(&value, from + i * sizeof(T), sizeof(T));
  return value;
}

template <class T, class Op>
[[gnu::always_inline]] inline void combine_few(std::byte* to,
                                               std::span<const std::byte* const> from,
                                               std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    T sum = element<T>(from[0], i);
    for (const std::byte* next : from.subspan(1)) sum = Op::apply(sum, element<T>(next, i));
    std::memcpy(to + i * sizeof(T), &sum, sizeof(T));
  }
}

template <class T, class Op>
[[gnu::always_inline]] inline void combine_tile(T* sum, const std::byte* from,
                                                std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) sum[i] = Op::apply(sum[i], element<T>(from, i));
}

template <class T, class Op>
[[gnu::always_inline]] inline void combine_all(std::byte* to,
                                               std::span<const std::byte* const> from,
                                               std::size_t count) noexcept {
  if (count * sizeof(T) <= few_bytes) return combine_few<T, Op>(to, from, count);
  constexpr std::size_t tile_count = tile_bytes / sizeof(T);
  alignas(64) std::array<T, tile_count> tile;
  for (std::size_t done = 0; done < count; done += tile_count) {
    const std::size_t now = std::min(tile_count, count - done);
    const std::size_t offset = done * sizeof(T);
    std::memcpy(tile.data(), from[0] + offset, now * sizeof(T));
    for (const std::byte* next : from.subspan(1)) {
      combine_tile<T, Op>(tile.data(), next + offset, now);
    }
    std::memcpy(to + offset, tile.data(), now * sizeof(T));
  }
}

template <class T>
[[gnu::always_inline]] inline void combine_type(reduction op, std::byte* to,
                                                std::span<const std::byte* const> from,
                                                std::size_t count) noexcept {
  switch (op) {
    case reduction::sum:
      return combine_all<T, add>(to, from, count);
    case reduction::product:
      return combine_all<T, multiply>(to, from, count);
    case reduction::min:
      return combine_all<T, lesser>(to, from, count);
    case reduction::max:
      return combine_all<T, greater>(to, from, count);
    case reduction::none:
      break;
  }
}

[[gnu::always_inline]] inline void combine_any(reduction op, datatype type, std::byte* to,
                                               std::span<const std::byte* const> from,
                                               std::size_t count) noexcept {
  switch (type) {
    case datatype::byte:
    case datatype::uint8:
      return combine_type<std::uint8_t>(op, to, from, count);
    case datatype::int8:
      return combine_type<std::int8_t>(op, to, from, count);
    case datatype::int16:
      return combine_type<std::int16_t>(op, to, from, count);
    case datatype::uint16:
      return combine_type<std::uint16_t>(op, to, from, count);
    case datatype::int32:
      return combine_type<std::int32_t>(op, to, from, count);
    case datatype::uint32:
      return combine_type<std::uint32_t>(op, to, from, count);
    case datatype::int64:
      return combine_type<std::int64_t>(op, to, from, count);
    case datatype::uint64:
      return combine_type<std::uint64_t>(op, to, from, count);
    case datatype::float32:
      return combine_type<float>(op, to, from, count);
    case datatype::float64:
      return combine_type<double>(op, to, from, count);
  }
}

// The same code for the vector registers of different processors; what the build assumes of its
// processor has none of the wide ones.
void combine_narrow(reduction op, datatype type, std::byte* to,
                    std::span<const std::byte* const> from, std::size_t count) noexcept {
  combine_any(op, type, to, from, count);
}

using combiner = decltype(&combine_narrow);

#if defined(__x86_64__)
[[gnu::target("avx2")]] void combine_avx2(reduction op, datatype type, std::byte* to,
                                          std::span<const std::byte* const> from,
                                          std::size_t count) noexcept {
  combine_any(op, type, to, from, count);
}

[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] void combine_avx512(
    reduction op, datatype type, std::byte* to, std::span<const std::byte* const> from,
    std::size_t count) noexcept {
  combine_any(op, type, to, from, count);
}

combiner widest() noexcept {
  if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl")) {
    return combine_avx512;
  }
  return __builtin_cpu_supports("avx2") ? combine_avx2 : combine_narrow;
}
#else
combiner widest() noexcept { return combine_narrow; }
#endif

}  // namespace

void combine(reduction op, datatype type, std::byte* to, std::span<const std::byte* const> from,
             std::size_t count) noexcept {
  static const combiner chosen = widest();
  chosen(op, type, to, from, count);
}

}  // namespace muster
