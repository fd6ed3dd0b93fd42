#include "tools/mpi/report.hpp"

#include <algorithm>
#include <sstream>

#include <muster/run/perform.hpp>

namespace muster::mpi {
namespace {

void count(ways& in, std::string_view way, std::uint64_t calls = 1) {
  const auto at = in.find(way);
  if (at != in.end()) {
    at->second += calls;
  } else {
    in.emplace(way, calls);
  }
}

void add(ways& to, const ways& other) {
  for (const auto& [way, calls] : other) count(to, way, calls);
}

std::string_view algorithm_of(const team& on, const arguments& what) {
  try {
    return chosen_algorithm(on, what);
  } catch (const error&) {  // nor could the call choose one
    return "none";
  }
}

}  // namespace

void balance::add(const balance& other) noexcept {
  calls += other.calls;
  if (calls == 0) return;
  const double share = static_cast<double>(other.calls) / static_cast<double>(calls);
  average_case += share * (other.average_case - average_case);
  worst_case += share * (other.worst_case - worst_case);
  time_ns += share * (other.time_ns - time_ns);
  most = std::max(most, other.most);
}

std::uint64_t usage::left() const noexcept {
  std::uint64_t calls = 0;
  for (const auto& [reason, those] : reasons) calls += those;
  return calls;
}

void usage::add(const usage& other) {
  taken += other.taken;
  bytes += other.bytes;
  nanoseconds += other.nanoseconds;
  mpi::add(algorithms, other.algorithms);
  mpi::add(reasons, other.reasons);
  if (!other.arrivals) return;
  if (!arrivals) arrivals.emplace();
  arrivals->add(*other.arrivals);
}

void tally::took(kind of, const team& on, const arguments& what) {
  usage& into = all_[of];
  ++into.taken;
  if (what.sends(on.rank())) into.bytes += what.contributed_bytes(on.size());
  count(into.algorithms, algorithm_of(on, what));
}

void tally::spent(kind of, std::chrono::nanoseconds time) {
  all_[of].nanoseconds += static_cast<std::uint64_t>(time.count());
}

void tally::left(kind of, std::string_view reason) { count(all_[of].reasons, reason); }

std::string to_text(const usages& all) {
  std::ostringstream text;
  for (const auto& [of, one] : all) {
    text << "calls " << of.number() << ' ' << one.taken << ' ' << one.bytes << ' '
         << one.nanoseconds << '\n';
    for (const auto& [id, calls] : one.algorithms) text << "by " << calls << ' ' << id << '\n';
    for (const auto& [why, calls] : one.reasons) text << "left " << calls << ' ' << why << '\n';
    if (const auto& at = one.arrivals) {
      text << "arrivals " << at->calls << ' ' << at->average_case << ' ' << at->worst_case << ' '
           << at->most << ' ' << at->time_ns << '\n';
    }
  }
  return std::move(text).str();
}

usages parse_usages(std::string_view text) {
  usages all;
  usage* last = nullptr;
  std::istringstream in{std::string(text)};
  std::string word;
  std::uint64_t number = 0;
  while (in >> word >> number) {
    if (word == "calls") {
      last = &all[kind::numbered(number)];
      in >> last->taken >> last->bytes >> last->nanoseconds;
    } else if (last == nullptr) {
      break;
    } else if (word == "arrivals") {
      balance& seen = last->arrivals.emplace();
      seen.calls = number;
      in >> seen.average_case >> seen.worst_case >> seen.most >> seen.time_ns;
    } else {
      std::string way;
      std::getline(in >> std::ws, way);
      count(word == "by" ? last->algorithms : last->reasons, way, number);
    }
  }
  return all;
}

void summary::add_rank(const usages& of) {
  ++ranks;
  for (const auto& [which, one] : of) {
    line& into = lines[which];
    const std::uint64_t calls = one.calls();
    into.least = into.ranks == 0 ? calls : std::min(into.least, calls);
    into.most = std::max(into.most, calls);
    ++into.ranks;
    into.sum.add(one);
  }
}

}  // namespace muster::mpi
