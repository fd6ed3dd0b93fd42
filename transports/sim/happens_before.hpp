#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace muster::sim {

/// Which announcements happened before what a rank does next: those whose flag it has read, or
/// whose writer sent it a message since, directly or through others. A vector clock for each rank
/// (Mattern, 1989), which flags and messages pass on.
class happens_before {
public:
  explicit happens_before(std::size_t ranks) : ranks_(ranks, rank_state{vector_clock(ranks), {}}) {}

  /// How many announcements of `writer` happened before what `reader` does next.
  std::uint64_t known(std::size_t reader, std::size_t writer) const noexcept {
    return ranks_[reader].clock[writer];
  }
  /// How many `rank` has made itself.
  std::uint64_t announced(std::size_t rank) const noexcept { return known(rank, rank); }

  /// A rank makes an announcement; they become visible in that order.
  void announce(std::size_t rank) {
    rank_state& by = ranks_[rank];
    ++by.clock[rank];
    by.on_their_way.push_back(by.clock);
  }
  void become_visible(std::size_t rank, const void* flag) {
    std::deque<vector_clock>& first = ranks_[rank].on_their_way;
    flags_[flag] = std::move(first.front());
    first.pop_front();
  }
  /// The flags of a team that is no more.
  void forget(std::span<const std::byte> memory) {
    std::erase_if(flags_, [memory](const auto& each) {
      const auto* const flag = static_cast<const std::byte*>(each.first);
      return flag >= memory.data() && flag < memory.data() + memory.size();
    });
  }
  /// A rank reads a flag, as it is now.
  void read(std::size_t rank, const void* flag) {
    const auto known = flags_.find(flag);
    if (known != flags_.end()) join(rank, known->second);
  }

  /// A rank sends a message; another takes it.
  void send(std::size_t rank, std::uint64_t message) { sent_.emplace(message, ranks_[rank].clock); }
  void take(std::size_t rank, std::uint64_t message) {
    const auto known = sent_.find(message);
    if (known == sent_.end()) return;
    join(rank, known->second);
    sent_.erase(known);
  }

private:
  using vector_clock = std::vector<std::uint64_t>;  // announcements, by rank
  struct rank_state {
    vector_clock clock;
    std::deque<vector_clock> on_their_way;  // with flags that are not visible yet
  };

  void join(std::size_t rank, const vector_clock& other) {
    vector_clock& mine = ranks_[rank].clock;
    for (std::size_t i = 0; i < mine.size(); ++i) {
      mine[i] = std::max(mine[i], other[i]);
    }
  }

  std::vector<rank_state> ranks_;
  std::unordered_map<const void*, vector_clock> flags_;
  std::unordered_map<std::uint64_t, vector_clock> sent_;
};

}  // namespace muster::sim
