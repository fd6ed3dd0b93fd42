#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include <muster/wire/board.hpp>

namespace muster {

/// Which of the node's stages an operation uses.
enum class stage_kind : std::uint8_t {
  apart,      ///< none, nor anything else of the node's: it has links of its own, to neighbors
  none,       ///< what fits beside the arrival, or nothing
  one_way,    ///< short, and some ranks wait for nobody: one for each lane, to run far ahead
  exchanged,  ///< short, and every rank waits for every other: few, which stay in the cache
  lengthy,    ///< long: segment by segment through pipelines
  very_long,  ///< the same, and would fill them: fewer
};
constexpr auto stage_kinds = static_cast<std::size_t>(stage_kind::very_long) + 1;

/// An operation's place in its team's order.
struct ticket {
  std::uint64_t sequence = 0;
  /// Sequence number and rolling fingerprint, as announced.
  std::uint64_t word = 0;
  std::size_t lane = 0;
  stage_kind kind = stage_kind::none;
  std::size_t stage = 0;
  /// Of the links, in which one that is `apart` has lanes of its own.
  std::size_t link_lane = 0;
  /// The operation may begin when all operations up to this one are complete on every rank; one
  /// that is `apart`, on this.
  std::uint64_t after = 0;
  /// Of one that is `apart`: and this one, too, the last that used its links.
  std::uint64_t last_apart = 0;

  std::uint64_t segments(std::uint64_t count) const noexcept { return (sequence << 32) | count; }
};

/// The order of a team's operations as one rank sees it: hands out sequence numbers and lanes and
/// keeps account of what is complete. All ranks begin a team's operations in one order, so their
/// tickets agree without a word between them.
class operation_order {
public:
  explicit operation_order(wire::extent much = {}) noexcept : extent_(much) {}

  /// \param mine filled in where it is: every operation does this
  void begin(ticket& mine, std::uint64_t call, stage_kind kind) noexcept {
    // The fingerprint covers all calls so far, so that an earlier mismatch shows at any contact.
    // Its upper half depends on all bits of each.
    history_ = std::rotl(history_ ^ call, 32) * 0xd6e8'feb8'6659'fd93U;
    mine.sequence = ++begun_;
    mine.word = (mine.sequence << 32) | (history_ >> 32);
    mine.lane = mine.sequence & (extent_.lanes - 1);
    mine.after = mine.sequence > extent_.lanes ? mine.sequence - extent_.lanes : 0;
    mine.link_lane = mine.lane;
    mine.kind = kind;
    if (kind != stage_kind::none) take_stage(mine, kind);
  }

  /// Marks an operation complete; returns up to which number all are.
  std::uint64_t complete(std::uint64_t sequence) noexcept {
    if (sequence == completed_ + 1 && complete_ahead_ == 0) [[likely]] {
      return completed_ = sequence;
    }
    return complete_among_others(sequence);
  }

  /// The sequence number of the operation that this rank begins next, and its lane.
  std::uint64_t next() const noexcept { return begun_ + 1; }
  std::size_t next_lane() const noexcept { return next() & (extent_.lanes - 1); }
  std::uint64_t completed() const noexcept { return completed_; }
  /// Whether an operation that this rank has begun is complete, whatever became of those before it.
  bool is_complete(std::uint64_t sequence) const noexcept {
    if (sequence <= completed_) return true;
    if (sequence - completed_ > wire::lanes) return false;
    return (complete_ahead_ >> (sequence - completed_ - 1) & 1) != 0;
  }

private:
  /// One before which others are not complete, or behind which others are.
  [[gnu::noinline]] std::uint64_t complete_among_others(std::uint64_t sequence) noexcept {
    complete_ahead_ |= std::uint64_t{1} << (sequence - completed_ - 1);
    while ((complete_ahead_ & 1) != 0) {
      complete_ahead_ >>= 1;
      ++completed_;
    }
    return completed_;
  }
  void take_stage(ticket& mine, stage_kind kind) noexcept {
    switch (kind) {
      case stage_kind::apart:
        go_apart(mine);
        break;
      case stage_kind::none:
        break;
      case stage_kind::one_way:
        take_stage(mine, mine.lane, short_users_);
        break;
      case stage_kind::exchanged:
        take_stage(mine, exchanges_++ % wire::exchange_stages, short_users_);
        break;
      case stage_kind::lengthy:
        take_stage(mine, pipelined_++ & (extent_.long_stages - 1), long_users_);
        break;
      case stage_kind::very_long:
        take_stage(mine, pipelined_++ & (very_long_stages() - 1), long_users_);
        break;
    }
  }
  static void take_stage(ticket& mine, std::size_t stage, std::span<std::uint64_t> users) noexcept {
    mine.stage = stage;
    mine.after = std::max(mine.after, users[stage]);
    users[stage] = mine.sequence;
  }

  /// Messages of a pair of ranks stay in the order of its operations, so that only this rank's own
  /// use of its links has to be over.
  void go_apart(ticket& mine) noexcept {
    const std::size_t lane = apart_++ % wire::neighbor_lanes;
    mine.link_lane = extent_.lanes + lane;
    mine.after = mine.sequence > wire::lanes ? mine.sequence - wire::lanes : 0;
    mine.last_apart = std::exchange(apart_users_[lane], mine.sequence);
  }

  static_assert(wire::lanes <= 64, "complete_ahead_ has a bit for each operation in flight");
  static_assert(wire::exchange_stages <= wire::lanes &&
                wire::very_long_stages <= wire::long_stages);

  std::size_t very_long_stages() const noexcept {
    return std::min(wire::very_long_stages, extent_.long_stages);
  }

  wire::extent extent_;
  std::uint64_t begun_ = 0;
  std::uint64_t completed_ = 0;
  std::uint64_t complete_ahead_ = 0;  // bit i: operation completed_ + 1 + i is complete
  std::uint64_t history_ = 0;
  std::uint64_t exchanges_ = 0;  // operations of that kind
  std::uint64_t pipelined_ = 0;  // lengthy and very long ones
  std::uint64_t apart_ = 0;
  // The last operation that used each stage.
  std::array<std::uint64_t, wire::lanes> short_users_{};
  std::array<std::uint64_t, wire::long_stages> long_users_{};
  std::array<std::uint64_t, wire::neighbor_lanes> apart_users_{};
};

}  // namespace muster
