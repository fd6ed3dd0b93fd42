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
#include <deque>
#include <fstream>
#include <sstream>
#include <system_error>

namespace muster::bench {
namespace {

[[noreturn]] void fail(const std::string& doing) {
  throw std::system_error(errno, std::generic_category(), doing);
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

process::child start_logged(const command& what, const std::filesystem::path& log) {
  const descriptor output(open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600));
  if (!output) fail("opening " + log.string());
  return process::start({.command = what.arguments,
                         .environment = what.environment,
                         .input = process::nothing,
                         .output = output.get(),
                         .errors = output.get(),
                         .own_group = true,
                         .signal_when_orphaned = SIGTERM});
}

process_handle::process_handle(pid_t id) : id_(id), handle_(process::open_process(id)) {}

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
