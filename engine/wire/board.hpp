#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include <muster/wire/cache_line.hpp>

namespace muster::wire {

/// A 64-bit number in shared memory that only grows while its place is used for one thing.
using counter = std::atomic<std::uint64_t>;
static_assert(counter::is_always_lock_free);

/// Operations of a team that may be in flight at once, at most; the next one waits for the oldest.
/// Many, so that a rank whose part needs nobody (the root of a short broadcast) can run far ahead.
inline constexpr std::size_t lanes = 64;
/// Stages that operations rotate through: for short messages of which every rank waits for every
/// other, and for long ones, the fewer the longer the message. What is staged stays in the cache.
inline constexpr std::size_t exchange_stages = 8;
inline constexpr std::size_t long_stages = 8;
inline constexpr std::size_t very_long_stages = 2;
/// Independent streams of segments that a long operation has per rank (for example contributions
/// in, results out).
inline constexpr std::size_t pipelines = 2;

/// What fits into an arrival's own cache line.
inline constexpr std::size_t inline_bytes = 48;
/// The stages of a tiny and of a short message, per rank, as many of each as lanes. Those of tiny
/// ones lie closer together.
inline constexpr std::size_t tiny_stage_bytes = 512;
inline constexpr std::size_t short_stage_bytes = 8 * 1024;
/// A long stage, per rank and pipeline: `staged_segments` segments of `segment_bytes`.
inline constexpr std::size_t segment_bytes = 256 * 1024;
inline constexpr std::size_t staged_segments = 4;
inline constexpr std::size_t long_stage_bytes = segment_bytes * staged_segments;

/// A rank's announcement that it has reached an operation: sequence number and fingerprint in one
/// word, short payload beside it in the same line, so that one cache-line trip carries both.
struct alignas(cache_line) arrival {
  counter word;
  std::atomic<std::uint64_t> completed;  ///< piggybacked: see `completion`
  std::array<std::byte, inline_bytes> payload;
};

/// All operations up to this sequence number are complete at this rank: it reads nothing of theirs
/// any more.
struct alignas(cache_line) completion {
  counter upto;
};

/// What the ranks of a node find out about their arrival counter in the operations of a lane,
/// without waiting for each other.
struct alignas(cache_line) arrival_counter {
  /// How often they have counted themselves in, in all operations of the lane so far. With an
  /// operation either all of them do or none, and the next one in the lane waits until they have:
  /// the count is a multiple of their number before each. A mismatched call breaks that, and the
  /// team.
  counter counted_in;
  /// Which of them was first to ask, in the last operation that asked: (sequence << 32) | its
  /// number in the node.
  counter first;
};

/// Where a lender's block lies.
struct origin {
  enum class kind : std::uint64_t {
    staged,   ///< segment by segment in the lender's stage
    segment,  ///< at an offset in the node's memory (a shared buffer)
    process,  ///< at an address of the process that both ranks live in
    foreign,  ///< at an address of the lender's process, to be copied from there by the kernel
  };
  kind where = kind::staged;
  std::uint64_t address = 0;
};

/// The writer's end of a pipeline: how many segments of which operation can be read, and where.
struct alignas(cache_line) pipeline_head {
  counter posted;  ///< (sequence << 32) | segments
  origin from;
};

/// The readers' end: how many segments of which operation this rank has done with, of every writer.
///
/// A reader that the kernel does not let copy from where a writer's block lies asks the writer to
/// copy it, piece by piece, into the writer's bounce buffer: the last segment of its stage, which
/// one that lends has no other use for.
struct alignas(cache_line) pipeline_tail {
  counter taken;  ///< (sequence << 32) | segments
  counter asked;  ///< by the reader, of one writer: see `copy_request`
  counter given;  ///< by that writer: the request that it has answered last
  counter used;   ///< by the reader: the request whose answer it has copied out last
  // What is asked for; it stands until it is given.
  std::uint64_t offset;  ///< in what the writer lends
  std::uint64_t bytes;
};

/// The lower half of a reader's request; the upper half is the sequence number. It says whom it
/// asks and counts the reader's requests of the operation.
struct copy_request {
  static constexpr unsigned count_bits = 22;
  static constexpr std::uint64_t of(std::size_t writer, std::uint64_t count) noexcept {
    return (static_cast<std::uint64_t>(writer) << count_bits) | count;
  }
  static constexpr std::uint64_t count(std::uint64_t request) noexcept {
    return request & ((std::uint64_t{1} << count_bits) - 1);
  }
};

/// Lanes of links alone, beyond those of a team: of collectives among neighbors, which wait
/// for nobody else and so cannot go by the lanes that all ranks of a node have in common.
inline constexpr std::size_t neighbor_lanes = 4;

/// How much of everything a team has. The team of a whole job has all of it; those made from it
/// have less, so that there can be many.
struct extent {
  std::size_t lanes = wire::lanes;  ///< a power of two, from `exchange_stages` to that
  /// A power of two up to that; 0 where no operation needs one.
  std::size_t long_stages = wire::long_stages;

  /// The team survives the failure of the job that there was when it was made.
  bool made_by_survivors = false;

