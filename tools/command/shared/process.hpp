// Jobs' processes, temporary folders and signals that clean up after themselves.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <cstddef>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <muster/base/descriptor.hpp>

#include "tools/process/process.hpp"

namespace muster::bench {

/// A folder with a short path, for sockets; removed with all that is in it.
class temporary_folder {
public:
  explicit temporary_folder(std::string_view prefix);
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;
  ~temporary_folder();
  const std::filesystem::path& path() const { return path_; }

private:
  std::filesystem::path path_;
};

/// A program to start: its arguments, the first being its path, and what its environment has
/// beyond ours, as NAME=value.
struct command {
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
};

/// Starts it in a process group of its own, without input; its output and errors go to `log`. It
/// gets SIGTERM when this process dies. Throws process::cannot_run, std::system_error.
process::child start_logged(const command& what, const std::filesystem::path& log);

/// Somebody else's child that we may have to end: names one process even after it is gone.
class process_handle {
public:
  explicit process_handle(pid_t id);
  pid_t id() const { return id_; }
  void kill() const;
  /// Takes the process out of the table of processes if it has ended and become ours.
  void reap() const;
  /// Files in shared memory that the process has mapped.
  std::vector<std::filesystem::path> shared_memory_files() const;

private:
  pid_t id_;
  descriptor handle_;
};

/// From now on, descendants of this process whose parents die become its children.
void adopt_orphans();

/// The paths below /dev/shm in the text of a /proc/PID/maps.
std::vector<std::filesystem::path> shared_memory_in(std::string_view maps);

struct interrupted : std::runtime_error {
  interrupted() : std::runtime_error("interrupted") {}
};

/// While this object lives, SIGINT, SIGTERM and SIGHUP arrive at a descriptor, so that whoever
/// waits can stop in an orderly way instead of leaving processes behind.
class interrupt_watch {
public:
  interrupt_watch();
  interrupt_watch(const interrupt_watch&) = delete;
  interrupt_watch& operator=(const interrupt_watch&) = delete;
  ~interrupt_watch();
  int get() const { return events_.get(); }
  /// Throws `interrupted` if a signal has come.
  void check() const;

private:
  sigset_t before_;
  descriptor events_;
};

/// The last lines of a text file, without empty ones.
std::string last_lines(const std::filesystem::path& file, std::size_t most_lines);

}  // namespace muster::bench
