#pragma once

#include <bit>
#include <cstddef>

namespace muster::algos {

/// What algorithms for powers of two make of other numbers of members: the first of them act in
/// pairs, for which the even one speaks, so that there are 2^i speakers in the members' order.
class folding {
public:
  folding(std::size_t members, std::size_t mine) noexcept
      : speakers_(std::bit_floor(members)), pairs_(members - speakers_), mine_(mine) {}

  std::size_t speakers() const noexcept { return speakers_; }
  /// Whether member `mine` is in a pair; with whom; whether it speaks, for a pair or for itself.
  bool is_paired() const noexcept { return mine_ < 2 * pairs_; }
  std::size_t partner() const noexcept { return mine_ ^ 1U; }
  bool speaks() const noexcept { return !is_paired() || mine_ % 2 == 0; }
  /// The number of the one who speaks for it among the speakers.
  std::size_t speaker() const noexcept { return speaker_for(mine_); }
  std::size_t speaker_for(std::size_t member) const noexcept {
    return member < 2 * pairs_ ? member / 2 : member - pairs_;
  }
  /// The member with that number; the first for which it speaks.
  std::size_t member_of(std::size_t speaker) const noexcept {
    return speaker < pairs_ ? 2 * speaker : speaker + pairs_;
  }

private:
  std::size_t speakers_;
  std::size_t pairs_;
  std::size_t mine_;
};

}  // namespace muster::algos
