#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <span>
#include <string_view>

#include <muster/call/datatype.hpp>
#include <muster/call/neighborhood.hpp>
#include <muster/call/reduction.hpp>

namespace muster {

enum class collective : std::uint8_t {
  barrier,
  bcast,
  reduce,
  allreduce,
  allgather,
  alltoall,
  scatter,
  gather,
  reduce_scatter_block,
  scan,
  exscan,
  // What a rank knows of itself alone may vary from here on: blocks, ...
  scatterv,
  gatherv,
  allgatherv,
  alltoallv,
  reduce_scatter,
  // ... and with whom it exchanges them.
  neighbor_allgather,
  neighbor_alltoall,
  neighbor_allgatherv,
  neighbor_alltoallv,
};
inline constexpr std::size_t collectives = 20;
/// Those of all ranks of a team, which come first.
inline constexpr std::size_t collectives_of_all =
    static_cast<std::size_t>(collective::neighbor_allgather);

std::string_view name(collective what) noexcept;
constexpr bool exists(collective what) noexcept {
  return static_cast<std::size_t>(what) < collectives;
}

constexpr bool has_root(collective what) noexcept {
  using enum collective;
  return what == bcast || what == reduce || what == scatter || what == gather || what == scatterv ||
         what == gatherv;
}
constexpr bool has_op(collective what) noexcept {
  using enum collective;
  return what == reduce || what == allreduce || what == reduce_scatter_block ||
         what == reduce_scatter || what == scan || what == exscan;
}
constexpr bool has_varying_blocks(collective what) noexcept { return what >= collective::scatterv; }
constexpr bool has_neighbors(collective what) noexcept {
  return what >= collective::neighbor_allgather;
}

/// Lengths of the blocks that a buffer has for, or from, each rank, and where they begin; both in
/// elements. Without displacements they follow each other. What the spans show must stay as it is
/// until the call is complete.
struct block_layout {
  std::span<const std::size_t> counts;
  std::span<const std::size_t> displacements = {};
};

/// How an algorithm is to run where it leaves a choice; 0: as it likes.
struct tuning {
  std::uint8_t ports = 0;   ///< messages that a rank sends, and receives, at once
  std::uint8_t groups = 0;  ///< ranks of a node that speak for it

  friend bool operator==(const tuning&, const tuning&) = default;
};

/// Whether who calls can carry the call out in another way, should an algorithm be chosen that
/// leaves it to him: at once, or with a request.
enum class leavable : std::uint8_t { no, blocking, nonblocking };

/// One rank's arguments of a collective, whatever the collective. Trivially copyable.
///
/// `count` is in elements:
///   - of the whole vector for bcast, reduce, allreduce, scan, exscan;
///   - of one block for allgather, alltoall, scatter, gather, reduce_scatter_block;
///   - of this rank's own block for scatterv, gatherv, allgatherv, reduce_scatter.
/// The blocks of scatterv (`send_blocks`), gatherv (`receive_blocks`) need only be known to the
/// root; those of allgatherv (`receive_blocks`) and reduce_scatter (`send_blocks`) are the same
/// everywhere, and the latter follow each other; alltoallv has both, each rank its own.
///
/// Those with `neighbors` have one block a destination, but for allgather(v), which sends one block
/// to all of them, and one a source; `count` is a block's, where no layout says otherwise. They
/// cannot be in place.
///
/// A null `send` means in place: the data is in `receive`, where MPI would have it (for gather and
/// allgather at this rank's block; for reduce_scatter the whole vector, whose first elements become
/// the result). In place at the root of a scatter is a null `receive`: its block stays in `send`.
struct arguments {
  collective what = collective::barrier;
  datatype type = datatype::byte;
  reduction op = reduction::none;
  combining order = combining::by_rank;
  std::size_t root = 0;
  const std::byte* send = nullptr;
  std::byte* receive = nullptr;
  std::size_t count = 0;
  const custom_reduction* custom = nullptr;
  const block_layout* send_blocks = nullptr;
  const block_layout* receive_blocks = nullptr;
  const neighborhood* neighbors = nullptr;
  tuning how;                           ///< set with the algorithm
  leavable may_be_left = leavable::no;  ///< the same on all ranks

  bool in_place() const noexcept { return is_scatter() ? receive == nullptr : send == nullptr; }
  std::size_t element() const noexcept {
    return custom == nullptr ? size_of(type) : custom->element_bytes;
  }
  /// Bytes of the vector, of one block, or of this rank's block.
  std::size_t bytes() const noexcept { return count * element(); }

  // ---- what each collective's buffers are

