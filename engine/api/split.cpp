// Teams made from teams, in two rounds among all ranks of the old one:
//   1. each says what it asks for; from all answers each rank knows the members of its new team;
//   2. those members on whom it falls have made the new team's memory, and say where it is.
// Both take their places in the old team's order when the first begins, so that what the program
// calls meanwhile comes after them on every rank.

#include <muster/api/split.hpp>

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/base/random.hpp>
#include <muster/coro/when_all.hpp>
#include <muster/progress/milestone.hpp>
#include <muster/run/derive.hpp>
#include <muster/run/perform.hpp>

namespace muster {
namespace {

std::size_t rank_among(std::span<const std::size_t> members, std::size_t rank) {
  return static_cast<std::size_t>(std::ranges::find(members, rank) - members.begin());
}

/// What a rank says in a round; of the same size in both, so that one algorithm suits both or none.
using message = std::array<std::uint64_t, 4>;

/// A round: an allgather of messages.
struct round {
  message mine{};
  std::vector<message> all;

  arguments call() noexcept {
    arguments result;
    result.what = collective::allgather;
    result.count = sizeof(message);
    result.type = datatype::byte;
    result.send = reinterpret_cast<const std::byte*>(mine.data());
    result.receive = reinterpret_cast<std::byte*>(all.data());
    return result;
  }
};

/// How a rank finds its team's members, in order, in what all ranks ask for; none: it is in no
/// team.
class request {
public:
  virtual message ask() const = 0;
  virtual std::vector<std::size_t> members(const team& of, std::span<const message> all) const = 0;
  /// Agreed as the members are.
  virtual wire::extent extent(std::span<const message>) const { return wire::derived_extent; }

protected:
  ~request() = default;
};

/// A team in the making, as one rank sees it.
class new_team {
public:
  new_team(team& of, const request& what) : of_(of), what_(what) {
    asked_.mine = what.ask();
    asked_.mine[turn] = of.count_derived();
    asked_.all.resize(of.size());
    made_.all.resize(of.size());
  }

  task<> ask_all() {
    co_await perform(of_, asked_.call());
    heard_.reach();
  }
  task<> tell_all() { return perform_after(of_, made_.call(), provide()); }

  std::unique_ptr<team> derive() {
    if (members_.empty()) return nullptr;
    std::vector<wire::memory_handle> handles;
    std::optional<std::size_t> refused;
    for (const std::size_t rank : members_) {
      const message& from = made_.all[rank];
      handles.push_back(handle_in(from));
      if (from[3] != 0 && !refused) refused = rank;
    }
    if (refused) {
      of_.fabric().withdraw(handle_in(made_.mine));
      throw error(errc::resource,
                  "rank " + std::to_string(*refused) + " has no memory for another team" +
                      (why_.empty() ? "" : ": " + why_),
                  *refused);
    }
    return derive_team(of_, {.members = members_,
                             .handles = handles,
                             .much = extent_,
                             .rank = rank_among(members_, of_.rank()),
                             .turn = agreed_turn()});
  }

private:
  static wire::memory_handle handle_in(const message& made) {
    return {.control = made[0], .board = made[1], .team = made[2]};
  }

  /// The word of a message that says how many teams were made from the old one before.
  static constexpr std::size_t turn = 3;
  /// What the first rank counted: others may have been refused more often, or less.
  std::uint64_t agreed_turn() const { return asked_.all[0][turn]; }

  task<> provide() {
    co_await heard_;
    members_ = what_.members(of_, asked_.all);
    if (members_.empty()) co_return;
    extent_ = what_.extent(asked_.all);
    extent_.made_by_survivors = of_.memory().board().extent().made_by_survivors;
    try {
      const wire::memory_handle mine = of_.fabric().provide(members_, agreed_turn(), extent_);
      made_.mine = {mine.control, mine.board, mine.team, 0};
    } catch (const error& why) {
      why_ = why.text();
      made_.mine = {0, 0, 0, 1};
    }
  }

