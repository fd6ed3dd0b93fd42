#include "tools/command/shared/process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <fstream>
#include <sstream>
#include <system_error>

extern char** environ;

namespace muster::bench {
namespace {

[[noreturn]] void fail(const std::string& doing) {
  throw std::system_error(errno, std::generic_category(), doing);
}

descriptor open_process(pid_t id) {
  return descriptor(static_cast<int>(syscall(SYS_pidfd_open, id, 0)));
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// Our environment with the given NAME=value settings in place of any it has of the same names.
std::vector<std::string> environment_with(const std::vector<std::string>& settings) {
  std::vector<std::string> all = settings;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view name = std::string_view(*entry).substr(0, std::strcspn(*entry, "="));
    const bool replaced = std::any_of(settings.begin(), settings.end(), [&](std::string_view one) {
      return one.substr(0, one.find('=')) == name;
    });
    if (!replaced) all.emplace_back(*entry);
  }
  return all;
}

/// Runs in the child between fork and exec: system calls only.
[[noreturn]] void become(char* const* arguments, char* const* environment, int input, int output) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGTERM);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  execve(arguments[0], arguments, environment);
  const char* problem = std::strerror(errno);
  for (const char* part : {static_cast<const char*>(arguments[0]), ": ", problem, "\n"}) {
    if (write(STDERR_FILENO, part, std::strlen(part)) < 0) break;
  }
  _exit(127);
}

}  // namespace

temporary_folder::temporary_folder(std::string_view prefix) {
  std::string pattern = fmt::format("/tmp/{}-XXXXXX", prefix);
  if (mkdtemp(pattern.data()) == nullptr) fail("making a folder " + pattern);
  path_ = pattern;
}

temporary_folder::~temporary_folder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

child_process child_process::start(const command& what, const std::filesystem::path& log) {
  const descriptor input(open("/dev/null", O_RDONLY | O_CLOEXEC));
  const descriptor output(open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!input || !output) fail("opening " + log.string());
  const std::vector<std::string> settings = environment_with(what.environment);
  const std::vector<char*> arguments = pointers_to(what.arguments);
  const std::vector<char*> environment = pointers_to(settings);

  const pid_t id = fork();
  if (id < 0) fail("starting " + what.arguments[0]);
  if (id == 0) become(arguments.data(), environment.data(), input.get(), output.get());
  setpgid(id, id);  // whoever of the two comes first
  descriptor handle = open_process(id);
  if (!handle) {
    const int error = errno;
    kill(id, SIGKILL);
    waitpid(id, nullptr, 0);
    errno = error;
    fail("watching " + what.arguments[0]);
  }
  return child_process(id, std::move(handle));
}

child_process::~child_process() {
  if (!handle_) return;
  signal_group(SIGKILL);
  wait_for(std::chrono::milliseconds(-1));
}

bool child_process::wait_for(std::chrono::milliseconds patience) {
  if (status_) return true;
  pollfd watched{handle_.get(), POLLIN, 0};
  const auto end = std::chrono::steady_clock::now() + patience;
  auto left = patience;
  while (poll(&watched, 1, static_cast<int>(left.count())) <= 0) {
    if (patience.count() < 0) continue;
    left = std::chrono::duration_cast<std::chrono::milliseconds>(end -
                                                                 std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
  }
  int status = 0;
  while (waitpid(id_, &status, 0) < 0 && errno == EINTR) {
  }
  status_ = status;
  return true;
}

void child_process::signal_group(int signal) const {
  // Once reaped, the group's number is free to be somebody else's.
  if (!status_) kill(-id_, signal);
}

std::string child_process::exit_status() const {
  if (!status_) return "is running";
  if (WIFSIGNALED(*status_)) {
    const int signal = WTERMSIG(*status_);
    return fmt::format("was killed by signal {} ({})", signal, strsignal(signal));
  }
  return fmt::format("exited with status {}", WEXITSTATUS(*status_));
}

process_handle::process_handle(pid_t id) : id_(id), handle_(open_process(id)) {}

void process_handle::kill() const {
  if (handle_) syscall(SYS_pidfd_send_signal, handle_.get(), SIGKILL, nullptr, 0);
}

void process_handle::reap() const {
  // A killed process takes a moment to end; one that isn't our child is left alone.
  constexpr int patience_ms = 1000;
  pollfd watched{handle_.get(), POLLIN, 0};
  if (!handle_ || poll(&watched, 1, patience_ms) <= 0) return;
  waitpid(id_, nullptr, WNOHANG);
}

void adopt_orphans() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

std::vector<std::filesystem::path> process_handle::shared_memory_files() const {
  std::ifstream file(fmt::format("/proc/{}/maps", id_));
  std::ostringstream maps;
  maps << file.rdbuf();
  return shared_memory_in(maps.view());
}

std::vector<std::filesystem::path> shared_memory_in(std::string_view maps) {
  std::vector<std::filesystem::path> files;
  while (!maps.empty()) {
    const std::string_view line = maps.substr(0, maps.find('\n'));
    maps.remove_prefix(std::min(line.size() + 1, maps.size()));
    const std::size_t at = line.find(" /dev/shm/");
    if (at == std::string_view::npos || line.ends_with(" (deleted)")) continue;
    files.emplace_back(line.substr(at + 1));
  }
  std::sort(files.begin(), files.end());
  files.erase(std::unique(files.begin(), files.end()), files.end());
  return files;
}

interrupt_watch::interrupt_watch() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals, signal);
  if (sigprocmask(SIG_BLOCK, &signals, &before_) != 0) fail("blocking signals");
  events_ = descriptor(signalfd(-1, &signals, SFD_CLOEXEC | SFD_NONBLOCK));
  if (!events_) fail("watching for signals");
}

interrupt_watch::~interrupt_watch() {
  // Takes what has come, lest it strike when it is unblocked.
  signalfd_siginfo taken;
  while (read(events_.get(), &taken, sizeof taken) > 0) {
  }
  sigprocmask(SIG_SETMASK, &before_, nullptr);
}

void interrupt_watch::check() const {
  pollfd watched{events_.get(), POLLIN, 0};
  if (poll(&watched, 1, 0) > 0) throw interrupted();
}

std::string last_lines(const std::filesystem::path& file, std::size_t most_lines) {
  std::ifstream text(file);
  std::deque<std::string> lines;
  for (std::string line; std::getline(text, line);) {
    if (line.find_first_not_of(" \t\r-=") == std::string::npos) continue;
    lines.push_back(line);
    if (lines.size() > most_lines) lines.pop_front();
  }
  std::string joined;
  for (const std::string& line : lines) joined += (joined.empty() ? "" : "\n") + line;
  return joined;
}

}  // namespace muster::bench
