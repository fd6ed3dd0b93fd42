#pragma once

#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <thread>
#include <utility>

namespace muster::testing {

/// Does something after a while, whatever this thread does.
class delayed {
public:
  delayed(std::chrono::microseconds after, std::function<void()> what)
      : thread_([after, what = std::move(what)] {
          std::this_thread::sleep_for(after);
          what();
        }) {}

private:
  std::jthread thread_;
};

/// A process of its own, for what this one cannot do to itself; its end is awaited. Where it fails,
/// this process ends: what was to happen has not.
class helper {
public:
  /// \param what done there, up to the process's end; it may only do what a signal's handler may
  template <class What>
  explicit helper(const What& what) : child_(::fork()) {
    if (child_ != 0) return;
    what();
    ::_exit(1);
  }
  helper(helper&& other) noexcept : child_(std::exchange(other.child_, 0)) {}
  helper& operator=(helper&&) = delete;
  ~helper();

private:
  pid_t child_;
};

/// This process is stopped after a while, and goes on after another.
helper stop_process(std::chrono::microseconds after, std::chrono::milliseconds how_long);
/// It is killed after a while, whatever it does then.
helper end_process(std::chrono::milliseconds after);
/// The first interface of this process's host is down after a while, and up after another.
helper cut_host_off(std::chrono::microseconds after, std::chrono::milliseconds how_long);
/// What this process's host sends to any of the others does not arrive, after a while and for
/// another. What they send does.
helper mute_host(std::size_t hosts, std::chrono::microseconds after,
                 std::chrono::milliseconds how_long);
/// This process's host loses its network, and then all of these processes.
helper end_host(std::span<const pid_t> processes, std::chrono::microseconds after);
/// One of the connections that others have made to this process is reset after a while, if there is
/// one.
helper reset_connection(std::chrono::microseconds after);
/// The same, but the other side is not told: what this process's host sends then does not arrive.
helper halve_connection(std::size_t hosts, std::chrono::microseconds after);

/// Ends this process by the system's own hand, at what the group has of memory.
/// \param group a control group's folder
void run_out_of_memory(const std::string& group);
/// Nothing more can be made in this process's /dev/shm. False where this cannot be had.
bool fill_shm();

/// While it lives, this process gets no more descriptors.
class no_descriptors {
public:
  no_descriptors();
  ~no_descriptors();
  no_descriptors(const no_descriptors&) = delete;
  no_descriptors& operator=(const no_descriptors&) = delete;

private:
  rlimit before_{};
};

}  // namespace muster::testing