  team& of_;
  const request& what_;
  round asked_;
  round made_;
  milestone heard_;
  std::vector<std::size_t> members_;
  wire::extent extent_;
  std::string why_;  // there is no memory here
};

task<std::unique_ptr<team>> make_team(team& of, const request& what) {
  const wire::virtual_time* time = of.fabric().time();
  if (time != nullptr && !time->carries_payload()) {
    throw error(errc::invalid_argument,
                "split: the simulation leaves out payload, which teams are made with; expected "
                "one with payload");
  }
  new_team one(of, what);
  // Where the second round fails, what was provided stays in use: others may have heard of it.
  co_await when_all(one.ask_all(), one.tell_all());
  co_return one.derive();
}

[[noreturn]] void throw_mismatch(std::size_t rank, std::size_t self) {
  throw error(
      errc::mismatched_call,
      "rank " + std::to_string(rank) + " and rank " + std::to_string(self) +
          " make different teams: a split, a subset of another list, or one for an operation",
      rank);
}

/// A message's first word tells what is made.
constexpr std::uint64_t splitting = 1;
constexpr std::uint64_t listing = 2;
constexpr std::uint64_t duplicating_for_runs = 3;

class by_color final : public request {
public:
  by_color(int color, int key) noexcept : color_(color), key_(key) {}

  message ask() const override { return {splitting, word(color_), word(key_), 0}; }
  std::vector<std::size_t> members(const team& of, std::span<const message> all) const override {
    std::vector<std::size_t> result;
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      if (all[rank][0] != splitting) throw_mismatch(rank, of.rank());
      if (color_ != no_color && all[rank][1] == word(color_)) result.push_back(rank);
    }
    std::ranges::sort(result, {}, [&](std::size_t rank) {
      return std::pair(static_cast<std::int64_t>(all[rank][2]), rank);
    });
    return result;
  }

private:
  static std::uint64_t word(int value) noexcept {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(value));
  }

  int color_;
  int key_;
};

class by_list final : public request {
public:
  by_list(const team& of, std::span<const std::size_t> ranks) : ranks_(ranks.begin(), ranks.end()) {
    if (ranks.empty()) refuse("ranks is empty; expected at least one rank");
    std::vector<bool> seen(of.size());
    std::uint64_t hash = ranks.size();
    for (const std::size_t rank : ranks) {
      if (rank >= of.size()) {
        refuse("ranks has " + std::to_string(rank) + "; expected ranks from 0 to " +
               std::to_string(of.size() - 1));
      }
      if (seen[rank]) refuse("ranks has " + std::to_string(rank) + " twice; expected it once");
      seen[rank] = true;
      hash = mix_bits(hash ^ rank);
    }
    member_ = seen[of.rank()];
    asked_ = {listing, hash, 0, 0};
  }

  message ask() const override { return asked_; }
  std::vector<std::size_t> members(const team& of, std::span<const message> all) const override {
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      if (all[rank][0] != asked_[0] || all[rank][1] != asked_[1]) throw_mismatch(rank, of.rank());
    }
    return member_ ? ranks_ : std::vector<std::size_t>{};
  }

private:
  [[noreturn]] static void refuse(const std::string& why) {
    throw error(errc::invalid_argument, "subset: " + why);
  }

  std::vector<std::size_t> ranks_;
  message asked_{};
  bool member_ = false;
};

class for_runs final : public request {
public:
  explicit for_runs(stage_kind needs) noexcept
      : asked_{duplicating_for_runs, needs >= stage_kind::lengthy ? 1U : 0U, 0, 0} {}

  message ask() const override { return asked_; }
  std::vector<std::size_t> members(const team& of, std::span<const message> all) const override {
    std::vector<std::size_t> result(all.size());
    for (std::size_t rank = 0; rank < all.size(); ++rank) {
      if (all[rank][0] != asked_[0]) throw_mismatch(rank, of.rank());
      result[rank] = rank;
    }
    return result;
  }
  wire::extent extent(std::span<const message> all) const override {
    const bool any_long = std::ranges::any_of(all, [](const message& one) { return one[1] != 0; });
    return any_long ? wire::run_extent : wire::short_run_extent;
  }

private:
  message asked_;
};

}  // namespace

task<std::unique_ptr<team>> split(team& of, int color, int key) {
  const by_color what(color, key);
  co_return co_await make_team(of, what);
}

task<std::unique_ptr<team>> duplicate(team& of) { return split(of, 0, 0); }

task<std::unique_ptr<team>> duplicate_for_runs(team& of, stage_kind needs) {
  const for_runs what(needs);
  co_return co_await make_team(of, what);
}

task<std::unique_ptr<team>> subset(team& of, std::span<const std::size_t> ranks) {
  const auto by_own = [](team& from, std::vector<std::size_t> list) -> task<std::unique_ptr<team>> {
    const by_list what(from, list);
    co_return co_await make_team(from, what);
  };
  return by_own(of, {ranks.begin(), ranks.end()});
}

}  // namespace muster
