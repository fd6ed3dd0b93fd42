#include "transports/sim/network.hpp"

#include <algorithm>

namespace muster::sim {

queue_pair_cache::queue_pair_cache(std::size_t capacity)
    : ways_(std::min<std::size_t>(capacity, 8)),
      sets_(capacity == 0 ? 0 : capacity / ways_),
      held_(sets_ * ways_) {}

bool queue_pair_cache::use(std::uint64_t pair) noexcept {
  if (sets_ == 0) return true;
  // Consecutive pairs fall into different sets; 0 means nothing, so tags begin at 1.
  const std::uint64_t tag = pair + 1;
  const auto set = held_.begin() + static_cast<std::ptrdiff_t>(pair % sets_ * ways_);
  const auto end = set + static_cast<std::ptrdiff_t>(ways_);
  const auto found = std::find(set, end, tag);
  const bool held = found != end;
  // Everything more recent moves back by one, over the one found or the least recent.
  std::copy_backward(set, held ? found : end - 1, held ? found + 1 : end);
  *set = tag;
  return held;
}

node_interfaces::node_interfaces(const model::network_parameters& of)
    : of_(of), gap_(from_ns(of.gap_ns)), miss_(from_ns(of.queue_pair_miss_ns)) {
  for (std::size_t i = 0; i < of.rails; ++i) {
    rails_.push_back({.cache = queue_pair_cache(of.queue_pairs_cached)});
  }
}

std::size_t node_interfaces::choose_rail(std::size_t bytes) noexcept {
  if (of_.rails > 1 && bytes >= of_.stripe_from_bytes) return all_rails;
  return next_rail();
}

std::size_t node_interfaces::next_rail() noexcept {
  const std::size_t rail = next_rail_;
  next_rail_ = rail + 1 == of_.rails ? 0 : rail + 1;
  return rail;
}

node_interfaces::passage node_interfaces::send(picoseconds now, std::uint64_t pair,
                                               std::size_t bytes, std::size_t rail) {
  return pass(way::out, now, pair, bytes, rail);
}

node_interfaces::passage node_interfaces::receive(picoseconds now, std::uint64_t pair,
                                                  std::size_t bytes, std::size_t rail) {
  return pass(way::in, now, pair, bytes, rail);
}

node_interfaces::passage node_interfaces::pass(way which, picoseconds now, std::uint64_t pair,
                                               std::size_t bytes, std::size_t on_rail) {
  if (on_rail != all_rails) return pass_one(rails_[on_rail], which, now, pair, bytes);
  // A share on each rail; there when the last is.
  const std::size_t share = (bytes + rails_.size() - 1) / rails_.size();
  passage whole{0, 0};
  for (rail& each : rails_) {
    const passage part = pass_one(each, which, now, pair, share);
    whole.begins = std::max(whole.begins, part.begins);
    whole.ends = std::max(whole.ends, part.ends);
  }
  return whole;
}

node_interfaces::passage node_interfaces::pass_one(rail& on, way which, picoseconds now,
                                                   std::uint64_t pair, std::size_t bytes) {
  picoseconds& free = which == way::out ? on.sending_free : on.receiving_free;
  passage one;
  one.begins = std::max(now, free);
  if (!on.cache.use(pair)) one.begins += miss_;
  one.ends = one.begins + std::max(gap_, transfer_time(bytes, of_.bandwidth_gbs));
  free = one.ends;
  return one;
}

}  // namespace muster::sim
