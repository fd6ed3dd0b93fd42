#include "tools/command/mpirun/output_of.hpp"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>

#include <muster/base/descriptor.hpp>

extern char** environ;

namespace muster::mpirun {
namespace {

/// What is done to a child's descriptors before its program begins.
class file_actions {
public:
  file_actions() { posix_spawn_file_actions_init(&actions_); }
  ~file_actions() { posix_spawn_file_actions_destroy(&actions_); }
  file_actions(const file_actions&) = delete;
  file_actions& operator=(const file_actions&) = delete;

  void open(int at, int mode) {
    posix_spawn_file_actions_addopen(&actions_, at, "/dev/null", mode, 0);
  }
  void put(int from, int at) { posix_spawn_file_actions_adddup2(&actions_, from, at); }
  const posix_spawn_file_actions_t* get() const { return &actions_; }

private:
  posix_spawn_file_actions_t actions_;
};

std::string read_all(const descriptor& from) {
  std::string text;
  std::array<char, 4096> piece;
  while (true) {
    const ssize_t got = read(from.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
}

bool ended_well(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return false;
  }
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

std::string output_of(const std::vector<std::string>& command) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) return {};
  const descriptor reading(ends[0]);
  descriptor writing(ends[1]);
  file_actions actions;
  actions.open(STDIN_FILENO, O_RDONLY);
  actions.put(writing.get(), STDOUT_FILENO);
  actions.open(STDERR_FILENO, O_WRONLY);
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  pid_t child = 0;
  if (posix_spawnp(&child, arguments[0], actions.get(), nullptr, arguments.data(), environ) != 0) {
    return {};
  }
  writing = descriptor();
  std::string text = read_all(reading);
  return ended_well(child) ? text : std::string();
}

}  // namespace muster::mpirun
