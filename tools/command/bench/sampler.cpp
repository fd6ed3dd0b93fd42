#include "tools/command/bench/sampler.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <exception>

#include "tools/command/bench/buffers.hpp"
#include "tools/report/sizes.hpp"

namespace muster::bench {
namespace {

std::string describe(const point& at) {
  if (!has_sizes(at.what)) return fmt::format("{}, {} ranks", name(at.what), at.ranks);
  return fmt::format("{} of {}, {} ranks", name(at.what), readable_bytes(at.bytes), at.ranks);
}

/// Checking costs far more than a call; large results are checked when a point begins.
std::uint64_t checks_per_sample(const point& at) {
  constexpr std::size_t quickly_checked_bytes = std::size_t{2} << 20;
  return call_bytes(at.what, at.bytes, at.ranks) <= quickly_checked_bytes ? 1 : 0;
}

/// When a point begins.
std::uint64_t checks_at_first(const point& at) {
  constexpr std::size_t slowly_checked_bytes = std::size_t{256} << 20;
  return call_bytes(at.what, at.bytes, at.ranks) < slowly_checked_bytes ? 3 : 1;
}

template <class Entry>
std::vector<std::vector<sample>> samples_of(std::span<const Entry> entries) {
  std::vector<std::vector<sample>> all;
  for (const Entry& one : entries) all.push_back(one.samples);
  return all;
}

}  // namespace

job_set::job_set(const extent& size, std::size_t cores, const program_places& places,
                 const interrupt_watch& interrupts, notice tell)
    : size_(size),
      cores_(cores),
      places_(places),
      interrupts_(interrupts),
      tell_(std::move(tell)) {}

job* job_set::job_of(library which) {
  constexpr std::size_t most_failures = 3;
  constexpr std::chrono::seconds patience{60};
  runner& one = runners_[which];
  if (one.running) return one.running.get();
  if (one.failures >= most_failures) return nullptr;
  try {
    one.running = std::make_unique<job>(std::string(name_of(which)),
                                        launch_command(which, size_, cores_, places_), size_.ranks,
                                        folder_.path(), interrupts_, patience);
    one.version = one.running->version();
    if (which == library::muster && places_.shim_under) one.version = "Muster in " + one.version;
    return one.running.get();
  } catch (const interrupted&) {
    throw;
  } catch (const std::exception& error) {
    // What does not even start will not start next time.
    one.failures = most_failures;
    one.failure =
        fmt::format("{} did not start {} ranks: {}", name_of(which), size_.ranks, error.what());
    tell_(one.failure);
    return nullptr;
  }
}

void job_set::drop(library which, const std::string& why) {
  runner& one = runners_[which];
  one.running.reset();
  one.failures += 1;
  one.failure = why;
  tell_(why);
}

void job_set::note(const std::string& text) {
  if (text != noted_) tell_(text);
  noted_ = text;
}

std::vector<std::string> job_set::versions() const {
  std::vector<std::string> all;
  for (const auto& [which, one] : runners_) {
    if (!one.version.empty()) all.push_back(one.version);
  }
  return all;
}

sampler::entry sampler::enter(const contender& who, const extent& size, const point& at,
                              const lateness& late) const {
  entry one;
  one.timed.what = at.what;
  one.timed.bytes = at.bytes;
  one.timed.checks = checks_per_sample(at);
  one.timed.asked = std::string_view(who.asked);
  one.timed.nonblocking = how_.nonblocking;
  one.timed.compute_us = how_.compute_us;
  one.timed.how = how_.calls;
  one.timed.late = late;
  one.found.at = at;
  one.found.how = how_.calls;
  one.found.of = who.of;
  one.found.asked = who.asked;
  if (who.of == library::muster) one.found.nodes = size.nodes;
  one.found.hosts = size.hosts;
  if (late.wanted()) {
    one.found.late = {std::string(late.pattern.view()), late.seed, late.message_time_ns};
  }
  one.found.verified = true;
  return one;
}

std::vector<measurement> sampler::measure(job_set& jobs, std::span<const contender> all,
                                          const point& at, const lateness& late,
                                          const tick& ticked) {
  std::vector<entry> entries;
  for (const contender& who : all) {
    entries.push_back(enter(who, jobs.size(), at, late));
    calibrate(jobs, entries.back());
  }
  if (late.wanted()) agree_on_calls(entries);

  const std::size_t most_rounds = 3 * how_.rounds;
  for (std::size_t round = 0; round < most_rounds && !enough(entries); ++round) {
    for (std::size_t turn = 0; turn < entries.size(); ++turn) {
      // Everybody goes first, second and last in turn: what runs before one may matter.
      entry& one = entries[(round + turn) % entries.size()];
      one.timed.late.first_call = round * (one.timed.warmups + one.timed.calls);
      if (one.takes_part()) take_sample(jobs, one);
      if (round < how_.rounds) {
        ticked(fmt::format("{:<34} {:<8} {}", describe(at), title_of(one.found.who()),
                           one.samples.empty() ? "" : readable_time(one.samples.back().us)));
      }
    }
  }

  const state_choice chosen = fullest_state(samples_of(std::span<const entry>(entries)));
  std::vector<measurement> found;
  for (entry& one : entries) {
    const bool comparable = chosen.complete_sets > 0 && !one.samples.empty();
    summarize(one.found, comparable            ? in_state(one.samples, chosen.state)
                         : one.samples.empty() ? one.unsteady
                                               : one.samples);
    one.found.one_state = comparable;
    one.found.sent = of_a_host(one.sent, one.found.hosts, one.calls);
    one.found.verified = one.found.verified && one.found.has_figures();
    found.push_back(std::move(one.found));
  }
  compare(found);
  return found;
}

bool sampler::enough(std::span<const entry> entries) const {
  const bool anybody = std::any_of(entries.begin(), entries.end(),
                                   [](const entry& one) { return one.takes_part(); });
  if (!anybody) return true;
  for (const entry& one : entries) {
    if (one.takes_part() && one.samples.empty()) return false;
  }
  return fullest_state(samples_of(entries)).complete_sets >= how_.rounds;
}

std::optional<job_answer> sampler::ask(job_set& jobs, entry& one, const order& what) {
  job* const running = jobs.job_of(one.found.of);
  if (running == nullptr) {
    one.found.failure = jobs.failure_of(one.found.of);
    return std::nullopt;
  }
  try {
    job_answer found = running->run(what, how_.patience);
    if (!found.refusal.empty()) {
      note_refusal(jobs, one, found.refusal);
      return std::nullopt;
    }
    one.found.verified = one.found.verified && found.verified;
    one.found.algorithm = found.algorithm;
    return found;
  } catch (const job_failure& failure) {
    one.found.failure = fmt::format("{} failed in {}: {}", title_of(one.found.who()),
                                    describe(one.found.at), failure.what());
    jobs.drop(one.found.of, one.found.failure);
    return std::nullopt;
  }
}

/// An algorithm that was asked for need not suit every point.
void sampler::note_refusal(job_set& jobs, entry& one, const std::string& why) {
  one.found.algorithm.clear();
  one.found.suits = one.found.asked.empty() || one.found.asked == automatic;
  if (!one.found.suits) return;
  one.found.failure = fmt::format("{}: {}", name_of(one.found.of), why);
  jobs.note(one.found.failure);
}

/// Connects the ranks, looks at their results, and finds out how many calls make a sample.
void sampler::calibrate(job_set& jobs, entry& one) {
  order trial = one.timed;
  trial.warmups = 1;
  trial.calls = 2;
  trial.checks = checks_at_first(one.found.at);
  auto found = ask(jobs, one, trial);
  constexpr double long_enough_us = 2000;
  constexpr std::uint64_t growth = 16;
  constexpr std::uint64_t most_trial_calls = 20000;
  while (found && found->period_us * static_cast<double>(trial.calls) < long_enough_us &&
         trial.calls < most_trial_calls) {
    trial.calls *= growth;
    trial.checks = 0;
    found = ask(jobs, one, trial);
  }
  if (found) set_calls(one.timed, found->period_us);
}

/// As many for each library, so that their ranks have the same delays: the fewest.
void sampler::agree_on_calls(std::span<entry> entries) {
  const order* least = nullptr;
  for (const entry& one : entries) {
    if (one.takes_part() && (least == nullptr || one.timed.calls < least->calls))
      least = &one.timed;
  }
  if (least == nullptr) return;
  const auto [calls, warmups] = std::pair(least->calls, least->warmups);
  for (entry& one : entries) {
    one.timed.calls = calls;
    one.timed.warmups = warmups;
  }
}

void sampler::take_sample(job_set& jobs, entry& one) {
  const auto before = probe_.measure_ns();
  const auto found = ask(jobs, one, one.timed);
  if (!found) return;
  const auto after = before ? probe_.measure_ns() : std::nullopt;
  one.add_traffic(found->sent);
  const bool late = one.timed.late.wanted();
  if (!late) set_calls(one.timed, found->period_us);
  sample taken;
  const bool each_by_itself = late || one.timed.how.between_barriers;
  taken.us = each_by_itself ? found->average_us : found->slowest_us;
  if (before && (!after || !same_trip(*before, *after))) {
    one.found.discarded += 1;
    taken.trip_ns = *before;
    one.unsteady.push_back(taken);
    return;
  }
  if (before) taken.trip_ns = std::sqrt(*before * *after);
  taken.state = states_.index_of(taken.trip_ns);
  one.samples.push_back(taken);
}

void sampler::set_calls(order& timed, double period_us) const {
  const double sample_us = std::chrono::duration<double, std::micro>(how_.sample_time).count();
  // A mean over delays needs more calls than one over calls that are alike; of a long call there is
  // one, which needs no warming.
  const bool is_long = !timed.late.wanted() && period_us >= sample_us;
  const double fewest = timed.late.wanted() ? 8 : is_long ? 1 : 2;
  constexpr double most = 1e6;
  constexpr double per_warmup = 10;
  const double calls = std::clamp(std::round(sample_us / std::max(period_us, 1e-3)), fewest, most);
  timed.calls = static_cast<std::uint64_t>(calls);
  timed.warmups = is_long ? 0 : static_cast<std::uint64_t>(std::ceil(calls / per_warmup));
}

}  // namespace muster::bench
