#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace muster {

enum class collective : std::uint8_t { barrier, bcast, reduce, allreduce, allgather, alltoall };
inline constexpr std::size_t collectives = 6;

enum class datatype : std::uint8_t {
  byte,
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  float32,
  float64,
};

enum class reduction : std::uint8_t { none, sum, product, min, max };

/// The operations of reduce and allreduce. Integer sums and products wrap around; min and max of
/// floating-point values keep a NaN on the left and ignore one on the right (`b < a ? b : a`).
inline constexpr reduction sum = reduction::sum;
inline constexpr reduction product = reduction::product;
inline constexpr reduction min = reduction::min;
inline constexpr reduction max = reduction::max;

std::string_view name(collective what) noexcept;
std::string_view name(datatype type) noexcept;
std::string_view name(reduction op) noexcept;
/// Bytes of one element.
constexpr std::size_t size_of(datatype type) noexcept {
  constexpr std::array<std::size_t, 11> sizes = {1, 1, 1, 2, 2, 4, 4, 8, 8, 4, 8};
  return sizes[static_cast<std::size_t>(type)];
}

/// One rank's arguments of a collective, whatever the collective. Trivially copyable.
///
/// `count` is in elements: of the whole vector for bcast, reduce and allreduce, of one rank's block
/// for allgather and alltoall. A null `send` means in place: the data is in `receive`, where MPI
/// would have it (for allgather, at this rank's block).
struct arguments {
  collective what = collective::barrier;
  datatype type = datatype::byte;
  reduction op = reduction::none;
  std::size_t root = 0;
  const std::byte* send = nullptr;
  std::byte* receive = nullptr;
  std::size_t count = 0;

  bool in_place() const noexcept { return send == nullptr; }
  std::size_t element() const noexcept { return size_of(type); }
  /// Bytes of the vector, or of one block.
  std::size_t bytes() const noexcept { return count * element(); }

  /// Whether a rank has a block for each, or of each.
  bool sends_blocks() const noexcept { return what == collective::alltoall; }
  bool receives_blocks() const noexcept { return sends_blocks() || what == collective::allgather; }
  /// Bytes that one of so many ranks contributes, receives (where it does): a vector, or blocks.
  std::size_t contributed_bytes(std::size_t ranks) const noexcept {
    return bytes() * (sends_blocks() ? ranks : 1);
  }
  std::size_t received_bytes(std::size_t ranks) const noexcept {
    return bytes() * (receives_blocks() ? ranks : 1);
  }

  /// What this rank contributes to bcast, reduce, allreduce.
  std::span<const std::byte> contribution() const noexcept {
    return {in_place() ? receive : send, bytes()};
  }
  std::span<std::byte> result() const noexcept { return {receive, bytes()}; }
  /// Allgather: this rank's own block, where it is read from.
  std::span<const std::byte> own_block(std::size_t rank) const noexcept {
    return {in_place() ? receive + rank * bytes() : send, bytes()};
  }
  /// Allgather and alltoall: the block that comes from `rank`.
  std::span<std::byte> received_from(std::size_t rank) const noexcept {
    return {receive + rank * bytes(), bytes()};
  }
  /// Alltoall: the block that goes to `rank`.
  std::span<const std::byte> sent_to(std::size_t rank) const noexcept {
    return {(in_place() ? receive : send) + rank * bytes(), bytes()};
  }
};

}  // namespace muster
