#include "tools/command/bench/measurement.hpp"

#include <algorithm>

namespace muster::bench {
namespace {

template <class Value, class Get>
std::vector<Value> distinct(std::span<const measurement> all, Get get) {
  std::vector<Value> values;
  for (const measurement& one : all) {
    const Value value = get(one);
    if (std::find(values.begin(), values.end(), value) == values.end()) values.push_back(value);
  }
  return values;
}

}  // namespace

std::string describe(const late_arrivals& late) {
  return late.pattern + ", seed " + std::to_string(late.seed);
}

std::string describe(const calling& how, bool reductions) {
  std::string text;
  const auto add = [&text](std::string_view what) {
    text += text.empty() ? "" : ", ";
    text += what;
  };
  if (how.between_barriers) add("between barriers");
  if (reductions && how.type != calling().type) add(name_of_element(how.type));
  if (how.same_buffers) add("same buffers");
  if (how.offset != 0) add("buffers " + std::to_string(how.offset) + " bytes off");
  if (how.excluded) add("left to the MPI");
  if (how.in_torch) add("in torch");
  return text;
}

std::optional<host_traffic> of_a_host(const posted& sent, std::size_t hosts, std::uint64_t calls) {
  if (sent.queue_pairs == 0 || calls == 0) return std::nullopt;
  const auto of_hosts = static_cast<double>(hosts);
  const auto in_a_call = [&](std::uint64_t all) {
    return static_cast<double>(all) / of_hosts / static_cast<double>(calls);
  };
  return host_traffic{.sends = in_a_call(sent.sends),
                      .doorbells = in_a_call(sent.doorbells),
                      .bytes = in_a_call(sent.bytes),
                      .queue_pairs = static_cast<double>(sent.queue_pairs) / of_hosts};
}

void summarize(measurement& one, std::span<const sample> samples) {
  std::vector<double> times_us;
  std::vector<double> trips_ns;
  std::vector<double> times_in_trips;
  for (const sample& taken : samples) {
    times_us.push_back(taken.us);
    if (taken.trip_ns <= 0) continue;
    trips_ns.push_back(taken.trip_ns);
    times_in_trips.push_back(taken.us * 1e3 / taken.trip_ns);
  }
  one.samples = samples.size();
  one.median_us = median(times_us);
  one.p10_us = percentile(times_us, 0.1);
  one.p90_us = percentile(times_us, 0.9);
  if (trips_ns.empty()) return;
  one.trip_ns = median(trips_ns);
  const bool back_to_back = !one.late && !one.how.between_barriers;
  const bool pure = one.at.what == collective::barrier && one.at.ranks == 2 && back_to_back;
  if (pure) one.trips = median(times_in_trips);
}

namespace {

std::optional<double> best_peer_us(std::span<const measurement> all) {
  std::optional<double> best;
  for (const measurement& one : all) {
    if (one.of == library::muster || !one.has_figures()) continue;
    best = std::min(best.value_or(one.median_us), one.median_us);
  }
  return best;
}

bool is_ours(const measurement& one) { return one.of == library::muster; }

std::optional<double> mean_of(std::span<const measurement> all,
                              std::optional<double> measurement::* figure, const selection& some) {
  std::vector<double> values;
  for (const measurement& one : all) {
    if (some.has(one) && one.*figure) values.push_back(*(one.*figure));
  }
  return geometric_mean(values);
}

}  // namespace

void compare(std::span<measurement> at_one_point) {
  const auto peer_us = best_peer_us(at_one_point);
  const measurement* first = nullptr;
  for (measurement& one : at_one_point) {
    if (!is_ours(one)) continue;
    if (peer_us && one.has_figures()) one.ratio = *peer_us / one.median_us;
    const bool both = first != nullptr && first->has_figures() && one.has_figures();
    if (both) one.to_first = first->median_us / one.median_us;
    if (first == nullptr) first = &one;
  }
}

bool selection::has(const measurement& one) const {
  return (!what || one.at.what == *what) && (!ranks || one.at.ranks == *ranks) &&
         (!asked || one.asked == *asked);
}

std::optional<double> mean_ratio(std::span<const measurement> all, const selection& some) {
  return mean_of(all, &measurement::ratio, some);
}

std::optional<double> mean_to_first(std::span<const measurement> all, const selection& some) {
  return mean_of(all, &measurement::to_first, some);
}

std::string title_of(const selection& line) {
  const std::string what(line.what ? name(*line.what) : "all");
  const std::string asked = line.asked.value_or("");
  return asked.empty() ? what : what + " " + asked;
}

std::vector<selection> lines_of_means(std::span<const measurement> all) {
  std::vector<selection> lines;
  const auto add = [&](std::optional<collective> what) {
    for (const contender& ours : ours_in(all)) {
      const selection line{.what = what, .asked = ours.asked};
      const auto any = [&](const measurement& one) { return is_ours(one) && line.has(one); };
      if (std::any_of(all.begin(), all.end(), any)) lines.push_back(line);
    }
  };
  for (const collective what : collectives_in(all)) add(what);
  add(std::nullopt);
  return lines;
}

std::vector<collective> collectives_in(std::span<const measurement> all) {
  return distinct<collective>(all, [](const measurement& one) { return one.at.what; });
}

std::vector<std::size_t> ranks_in(std::span<const measurement> all) {
  return distinct<std::size_t>(all, [](const measurement& one) { return one.at.ranks; });
}

std::vector<contender> ours_in(std::span<const measurement> all) {
  auto some = distinct<contender>(all, [](const measurement& one) { return one.who(); });
  std::erase_if(some, [](const contender& who) { return who.of != library::muster; });
  return some;
}

std::vector<contender> peers_in(std::span<const measurement> all) {
  auto some = distinct<contender>(all, [](const measurement& one) { return one.who(); });
  std::erase_if(some, [](const contender& who) { return who.of == library::muster; });
  return some;
}

const measurement* find(std::span<const measurement> all, const point& at, const contender& who) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const measurement& one) {
    return one.at == at && one.who() == who;
  });
  return found == all.end() ? nullptr : &*found;
}

std::vector<const measurement*> ours_at(std::span<const measurement> all, const point& at) {
  std::vector<const measurement*> some;
  for (const measurement& one : all) {
    if (is_ours(one) && one.at == at) some.push_back(&one);
  }
  return some;
}

std::size_t nodes_in(std::span<const measurement> all) {
  std::size_t nodes = 1;
  for (const measurement& one : all) nodes = std::max(nodes, one.nodes);
  return nodes;
}

std::string label_of(const measurement& one) {
  const bool told = one.asked == automatic && !one.algorithm.empty();
  return told ? one.asked + ": " + one.algorithm : one.asked;
}

std::vector<std::size_t> bytes_in(std::span<const measurement> all, collective what,
                                  std::size_t ranks) {
  std::vector<std::size_t> sizes;
  for (const measurement& one : all) {
    if (one.at.what == what && one.at.ranks == ranks) sizes.push_back(one.at.bytes);
  }
  std::sort(sizes.begin(), sizes.end());
  sizes.erase(std::unique(sizes.begin(), sizes.end()), sizes.end());
  return sizes;
}

}  // namespace muster::bench
