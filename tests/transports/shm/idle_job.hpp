#pragma once

#include <doctest/doctest.h>

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transports/shm/job.hpp"

namespace muster::testing {

/// A process that does nothing.
class idle_process {
public:
  idle_process() : id_(::fork()) {
    REQUIRE(id_ >= 0);
    while (id_ == 0) ::pause();
  }
  ~idle_process() {
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
  }
  idle_process(const idle_process&) = delete;
  idle_process& operator=(const idle_process&) = delete;

  std::int32_t id() const noexcept { return id_; }
  void stop() const { signal(SIGSTOP, WUNTRACED); }
  void go_on() const { signal(SIGCONT, WCONTINUED); }
  void end() const { ::kill(id_, SIGKILL); }

private:
  void signal(int which, int until) const {
    REQUIRE(::kill(id_, which) == 0);
    int status = 0;
    REQUIRE(::waitpid(id_, &status, until) == id_);
  }

  pid_t id_;
};

/// A job of one machine whose ranks are processes that do nothing.
class idle_job {
public:
  explicit idle_job(std::size_t ranks) : ranks_(ranks), job_(make_job(ranks)) {
    for (std::size_t i = 0; i < ranks; ++i) job_.line(i).process.store(ranks_[i].id());
  }

  const idle_process& rank(std::size_t i) const { return ranks_[i]; }
  const shm::job& job() const { return job_; }

private:
  static shm::job make_job(std::size_t ranks) {
    shm::job_options options;
    options.places.resize(ranks);
    return shm::job::create(options);
  }

  std::vector<idle_process> ranks_;
  shm::job job_;
};

}  // namespace muster::testing
