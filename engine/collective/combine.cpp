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

struct combination {
  std::byte* to;
  std::span<const std::byte* const> from;
  std::size_t count;
};

// User buffers need not be aligned, so elements go through memcpy, which compiles to plain loads.
template <class T>
[[gnu::always_inline]] inline T element(const std::byte* from, std::size_t i) noexcept {
  T value;
  std::memcpy(&value, from + i * sizeof(T), sizeof(T));
  return value;
}

template <class T, class Op>
[[gnu::always_inline]] inline void combine_few(const combination& what) noexcept {
  for (std::size_t i = 0; i < what.count; ++i) {
    T sum = element<T>(what.from[0], i);
    for (const std::byte* next : what.from.subspan(1)) sum = Op::apply(sum, element<T>(next, i));
    std::memcpy(what.to + i * sizeof(T), &sum, sizeof(T));
  }
}

template <class T, class Op>
[[gnu::always_inline]] inline void combine_tile(T* sum, const std::byte* from,
                                                std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) sum[i] = Op::apply(sum[i], element<T>(from, i));
}

template <class T, class Op>
[[gnu::always_inline]] inline void combine_many(const combination& what, std::byte* tile) noexcept {
  constexpr std::size_t tile_count = tile_bytes / sizeof(T);
  T* const sum = reinterpret_cast<T*>(tile);
  for (std::size_t done = 0; done < what.count; done += tile_count) {
    const std::size_t now = std::min(tile_count, what.count - done);
    const std::size_t offset = done * sizeof(T);
    std::memcpy(sum, what.from[0] + offset, now * sizeof(T));
    for (const std::byte* next : what.from.subspan(1)) {
      combine_tile<T, Op>(sum, next + offset, now);
    }
    std::memcpy(what.to + offset, sum, now * sizeof(T));
  }
}

template <class T, class Op>
[[gnu::always_inline]] inline void combine_all(const combination& what, std::byte* tile) noexcept {
  if (what.count * sizeof(T) <= few_bytes) {
    combine_few<T, Op>(what);
  } else {
    combine_many<T, Op>(what, tile);
  }
}

template <class T>
[[gnu::always_inline]] inline void combine_type(reduction op, const combination& what,
                                                std::byte* tile) noexcept {
  switch (op) {
    case reduction::sum:
      return combine_all<T, add>(what, tile);
    case reduction::product:
      return combine_all<T, multiply>(what, tile);
    case reduction::min:
      return combine_all<T, lesser>(what, tile);
    case reduction::max:
      return combine_all<T, greater>(what, tile);
    default:
      break;
  }
}

[[gnu::always_inline]] inline void combine_any(reduction op, datatype type,
                                               const combination& what) noexcept {
  alignas(64) std::array<std::byte, tile_bytes> room;  // one for all types
  std::byte* const tile = room.data();
  switch (type) {
    case datatype::byte:
    case datatype::uint8:
      return combine_type<std::uint8_t>(op, what, tile);
    case datatype::int8:
      return combine_type<std::int8_t>(op, what, tile);
    case datatype::int16:
      return combine_type<std::int16_t>(op, what, tile);
    case datatype::uint16:
      return combine_type<std::uint16_t>(op, what, tile);
    case datatype::int32:
      return combine_type<std::int32_t>(op, what, tile);
    case datatype::uint32:
      return combine_type<std::uint32_t>(op, what, tile);
    case datatype::int64:
      return combine_type<std::int64_t>(op, what, tile);
    case datatype::uint64:
      return combine_type<std::uint64_t>(op, what, tile);
    case datatype::float32:
      return combine_type<float>(op, what, tile);
    case datatype::float64:
      return combine_type<double>(op, what, tile);
    default:
      break;
  }
}

// The same code for the vector registers of different processors; what the build assumes of its
// processor has none of the wide ones.
void combine_narrow(reduction op, datatype type, std::byte* to,
                    std::span<const std::byte* const> from, std::size_t count) noexcept {
  combine_any(op, type, {to, from, count});
}

#if defined(__x86_64__)
[[gnu::target("avx2")]] void combine_avx2(reduction op, datatype type, std::byte* to,
                                          std::span<const std::byte* const> from,
                                          std::size_t count) noexcept {
  combine_any(op, type, {to, from, count});
}

[[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] void combine_avx512(
    reduction op, datatype type, std::byte* to, std::span<const std::byte* const> from,
    std::size_t count) noexcept {
  combine_any(op, type, {to, from, count});
}

constexpr std::array<combiner, 3> by_width = {combine_narrow, combine_avx2, combine_avx512};

std::size_t usable() noexcept {
  if (!__builtin_cpu_supports("avx2")) return 1;
  const bool wide = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
  return wide ? 3 : 2;
}
#else
constexpr std::array<combiner, 1> by_width = {combine_narrow};

std::size_t usable() noexcept { return 1; }
#endif

}  // namespace

std::span<const combiner> combiners() noexcept { return std::span(by_width).first(usable()); }

void combine(reduction op, datatype type, std::byte* to, std::span<const std::byte* const> from,
             std::size_t count) noexcept {
  static const combiner widest = combiners().back();
  widest(op, type, to, from, count);
}

}  // namespace muster
