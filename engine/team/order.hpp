#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "engine/wire/board.hpp"

namespace muster {

/// How much staging an operation needs: what its lane has, or one of the long stages; fewer of
/// those where they would be filled.
enum class message_length : std::uint8_t { brief, lengthy, very_long };

/// An operation's place in its team's order.
struct ticket {
  std::uint64_t sequence = 0;
  /// Sequence number and rolling fingerprint, as announced.
  std::uint64_t word = 0;
  std::size_t lane = 0;
  message_length length = message_length::brief;
  std::size_t stage = 0;
  /// The operation may begin when all operations up to this one are complete on every rank.
  std::uint64_t after = 0;

  std::uint64_t items(std::uint64_t count) const noexcept { return (sequence << 32) | count; }
};

/// The order of a team's operations as one rank sees it: hands out sequence numbers and lanes and
/// keeps account of what is complete. All ranks begin a team's operations in one order, so their
/// tickets agree without a word between them.
class operation_order {
public:
  ticket begin(std::uint64_t call, message_length length) noexcept {
    // The fingerprint covers all calls so far, so that an earlier mismatch shows at any contact.
    history_ = mix(history_ ^ call);
    ticket mine;
    mine.sequence = ++begun_;
    mine.word = (mine.sequence << 32) | (history_ & 0xffff'ffffU);
    mine.lane = mine.sequence % wire::lanes;
    mine.after = mine.sequence > wire::lanes ? mine.sequence - wire::lanes : 0;
    mine.length = length;
    switch (length) {
      case message_length::brief:
        break;
      case message_length::lengthy:
        take_stage(mine, wire::long_stages);
        break;
      case message_length::very_long:
        take_stage(mine, wire::very_long_stages);
        break;
    }
    return mine;
  }

  /// Marks an operation complete; returns up to which number all are.
  std::uint64_t complete(std::uint64_t sequence) noexcept {
    complete_ahead_ |= std::uint64_t{1} << (sequence - completed_ - 1);
    while ((complete_ahead_ & 1) != 0) {
      complete_ahead_ >>= 1;
      ++completed_;
    }
    return completed_;
  }

  std::uint64_t completed() const noexcept { return completed_; }

  static std::uint64_t mix(std::uint64_t value) noexcept {  // the finaliser of SplitMix64
    value = (value ^ (value >> 30)) * 0xbf58'476d'1ce4'e5b9U;
    value = (value ^ (value >> 27)) * 0x94d0'49bb'1331'11ebU;
    return value ^ (value >> 31);
  }

private:
  void take_stage(ticket& mine, std::size_t among_first) noexcept {
    mine.stage = staged_++ % among_first;
    mine.after = std::max(mine.after, stage_users_[mine.stage]);
    stage_users_[mine.stage] = mine.sequence;
  }

  static_assert(wire::lanes <= 64, "complete_ahead_ has a bit for each operation in flight");

  std::uint64_t begun_ = 0;
  std::uint64_t completed_ = 0;
  std::uint64_t complete_ahead_ = 0;  // bit i: operation completed_ + 1 + i is complete
  std::uint64_t history_ = 0;
  std::uint64_t staged_ = 0;                                    // operations with a long stage
  std::array<std::uint64_t, wire::long_stages> stage_users_{};  // the last one of each
};

}  // namespace muster
