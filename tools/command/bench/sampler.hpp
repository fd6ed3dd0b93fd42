// Timing libraries against each other on a machine that changes underneath: short samples, the
// libraries by turns, each sample bracketed by a probe of the cache-line trip and thrown away when
// the two disagree, and comparisons only within one state of the machine.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tools/command/bench/jobs.hpp"
#include "tools/command/bench/libraries.hpp"
#include "tools/command/bench/measurement.hpp"
#include "tools/command/bench/posted.hpp"
#include "transports/shm/trip.hpp"

namespace muster::bench {

struct sampling {
  std::size_t rounds = 7;                     ///< complete sets of samples to collect
  std::chrono::milliseconds sample_time{30};  ///< length of one sample
  std::chrono::seconds patience{60};          ///< for one answer, before a job counts as hung
  bool nonblocking = false;                   ///< calls are begun and waited for
  double compute_us = 0;                      ///< in between
  calling calls = {};
};

/// The libraries' jobs for one number of ranks. A job that fails is started anew for the next
/// point, twice; then its library is given up.
class job_set {
public:
  using notice = std::function<void(const std::string&)>;

  /// `tell` is given what people should know: failures.
  job_set(const extent& size, std::size_t cores, const program_places& places,
          const interrupt_watch& interrupts, notice tell);

  /// The library's job, started if need be; nothing if it can't be had.
  job* job_of(library which);
  /// Ends the library's job, which failed.
  void drop(library which, const std::string& why);

  /// Tells people once what is so at one point after the other.
  void note(const std::string& text);

  const extent& size() const { return size_; }
  const std::string& failure_of(library which) { return runners_[which].failure; }
  /// What the libraries that were ever up call themselves.
  std::vector<std::string> versions() const;

private:
  struct runner {
    std::unique_ptr<job> running;
    std::size_t failures = 0;
    std::string failure;
    std::string version;
  };

  extent size_;
  std::size_t cores_;
  const program_places& places_;
  const interrupt_watch& interrupts_;
  notice tell_;
  std::string noted_;
  temporary_folder folder_{"muster-bench"};
  std::map<library, runner> runners_;
};

class sampler {
public:
  /// `ticked` is called after every sample with what it was.
  using tick = std::function<void(const std::string&)>;

  sampler(const sampling& how, std::optional<shm::cpu_pair> cpus) : how_(how), probe_(cpus) {}

  /// Measures all contenders at one point; one measurement each, in their order. Where ranks come
  /// late, a sample is the mean over the ranks, and all have the same delays in the same calls.
  std::vector<measurement> measure(job_set& jobs, std::span<const contender> all, const point& at,
                                   const lateness& late, const tick& ticked);

private:
  /// One contender at one point.
  struct entry {
    order timed;  ///< the order for one sample
    std::vector<sample> samples;
    std::vector<sample> unsteady;  ///< during which the machine changed; used if there are no other
    posted sent;                   ///< in all of them
    std::uint64_t calls = 0;       ///< that were
    measurement found;
    void add_traffic(const posted& in_sample) {
      sent += in_sample;
      sent.queue_pairs = in_sample.queue_pairs;
      calls += timed.calls;
    }
    bool takes_part() const { return found.failure.empty() && found.suits; }
  };

  entry enter(const contender& who, const extent& size, const point& at,
              const lateness& late) const;

  static void note_refusal(job_set& jobs, entry& one, const std::string& why);
  void calibrate(job_set& jobs, entry& one);
  void take_sample(job_set& jobs, entry& one);
  static void agree_on_calls(std::span<entry> entries);
  bool enough(std::span<const entry> entries) const;
  std::optional<job_answer> ask(job_set& jobs, entry& one, const order& what);
  void set_calls(order& timed, double period_us) const;

  sampling how_;
  shm::trip_probe probe_;
  machine_states states_;
};

}  // namespace muster::bench
