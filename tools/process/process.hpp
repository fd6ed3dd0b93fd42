// One way to start processes, and to wait for them.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <muster/base/descriptor.hpp>

namespace muster::process {

/// How a process ended.
struct ending {
  int status;  ///< as `waitpid` gave it

  bool well() const noexcept;
  /// For a program's own exit: the process's, or 128 + signal.
  int exit_status() const noexcept;
  /// "exited with status 3", "was killed by signal 9 (Killed)"
  std::string text() const;
};

/// A pidfd: names one process even after it is gone, and is readable, for `poll`, once it has
/// ended. Empty, with `errno` set, where there is none.
descriptor open_process(pid_t id);

/// A child of this process. Ends with this object, at the latest by SIGKILL.
class child {
public:
  /// Takes over a child that runs. `own_group`: it leads a process group.
  child(pid_t id, bool own_group) : id_(id), own_group_(own_group), handle_(open_process(id)) {}
  child(child&& other) noexcept
      : id_(std::exchange(other.id_, 0)),
        own_group_(other.own_group_),
        handle_(std::move(other.handle_)),
        ended_(other.ended_) {}
  child& operator=(child&&) = delete;
  ~child();

  /// Readable, for `poll`, once the child has ended.
  int ended_descriptor() const noexcept { return handle_.get(); }
  /// Waits for its end. Where somebody else has taken that, it is status 127.
  ending wait();
  /// Waits for so long at most. Nothing: it still runs.
  std::optional<ending> wait_for(std::chrono::milliseconds patience);
  /// Sends a signal to it, or to its group if it leads one. Does nothing once it was waited for.
  void signal(int number) const;
  /// Gives it away: whoever has its number waits for it.
  pid_t release() noexcept { return std::exchange(id_, 0); }

private:
  pid_t id_;  // 0: no child any more
  bool own_group_;
  descriptor handle_;
  std::optional<ending> ended_;
};

/// What a standard stream can be besides one of our descriptors.
inline constexpr int inherited = -1;  ///< as an empty `descriptor` says
inline constexpr int nothing = -2;    ///< /dev/null

/// What to start, and what it has of ours.
struct plan {
  std::vector<std::string> command;           ///< the program and its arguments
  bool in_path = false;                       ///< the program is looked up in PATH
  std::vector<std::string> environment = {};  ///< NAME=value, in place of ours of these names
  int input = inherited;
  int output = inherited;
  int errors = inherited;
  std::vector<int> descriptors = {};  ///< that it has, too, under the same numbers
  bool own_group = false;             ///< it leads a process group
  int signal_when_orphaned = 0;       ///< it comes when the thread that started it ends; 0: none
  std::optional<int> processor = {};  ///< to bind to; ignored where it may not use that
};

/// A program that could not be run: "./solve: No such file or directory".
struct cannot_run : std::system_error {
  using std::system_error::system_error;
};

/// Starts a program, with no signal blocked, and returns once it runs. \throws cannot_run where it
/// cannot be run, std::system_error where there can be no process.
child start(const plan& what);

/// The ends of a pipe. A child has one only where its plan says so.
struct pipe_ends {
  descriptor reading;
  descriptor writing;
};

/// \throws std::system_error where there can be none.
pipe_ends make_pipe();

}  // namespace muster::process
