// A job: the ranks of one library, kept alive and asleep between orders.
#pragma once

#include <chrono>
#include <filesystem>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "tools/command/bench/posted.hpp"
#include "tools/command/bench/wire.hpp"
#include "tools/command/shared/process.hpp"

namespace muster::bench {

/// A job that can't go on: what happened, and what the job said last.
struct job_failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// What all ranks together found.
struct job_answer {
  double slowest_us = 0;  ///< the largest of the ranks' means
  double average_us = 0;  ///< the mean of the ranks' means
  double period_us = 0;   ///< from one call to the next, on the rank that takes longest
  posted sent;            ///< by all of them in the timed calls
  bool verified = true;
  std::string algorithm;
  std::string refusal;  ///< why nothing was done, though the job is well; otherwise empty
};

class job {
public:
  /// Starts the command and waits for all its ranks to say hello. `folder` holds its socket and
  /// its log, named after `name`. Throws job_failure, or `interrupted`.
  job(std::string name, command launch, std::size_t ranks, const std::filesystem::path& folder,
      const interrupt_watch& interrupts, std::chrono::milliseconds patience);
  job(const job&) = delete;
  job& operator=(const job&) = delete;

  /// Asks the ranks to leave and sees that nothing of the job stays: no process, and no segment
  /// in shared memory of one that had to be killed.
  ~job();

  /// Has all ranks carry out the order. Throws job_failure when one is gone, reports an error or
  /// takes longer than `patience`; the job is of no use then.
  job_answer run(const order& what, std::chrono::milliseconds patience);

  /// What the library calls itself.
  const std::string& version() const { return version_; }

private:
  struct member {
    descriptor socket;
    process_handle process;
    std::size_t rank = 0;
    bool answered = false;
  };

  void await_hellos(std::size_t ranks, std::chrono::milliseconds patience);
  void admit(descriptor connection, std::size_t ranks);
  void take_answer(std::size_t rank, job_answer& all);
  void note_shared_memory();
  void end_by_force();
  [[noreturn]] void fail(const std::string& what);

  std::string name_;
  std::filesystem::path log_;
  const interrupt_watch& interrupts_;
  descriptor listener_;
  process::child launcher_;
  std::vector<member> members_;  ///< by rank, once all are here
  std::set<std::filesystem::path> shared_memory_;
  std::string version_;
  bool usable_ = false;
};

}  // namespace muster::bench
