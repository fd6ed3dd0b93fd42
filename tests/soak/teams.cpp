#include "tests/soak/teams.hpp"

#include <utility>

#include "tools/conformance/random.hpp"

namespace muster::testing {
namespace {

/// Some ranks of a team, in any order.
std::vector<std::size_t> some_ranks(random_stream& random, std::size_t ranks) {
  std::vector<std::size_t> all;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    all.push_back(rank);
    std::swap(all.back(), all[random.below(all.size())]);
  }
  all.resize(1 + random.below(ranks));
  return all;
}

struct side {
  int color;
  int key;
};

side side_of(const soak_team& wanted, std::size_t rank) {
  random_stream random(derive(wanted.seed, rank));
  const int color = random.one_in(8) ? no_color : static_cast<int>(random.below(2));
  return {color, static_cast<int>(random.below(4))};
}

/// What the ranks of a team do on it: they have the same number in it and the same colour.
void give_calls(soaked_team& to, const soak_team& wanted, std::size_t color) {
  if (to.made == nullptr) return;
  random_stream random(derive(derive(wanted.seed, color), to.made->size()));
  const std::uint64_t seed = random.next();
  to.calls =
      random_calls(seed, to.made->size(), 1 + random.below(wanted.calls), wanted.largest_count);
  to.how = random_conduct(random);
  if (random.one_in(3)) to.how.runs = 2;
}

task<soaked_team> make_team(team& from, const soak_team& wanted) {
  soaked_team result;
  int color = 0;
  if (wanted.how == soak_team::making::split) {
    const side mine = side_of(wanted, from.rank());
    color = mine.color;
    result.made = co_await split(from, mine.color, mine.key);
  } else if (wanted.how == soak_team::making::duplicate) {
    result.made = co_await duplicate(from);
  } else {
    random_stream random(wanted.seed);
    const std::vector<std::size_t> chosen = some_ranks(random, from.size());
    result.made = co_await subset(from, chosen);
  }
  give_calls(result, wanted, static_cast<std::size_t>(color));
  co_return result;
}

}  // namespace

task<std::vector<soaked_team>> make_teams(team& own, std::span<const soak_team> wanted) {
  std::vector<soaked_team> all;
  for (const soak_team& each : wanted) {
    team* const from = each.from == 0 ? &own : all[each.from - 1].made.get();
    all.emplace_back();
    if (from != nullptr) all.back() = co_await make_team(*from, each);
  }
  co_return all;
}

}  // namespace muster::testing
