// A team of those who are alive, made in rounds in which all tell each other whom they hold for
// gone. Two in a row in which all said the same end it; with the second of them go the handles of
// the new team's memory, which its members provide once they know each other.

#include <muster/api/shrink.hpp>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include <muster/run/agreement.hpp>
#include <muster/run/derive.hpp>

namespace muster {
namespace {

using word = std::uint64_t;

/// What a rank says in a round, but for whom it holds for gone.
struct opinion {
  word derived = 0;   ///< how many teams it has begun to make of the old one
  word broken = 0;    ///< the old one is, as far as it knows
  word provides = 0;  ///< it has seen all agree; what follows is what it has provided
  word refused = 0;   ///< it has no memory for it
  wire::memory_handle memory;
};

/// The agreement as one rank sees it.
class survivors {
public:
  explicit survivors(team& of)
      : of_(of), among_(of), words_(sizeof(opinion) / sizeof(word) + (of.size() + 63) / 64) {
    of.pass_failure_on();  // so that all come
    for (std::size_t rank = 0; rank < of.size(); ++rank) {
      if (of.members().state(rank) != wire::liveness::alive) among_.take_for_gone(rank);
    }
    mine_.derived = of.count_derived();
  }
  survivors(const survivors&) = delete;
  survivors& operator=(const survivors&) = delete;

  task<> agree() {
    std::vector<word> said(words_);
    std::vector<word> heard(words_ * of_.size());
    for (;;) {
      write(said);
      co_await among_.exchange(std::as_bytes(std::span(said)),
                               std::as_writable_bytes(std::span(heard)));
      const bool all_provide = read(said, heard);
      if (is_unanimous_ && all_provide) break;
      // What was provided stays in use: others may have seen all agree.
      mine_.provides = 0;
      if (is_unanimous_) provide();
    }
  }

  std::unique_ptr<team> derive() {
    std::size_t refused = of_.size();
    for (const std::size_t rank : members_) {
      if (theirs_[rank].refused != 0) refused = std::min(refused, rank);
    }
    if (refused != of_.size()) {
      of_.fabric().withdraw(mine_.memory);
      throw error(errc::resource,
                  "shrink: rank " + std::to_string(refused) + " has no memory for another team" +
                      (why_.empty() ? "" : ": " + why_),
                  refused);
    }
    std::vector<wire::memory_handle> handles;
    for (const std::size_t rank : members_) handles.push_back(theirs_[rank].memory);
    return derive_team(of_, {.members = members_,
                             .handles = handles,
                             .much = extent_,
                             .rank = place_of(of_.rank()),
                             .turn = turn_});
  }

private:
  std::size_t place_of(std::size_t rank) const {
    return static_cast<std::size_t>(std::ranges::find(members_, rank) - members_.begin());
  }

  void write(std::span<word> to) {
    mine_.broken |= of_.members().broken() ? 1U : 0U;
    std::ranges::fill(to, 0);
    std::memcpy(to.data(), &mine_, sizeof mine_);
    const std::span<word> gone = gone_in(to);
    for (std::size_t rank = 0; rank < of_.size(); ++rank) {
      if (among_.is_gone(rank)) gone[rank / 64] |= word{1} << (rank % 64);
    }
  }
  static bool names(std::span<const word> gone, std::size_t rank) noexcept {
    return (gone[rank / 64] >> (rank % 64) & 1) != 0;
  }
  static std::span<word> gone_in(std::span<word> message) {
    return message.subspan(sizeof(opinion) / sizeof(word));
  }

  /// Takes note of what was heard in a round. \returns whether all have provided what they are to
  bool read(std::span<word> said, std::span<word> heard) {
    theirs_.resize(of_.size());
    bool all_provide = mine_.provides != 0;
    is_unanimous_ = true;
    for (std::size_t rank = 0; rank < of_.size(); ++rank) {
      // Who is gone by now was not when this rank spoke, or has said nothing.
      const bool was_gone = names(gone_in(said), rank);
      if (among_.is_gone(rank)) {
        is_unanimous_ = is_unanimous_ && was_gone;
        continue;
      }
      const std::span<word> from = heard.subspan(rank * words_, words_);
      std::memcpy(static_cast<void*>(&theirs_[rank]), from.data(), sizeof(opinion));
      is_unanimous_ = is_unanimous_ && std::ranges::equal(gone_in(from), gone_in(said));
      all_provide = all_provide && theirs_[rank].provides != 0;
    }
    for (std::size_t rank = 0; rank < of_.size(); ++rank) {
      if (!among_.is_gone(rank)) learn(gone_in(heard.subspan(rank * words_, words_)));
    }
    return all_provide;
  }

  void learn(std::span<const word> gone) {
    for (std::size_t rank = 0; rank < of_.size(); ++rank) {
      if (names(gone, rank)) among_.take_for_gone(rank);
    }
    if (among_.is_gone(of_.rank())) {
      throw error(errc::rank_died,
                  "shrink: the others hold rank " + std::to_string(of_.rank()) +
                      ", which is this one, for dead",
                  of_.rank());
    }
  }

  /// All agree on who is left: so they do on all that follows from what they said.
  void provide() {
    members_.clear();
    turn_ = 0;
    bool broken = false;
    for (std::size_t rank = 0; rank < of_.size(); ++rank) {
      if (among_.is_gone(rank)) continue;
      members_.push_back(rank);
      turn_ = std::max(turn_, theirs_[rank].derived);
      broken = broken || theirs_[rank].broken != 0;
    }
    extent_ = wire::derived_extent;
    extent_.made_by_survivors =
        broken || members_.size() != of_.size() || of_.memory().board().extent().made_by_survivors;
    mine_.provides = 1;
    mine_.refused = 0;
    try {
      mine_.memory = of_.fabric().provide(members_, turn_, extent_);
    } catch (const error& why) {
      mine_.memory = {};
      mine_.refused = 1;
      why_ = why.text();
    }
  }

  team& of_;
  agreement among_;
  std::size_t words_;  // of a message
  opinion mine_;
  std::vector<opinion> theirs_;  // by rank, in the last round
  bool is_unanimous_ = false;    // it was
  std::vector<std::size_t> members_;
  wire::extent extent_;
  std::uint64_t turn_ = 0;
  std::string why_;  // there is no memory here
};

}  // namespace

task<std::unique_ptr<team>> shrink(team& of) {
  if (!of.begin_agreement()) {
    throw error(
        errc::invalid_argument,
        "shrink: another call for this team is under way, or was ended before it completed; "
        "expected one at a time, and none after that");
  }
  survivors all(of);
  co_await all.agree();
  of.end_agreement();
  co_return all.derive();
}

}  // namespace muster
