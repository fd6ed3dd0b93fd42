#include <muster/team/groups.hpp>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include <muster/team/shape.hpp>

namespace muster {
namespace {

using group = std::vector<std::size_t>;

std::size_t ceiling_of_root(std::size_t n) {
  std::size_t root = 1;
  while (root * root < n) ++root;
  return root;
}

/// The size at which leaders look at the fewest lines: as many members as other leaders.
std::size_t best_size(std::size_t ranks) { return ceiling_of_root(ranks); }

/// A cache may have more ranks than that; up to here they stay together.
std::size_t most_size(std::size_t ranks) {
  constexpr std::size_t small_enough = 16;
  return std::max(small_enough, best_size(ranks));
}

/// Cuts into the fewest pieces of at most `most`, as equal as possible.
void append_cut(std::vector<group>& to, const group& whole, std::size_t most) {
  const std::size_t pieces = (whole.size() + most - 1) / most;
  for (std::size_t i = 0; i < pieces; ++i) {
    const auto at = [&](std::size_t piece) {
      return whole.begin() + static_cast<std::ptrdiff_t>(whole.size() * piece / pieces);
    };
    to.emplace_back(at(i), at(i + 1));
  }
}

std::vector<group> equal_runs(std::size_t ranks) {
  group all(ranks);
  for (std::size_t i = 0; i < ranks; ++i) all[i] = i;
  std::vector<group> result;
  append_cut(result, all, best_size(ranks));
  return result;
}

/// Joins successive groups of which `may_join` holds, as long as they stay within `best`.
template <class MayJoin>
std::vector<group> joined(std::vector<group> small, std::size_t best, MayJoin may_join) {
  std::vector<group> result;
  for (group& each : small) {
    const bool joins = !result.empty() && result.back().size() + each.size() <= best &&
                       may_join(result.back().front(), each.front());
    if (joins) {
      result.back().insert(result.back().end(), each.begin(), each.end());
    } else {
      result.push_back(std::move(each));
    }
  }
  return result;
}

std::vector<group> by_cache(std::span<const place> local_peers) {
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::uint32_t>, group> caches;
  for (std::size_t i = 0; i < local_peers.size(); ++i) {
    const place& at = local_peers[i];
    caches[{at.package, at.numa, at.l3}].push_back(i);
  }
  std::vector<group> result;
  for (const auto& [where, ranks] : caches)
    append_cut(result, ranks, most_size(local_peers.size()));
  return result;
}

bool is_known(const place& at) {
  return at.l3 != place::unknown || at.numa != place::unknown || at.package != place::unknown;
}

}  // namespace

groups groups::near(std::span<const place> local_peers) {
  const std::size_t ranks = local_peers.size();
  if (!std::ranges::all_of(local_peers, is_known)) return groups(equal_runs(ranks));
  const std::size_t best = best_size(ranks);
  std::vector<group> found = joined(by_cache(local_peers), best, [&](std::size_t a, std::size_t b) {
    return local_peers[a].package == local_peers[b].package &&
           local_peers[a].numa == local_peers[b].numa;
  });
  // Where even a NUMA node has few ranks, more leaders would look at each other than it saves.
  if (found.size() > 2 * best) {
    found = joined(std::move(found), best, [](std::size_t, std::size_t) { return true; });
  }
  return groups(std::move(found));
}

groups groups::runs(std::span<const place> local_peers) {
  groups result = near(local_peers);
  return result.are_runs() ? result : groups(equal_runs(local_peers.size()));
}

groups::groups(std::vector<group> members) {
  for (group& each : members) std::ranges::sort(each);
  std::ranges::sort(members, {}, [](const group& each) { return each.front(); });
  for (const group& each : members) {
    leaders_.push_back(each.front());
    begins_.push_back(ordered_.size());
    ordered_.insert(ordered_.end(), each.begin(), each.end());
    most_members_ = std::max(most_members_, each.size());
  }
  begins_.push_back(ordered_.size());
  group_of_.resize(ordered_.size());
  for (std::size_t i = 0; i < members.size(); ++i) {
    for (const std::size_t local_peer : members[i]) group_of_[local_peer] = i;
  }
}

bool groups::are_runs() const noexcept { return std::ranges::is_sorted(ordered_); }

}  // namespace muster
