// g++ 12 makes fused multiplications of complex products here, though it is told not to contract
// expressions: other bits than from narrower registers. What it is good for is not used here.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-tree-slp-vectorize")
#endif

#include <muster/call/combine.hpp>

#include <algorithm>
#include <array>
#include <complex>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include <muster/call/combine_operations.hpp>

namespace muster {
namespace {

constexpr std::size_t few_bytes = 128;  // up to here a tile is not worth its copies

using inputs = std::span<const std::byte* const>;

// ---- the loops

// User buffers need not be aligned, so elements go through memcpy, which compiles to plain loads.
template <class T>
[[gnu::always_inline]] inline T element(const std::byte* from, std::size_t i) noexcept {
  T value;
  std::memcpy(&value, from + i * sizeof(T), sizeof(T));
  return value;
}

template <class T, class Op>
[[gnu::always_inline]] inline void combine_few(std::byte* to, inputs from,
                                               std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    T sum = element<T>(from[0], i);
#pragma GCC unroll 1  // few: what prepares a long loop would take longer
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
[[gnu::always_inline]] inline void combine_many(std::byte* to, inputs from,
                                                std::size_t count) noexcept {
  constexpr std::size_t tile_count = combine_tile_bytes / sizeof(T);
  alignas(64) std::array<std::byte, combine_tile_bytes> room;
  T* const sum = reinterpret_cast<T*>(room.data());
  for (std::size_t done = 0; done < count; done += tile_count) {
    const std::size_t now = std::min(tile_count, count - done);
    const std::size_t offset = done * sizeof(T);
    std::memcpy(sum, from[0] + offset, now * sizeof(T));
    for (const std::byte* next : from.subspan(1)) {
      combine_tile<T, Op>(sum, next + offset, now);
    }
    std::memcpy(to + offset, sum, now * sizeof(T));
  }
}

// ---- the same code for the vector registers of different processors; what the build assumes of
// its processor has none of the wide ones

/// So few that they need none, nor a tile.
struct no_vectors {
  template <class T, class Op>
  static void run(std::byte* to, inputs from, std::size_t count) noexcept {
    combine_few<T, Op>(to, from, count);
  }
};

struct narrow_vectors {
  template <class T, class Op>
  static void run(std::byte* to, inputs from, std::size_t count) noexcept {
    combine_many<T, Op>(to, from, count);
  }
};

#if defined(__x86_64__)
struct avx2_vectors {
  template <class T, class Op>
  [[gnu::target("avx2")]] static void run(std::byte* to, inputs from, std::size_t count) noexcept {
    combine_many<T, Op>(to, from, count);
  }
};

struct avx512_vectors {
  template <class T, class Op>
  [[gnu::target("avx512f,avx512bw,avx512dq,avx512vl")]] static void run(
      std::byte* to, inputs from, std::size_t count) noexcept {
    combine_many<T, Op>(to, from, count);
  }
};
#endif

// ---- which loop combines what

using kernel = few_combiner;

/// The loops of one width, by operation and type; none for what `supports` denies.
template <class Vectors>
class kernel_table {
public:
  constexpr kernel_table() noexcept {
    add_integer<std::uint8_t>(datatype::byte);
    add_integer<std::int8_t>(datatype::int8);
    add_integer<std::uint8_t>(datatype::uint8);
    add_integer<std::int16_t>(datatype::int16);
    add_integer<std::uint16_t>(datatype::uint16);
    add_integer<std::int32_t>(datatype::int32);
    add_integer<std::uint32_t>(datatype::uint32);
    add_integer<std::int64_t>(datatype::int64);
    add_integer<std::uint64_t>(datatype::uint64);
    add_bits<std::uint8_t>(datatype::boolean);
    add_real<float>(datatype::float32);
    add_real<double>(datatype::float64);
    add_real<float16>(datatype::float16);
    add_real<bfloat16>(datatype::bfloat16);
    add_numbers<std::complex<float>>(datatype::complex64);
    add_numbers<std::complex<double>>(datatype::complex128);
    add_indexed<std::int16_t>(datatype::int16_indexed);
    add_indexed<std::int32_t>(datatype::int32_indexed);
    add_indexed<std::int64_t>(datatype::int64_indexed);
    add_indexed<float>(datatype::float32_indexed);
    add_indexed<double>(datatype::float64_indexed);
  }

  constexpr kernel of(reduction op, datatype type) const noexcept {
    return kernels_[static_cast<std::size_t>(op)][static_cast<std::size_t>(type)];
  }

private:
  template <class T, class Op>
  constexpr void add(reduction op, datatype type) noexcept {
    kernels_[static_cast<std::size_t>(op)][static_cast<std::size_t>(type)] =
        &Vectors::template run<T, Op>;
  }
  template <class T>
  constexpr void add_numbers(datatype type) noexcept {
    add<T, operations::add>(reduction::sum, type);
    add<T, operations::multiply>(reduction::product, type);
  }
  template <class T>
  constexpr void add_ordered(datatype type) noexcept {
    add<T, operations::lesser>(reduction::min, type);
    add<T, operations::greater>(reduction::max, type);
  }
  template <class T>
  constexpr void add_real(datatype type) noexcept {
    add_numbers<T>(type);
    add_ordered<T>(type);
  }
  template <class T>
  constexpr void add_bits(datatype type) noexcept {
    add<T, operations::logical_both>(reduction::logical_and, type);
    add<T, operations::logical_either>(reduction::logical_or, type);
    add<T, operations::logical_one>(reduction::logical_xor, type);
    add<T, operations::bits_of_both>(reduction::bit_and, type);
    add<T, operations::bits_of_either>(reduction::bit_or, type);
    add<T, operations::bits_of_one>(reduction::bit_xor, type);
  }
  // Only their order distinguishes signed integers from unsigned ones.
  template <class T>
  constexpr void add_integer(datatype type) noexcept {
    add_numbers<std::make_unsigned_t<T>>(type);
    add_bits<std::make_unsigned_t<T>>(type);
    add_ordered<T>(type);
  }
  template <class T>
  constexpr void add_indexed(datatype type) noexcept {
    using element = operations::indexed_bytes<T>;
    add<element, operations::find_least>(reduction::minloc, type);
    add<element, operations::find_greatest>(reduction::maxloc, type);
  }

  std::array<std::array<kernel, datatypes>, reductions> kernels_{};
};

template <class Vectors>
kernel kernel_of(reduction op, datatype type) noexcept {
  static constexpr kernel_table<Vectors> table;
  return table.of(op, type);
}

template <class Vectors>
void combine_with(reduction op, datatype type, std::byte* to, inputs from,
                  std::size_t count) noexcept {
  kernel_of<Vectors>(op, type)(to, from, count);
}

#if defined(__x86_64__)
constexpr std::array<combiner, 3> by_width = {
    combine_with<narrow_vectors>, combine_with<avx2_vectors>, combine_with<avx512_vectors>};

std::size_t usable() noexcept {
  if (!__builtin_cpu_supports("avx2")) return 1;
  const bool wide = __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                    __builtin_cpu_supports("avx512vl");
  return wide ? 3 : 2;
}
#else
constexpr std::array<combiner, 1> by_width = {combine_with<narrow_vectors>};

std::size_t usable() noexcept { return 1; }
#endif

}  // namespace

few_combiner combiner_of_few(reduction op, datatype type, std::size_t bytes) noexcept {
  return bytes <= few_bytes ? kernel_of<no_vectors>(op, type) : nullptr;
}

std::span<const combiner> combiners() noexcept { return std::span(by_width).first(usable()); }

void combine(reduction op, datatype type, std::byte* to, std::span<const std::byte* const> from,
             std::size_t count) noexcept {
  if (count * size_of(type) <= few_bytes)
    return combine_with<no_vectors>(op, type, to, from, count);
  static const combiner widest = combiners().back();
  widest(op, type, to, from, count);
}

}  // namespace muster