  constexpr std::size_t link_lanes() const noexcept { return lanes + neighbor_lanes + 2; }
  /// That of links by which ranks agree on who survives, when no operation is possible any more.
  constexpr std::size_t agreement_lane() const noexcept { return lanes + neighbor_lanes; }
  /// That of messages from one rank to another, beside all collectives.
  constexpr std::size_t message_lane() const noexcept { return lanes + neighbor_lanes + 1; }
};
inline constexpr extent derived_extent = {.lanes = 16, .long_stages = 2};
/// For one operation that is run again and again, of short messages or of any.
inline constexpr extent short_run_extent = {.lanes = exchange_stages, .long_stages = 0};
inline constexpr extent run_extent = {.lanes = exchange_stages, .long_stages = 1};

/// One team's memory on one node, addressed directly by all its ranks there. This class only knows
/// the layout; whoever makes the memory provides `bytes(ranks, extent)` zeroed bytes.
class board {
public:
  board() = default;
  board(std::byte* base, std::size_t ranks, wire::extent much = {}) noexcept
      : base_(base),
        ranks_(ranks),
        extent_(much),
        completions_(base + completions(ranks, much)),
        heads_(base + heads(ranks, much)),
        tails_(base + tails(ranks, much)),
        arrival_counters_(base + arrival_counters(ranks, much)),
        stages_(base + stages(ranks, much)),
        long_from_(long_from(much)),
        per_rank_(per_rank(much)) {}

  static std::size_t bytes(std::size_t ranks, wire::extent much = {}) noexcept {
    return stages(ranks, much) + ranks * per_rank(much);
  }

  const wire::extent& extent() const noexcept { return extent_; }
  std::size_t ranks() const noexcept { return ranks_; }
  std::size_t lane_of(std::uint64_t sequence) const noexcept {
    return sequence & (extent_.lanes - 1);
  }

  wire::arrival& arrival(std::size_t lane, std::size_t rank) const noexcept {
    return at<wire::arrival>(base_, lane * ranks_ + rank);
  }
  wire::completion& completion(std::size_t rank) const noexcept {
    return at<wire::completion>(completions_, rank);
  }
  wire::pipeline_head& pipeline_head(std::size_t stage, std::size_t pipeline,
                                     std::size_t rank) const noexcept {
    return at<wire::pipeline_head>(heads_, (stage * pipelines + pipeline) * ranks_ + rank);
  }
  wire::pipeline_tail& pipeline_tail(std::size_t stage, std::size_t pipeline,
                                     std::size_t rank) const noexcept {
    return at<wire::pipeline_tail>(tails_, (stage * pipelines + pipeline) * ranks_ + rank);
  }
  wire::arrival_counter& arrival_counter(std::size_t lane) const noexcept {
    return at<wire::arrival_counter>(arrival_counters_, lane);
  }
  std::byte* tiny_stage(std::size_t stage, std::size_t rank) const noexcept {
    return stages_of(rank) + stage * tiny_stage_bytes;
  }
  std::byte* short_stage(std::size_t stage, std::size_t rank) const noexcept {
    return stages_of(rank) + extent_.lanes * tiny_stage_bytes + stage * short_stage_bytes;
  }
  std::byte* long_stage(std::size_t stage, std::size_t pipeline, std::size_t rank) const noexcept {
    return stages_of(rank) + long_from_ + (stage * pipelines + pipeline) * long_stage_bytes;
  }

private:
  static constexpr std::size_t long_from(wire::extent much) noexcept {
    return much.lanes * (tiny_stage_bytes + short_stage_bytes);
  }
  static constexpr std::size_t per_rank(wire::extent much) noexcept {
    return long_from(much) + much.long_stages * pipelines * long_stage_bytes;
  }

  static std::size_t completions(std::size_t ranks, wire::extent much) noexcept {
    return much.lanes * ranks * sizeof(wire::arrival);
  }
  static std::size_t heads(std::size_t ranks, wire::extent much) noexcept {
    return completions(ranks, much) + ranks * sizeof(wire::completion);
  }
  static std::size_t tails(std::size_t ranks, wire::extent much) noexcept {
    return heads(ranks, much) + much.long_stages * pipelines * ranks * sizeof(wire::pipeline_head);
  }
  static std::size_t arrival_counters(std::size_t ranks, wire::extent much) noexcept {
    return tails(ranks, much) + much.long_stages * pipelines * ranks * sizeof(wire::pipeline_tail);
  }
  static std::size_t stages(std::size_t ranks, wire::extent much) noexcept {
    constexpr std::size_t page = 4096;
    const std::size_t end =
        arrival_counters(ranks, much) + much.lanes * sizeof(wire::arrival_counter);
    return (end + page - 1) / page * page;
  }

  std::byte* stages_of(std::size_t rank) const noexcept { return stages_ + rank * per_rank_; }

  // The memory is zeroed pages shared between processes: no constructor can run there, and every
  // type in it is an implicit-lifetime type whose zero state is its initial state.
  template <class T>
  static T& at(std::byte* first, std::size_t index) noexcept {
    return reinterpret_cast<T*>(first)[index];
  }

  std::byte* base_ = nullptr;
  std::size_t ranks_ = 0;
  wire::extent extent_;
  // Where its parts begin: looked up, not worked out, by every operation.
  std::byte* completions_ = nullptr;
  std::byte* heads_ = nullptr;
  std::byte* tails_ = nullptr;
  std::byte* arrival_counters_ = nullptr;
  std::byte* stages_ = nullptr;
  std::size_t long_from_ = 0;
  std::size_t per_rank_ = 0;
};

}  // namespace muster::wire
