#include "tools/report/plot.hpp"

#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <memory>

extern char** environ;

namespace muster::report {
namespace {

/// Near the running program, as built or as installed.
std::filesystem::path find_script() {
  const std::filesystem::path folder = std::filesystem::canonical("/proc/self/exe").parent_path();
  const std::filesystem::path built = folder / "../report/muster-plot";
  return std::filesystem::exists(built) ? built : folder / "../libexec/muster/muster-plot";
}

struct closed {
  void operator()(std::FILE* file) const noexcept { std::fclose(file); }
};
using open_file = std::unique_ptr<std::FILE, closed>;

/// A file without a name, to be read from its beginning: unlike a pipe it may be left unread.
open_file file_of(const std::string& text) {
  open_file file(std::tmpfile());
  if (file == nullptr) return file;
  std::fwrite(text.data(), 1, text.size(), file.get());
  std::rewind(file.get());
  return file;
}

int wait_for(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0) {
    if (errno != EINTR) return 127;
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

}  // namespace

int run_script(const std::vector<std::string>& arguments, const std::string& input) {
  const std::string script = find_script().lexically_normal().string();
  std::vector<char*> words{const_cast<char*>(script.c_str())};
  for (const std::string& one : arguments) words.push_back(const_cast<char*>(one.c_str()));
  words.push_back(nullptr);

  const open_file text = file_of(input);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  if (text) posix_spawn_file_actions_adddup2(&actions, fileno(text.get()), STDIN_FILENO);
  pid_t child = 0;
  const int failed = posix_spawn(&child, script.c_str(), &actions, nullptr, words.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (failed == 0) return wait_for(child);
  fmt::print(stderr, "muster: no plot: {}: {}; install python3 and python3-matplotlib\n", script,
             std::strerror(failed));
  return 127;
}

bool draw(const std::filesystem::path& file, const std::string& json) {
  std::fflush(stdout);
  return run_script({"-", "-o", file.string()}, json) == 0;
}

void plot(const std::filesystem::path& file, const std::string& json) {
  if (!draw(file, json)) return;
  fmt::print("plot: {}\n", std::filesystem::absolute(file).lexically_normal().string());
}

}  // namespace muster::report
