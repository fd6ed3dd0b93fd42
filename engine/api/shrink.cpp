// A team of those who are alive, made in rounds in which all tell each other whom they hold for
// gone. Two in a row in which all said the same end it; with the second of them go the handles of
// the new team's memory, which its members provide once they know each other. Who has seen that
// tells all the others what was decided, and leaves: one that has not, since a rank died meanwhile,
// hears it in its next round.

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
  word decides = 0;  ///< it has decided, and says what: who is gone, and the `decision`'s words
};

/// What follows from what the members said.
struct decision {
  std::vector<std::size_t> members;
  std::uint64_t turn = 0;
  wire::extent much;
  word refused = 0;                         ///< one more than the first that has no memory for it
  std::vector<wire::memory_handle> memory;  ///< all that those of a node have provided, by node
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
    require_own_life();
    mine_.derived = of.count_derived();
  }
  survivors(const survivors&) = delete;
  survivors& operator=(const survivors&) = delete;

  task<> agree() {
    std::vector<word> said(words_);
    std::vector<word> heard(words_ * of_.size());
    for (bool is_decided = false; !is_decided;) {
      write(said);
      co_await among_.exchange(std::as_bytes(std::span(said)),
                               std::as_writable_bytes(std::span(heard)));
      const bool all_provide = read(said, heard);
      if (is_unanimous_ && all_provide) {
        decide();
        is_decided = true;
      } else {
        is_decided = co_await hear_decision(heard);
      }
      // What was provided stays in use: others may have seen all agree.
      mine_.provides = 0;
      if (is_unanimous_ && !is_decided) provide();
    }
    co_await tell_decision(said);
  }

  std::unique_ptr<team> derive() {
    if (all_.refused != 0) {
      const std::size_t refused = all_.refused - 1;
      of_.fabric().withdraw(mine_.memory);
      throw error(errc::resource,
                  "shrink: rank " + std::to_string(refused) + " has no memory for another team" +
                      (why_.empty() ? "" : ": " + why_),
                  refused);
    }
    return derive_team(of_, {.members = all_.members,
                             .handles = handles(),
                             .much = all_.much,
                             .rank = place_of(of_.rank()),
                             .turn = all_.turn});
  }

private:
  std::size_t place_of(std::size_t rank) const {
    return static_cast<std::size_t>(std::ranges::find(all_.members, rank) - all_.members.begin());
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
    require_own_life();
  }
  void require_own_life() const {
    if (!among_.is_gone(of_.rank())) return;
    throw error(errc::rank_died,
                "shrink: the others hold rank " + std::to_string(of_.rank()) +
                    ", which is this one, for dead",
                of_.rank());
  }

  /// All agree on who is left: so they do on all that follows from what they said.
  void provide() {
    all_ = {};
    bool broken = false;
    for (std::size_t rank = 0; rank < of_.size(); ++rank) {
      if (among_.is_gone(rank)) continue;
      all_.members.push_back(rank);
      all_.turn = std::max(all_.turn, theirs_[rank].derived);
      broken = broken || theirs_[rank].broken != 0;
    }
    all_.much = extent_of(broken || all_.members.size() != of_.size() ||
                          of_.memory().board().extent().made_by_survivors);
    mine_.provides = 1;
    mine_.refused = 0;
    try {
      mine_.memory = of_.fabric().provide(all_.members, all_.turn, all_.much);
    } catch (const error& why) {
      mine_.memory = {};
      mine_.refused = 1;
      why_ = why.text();
    }
  }
  static wire::extent extent_of(bool made_by_survivors) {
    wire::extent much = wire::derived_extent;
    much.made_by_survivors = made_by_survivors;
    return much;
  }

  /// All have said what they provide.
  void decide() {
    all_.memory.resize(of_.shape().nodes());
    for (const std::size_t rank : all_.members) {
      const opinion& one = theirs_[rank];
      if (one.refused != 0 && all_.refused == 0) all_.refused = rank + 1;
      wire::memory_handle& near = all_.memory[of_.shape().node_of(rank)];
      // Of those of a node one provides each of these.
      near.control |= one.memory.control;
      near.board |= one.memory.board;
      near.team |= one.memory.team;
    }
  }

  /// From a rank that has left with what it had seen. \returns false where there is none
  task<bool> hear_decision(std::span<word> heard) {
    for (std::size_t rank = 0; rank < of_.size(); ++rank) {
      if (among_.is_gone(rank) || theirs_[rank].decides == 0) continue;
      std::vector<wire::memory_handle> memory(of_.shape().nodes());
      co_await among_.hear(rank, std::as_writable_bytes(std::span(memory)));
      if (among_.is_gone(rank)) continue;
      const std::span<const word> gone = gone_in(heard.subspan(rank * words_, words_));
      all_ = {};
      all_.turn = theirs_[rank].derived;
      all_.much = extent_of(theirs_[rank].broken != 0);
      all_.refused = theirs_[rank].refused;
      all_.memory = std::move(memory);
      for (std::size_t each = 0; each < of_.size(); ++each) {
        if (!names(gone, each)) all_.members.push_back(each);
      }
      co_return true;
    }
    co_return false;
  }

  task<> tell_decision(std::span<word> said) {
    mine_.derived = all_.turn;
    mine_.broken = all_.much.made_by_survivors ? 1 : 0;
    mine_.refused = all_.refused;
    mine_.decides = 1;
    std::ranges::fill(said, ~word{0});
    std::memcpy(said.data(), &mine_, sizeof mine_);
    for (const std::size_t rank : all_.members) {
      gone_in(said)[rank / 64] &= ~(word{1} << (rank % 64));
    }
    for (const std::size_t rank : all_.members) {
      if (rank == of_.rank() || among_.is_gone(rank)) continue;
      co_await among_.tell(rank, std::as_bytes(std::span(said)));
      if (among_.is_gone(rank)) continue;
      co_await among_.tell(rank, std::as_bytes(std::span(all_.memory)));
    }
  }

  /// The first member of each node stands for all of them.
  std::vector<wire::memory_handle> handles() const {
    std::vector<wire::memory_handle> left = all_.memory;
    std::vector<wire::memory_handle> all;
    for (const std::size_t rank : all_.members) {
      all.push_back(std::exchange(left[of_.shape().node_of(rank)], {}));
    }
    return all;
  }

  team& of_;
  agreement among_;
  std::size_t words_;  // of a message
  opinion mine_;
  std::vector<opinion> theirs_;  // by rank, in the last round
  bool is_unanimous_ = false;    // it was
  decision all_;                 // and what follows from that
  std::string why_;              // there is no memory here
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