  bool is_scatter() const noexcept {
    return what == collective::scatter || what == collective::scatterv;
  }
  bool is_gather() const noexcept {
    return what == collective::gather || what == collective::gatherv;
  }
  bool is_reduce_scatter() const noexcept {
    return what == collective::reduce_scatter_block || what == collective::reduce_scatter;
  }
  /// Whether a rank (the root, or all) has a block for each, or of each.
  bool sends_blocks() const noexcept {
    return what == collective::alltoall || what == collective::alltoallv || is_scatter() ||
           is_reduce_scatter();
  }
  bool receives_blocks() const noexcept {
    return what == collective::alltoall || what == collective::alltoallv || is_gather() ||
           what == collective::allgather || what == collective::allgatherv;
  }
  bool sends_one_block() const noexcept {
    return what == collective::neighbor_allgather || what == collective::neighbor_allgatherv;
  }
  /// Whether `rank` has something to give, to receive.
  bool sends(std::size_t rank) const noexcept {
    return (what != collective::bcast && !is_scatter()) || rank == root;
  }
  bool receives(std::size_t rank) const noexcept {
    return (what != collective::reduce && !is_gather()) || rank == root;
  }

  /// Bytes that a rank contributes, receives (where it does) in a team of so many: a vector, or
  /// blocks. Of collectives with varying blocks it is what this rank knows of.
  std::size_t contributed_bytes(std::size_t ranks) const noexcept {
    if (send_blocks != nullptr) return total(*send_blocks);
    if (neighbors != nullptr) {
      return bytes() * (sends_one_block() ? 1 : neighbors->destinations.size());
    }
    return bytes() * (sends_blocks() && !has_varying_blocks(what) ? ranks : 1);
  }
  std::size_t received_bytes(std::size_t ranks) const noexcept {
    if (receive_blocks != nullptr) return total(*receive_blocks);
    if (neighbors != nullptr) return bytes() * neighbors->sources.size();
    return bytes() * (receives_blocks() && !has_varying_blocks(what) ? ranks : 1);
  }
  /// Whether contributions must be combined in rank order: always, unless the call allows another
  /// and the reduction commutes.
  bool combines_by_rank() const noexcept { return order == combining::by_rank || !commutes(); }
  /// Whether contributions of ranks that do not follow each other may be combined first.
  bool commutes() const noexcept { return custom == nullptr || custom->commutative; }
  /// Bytes in which a vector can be cut, so that pieces are whole elements and begin at whole cache
  /// lines.
  std::size_t grain() const noexcept {
    constexpr std::size_t line = 64;
    return custom == nullptr ? line : std::lcm(line, custom->element_bytes);
  }

  // ---- where data lies

  /// What this rank contributes to bcast, reduce, allreduce, scan, exscan.
  std::span<const std::byte> contribution() const noexcept {
    return {send == nullptr ? receive : send, bytes()};
  }
  /// The vector or single block that this rank receives.
  std::span<std::byte> result() const noexcept { return {receive, bytes()}; }
  /// Gather(v) and allgather(v): this rank's own block, where it is read from.
  std::span<const std::byte> own_block(std::size_t rank) const noexcept {
    if (in_place()) return received_from(rank);
    return {send, bytes()};
  }
  /// Of those that receive blocks: the one that comes from `rank`.
  std::span<std::byte> received_from(std::size_t rank) const noexcept {
    if (receive_blocks != nullptr) [[unlikely]] {
      return {receive + offset(*receive_blocks, rank), receive_blocks->counts[rank] * element()};
    }
    return {receive + rank * bytes(), bytes()};
  }
  /// Of those that send blocks: the one that goes to `rank`.
  std::span<const std::byte> sent_to(std::size_t rank) const noexcept {
    const std::byte* const from = send == nullptr ? receive : send;
    if (send_blocks != nullptr) [[unlikely]] {
      return {from + offset(*send_blocks, rank), send_blocks->counts[rank] * element()};
    }
    return {from + rank * bytes(), bytes()};
  }

  /// The block that goes to the i-th destination of the neighborhood; that from the i-th source is
  /// `received_from(i)`.
  std::span<const std::byte> sent_to_neighbor(std::size_t i) const noexcept {
    if (sends_one_block()) return {send, bytes()};
    return sent_to(i);
  }
  /// How long those are, also where the buffer is missing.
  std::size_t bytes_to_neighbor(std::size_t i) const noexcept {
    return send_blocks == nullptr ? bytes() : send_blocks->counts[i] * element();
  }
  std::size_t bytes_from_neighbor(std::size_t i) const noexcept {
    return receive_blocks == nullptr ? bytes() : receive_blocks->counts[i] * element();
  }

private:
  std::size_t offset(const block_layout& blocks, std::size_t rank) const noexcept {
    return blocks.displacements[rank] * element();
  }
  std::size_t total(const block_layout& blocks) const noexcept {
    return std::accumulate(blocks.counts.begin(), blocks.counts.end(), std::size_t{0}) * element();
  }
};

}  // namespace muster
