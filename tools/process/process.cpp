#include "tools/process/process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include <muster/progress/affinity.hpp>

namespace muster::process {
namespace {

[[noreturn]] void fail(const std::string& doing) {
  throw std::system_error(errno, std::generic_category(), doing);
}

std::vector<char*> pointers_to(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

/// Our environment with the given settings in place of any it has of the same names.
std::vector<std::string> environment_with(const std::vector<std::string>& settings) {
  std::vector<std::string> all = settings;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string name = std::string(*entry, std::strcspn(*entry, "=")) + "=";
    const bool replaced = std::any_of(settings.begin(), settings.end(),
                                      [&](const auto& one) { return one.starts_with(name); });
    if (!replaced) all.emplace_back(*entry);
  }
  return all;
}

/// A copy of what a standard stream is to be. It lies beyond them all, in no other's place.
descriptor source_of(int stream) {
  if (stream == inherited) return {};
  if (stream == nothing) {
    const descriptor null(::open("/dev/null", O_RDWR | O_CLOEXEC));
    if (!null) fail("opening /dev/null");
    return source_of(null.get());
  }
  descriptor source(::fcntl(stream, F_DUPFD_CLOEXEC, STDERR_FILENO + 1));
  if (!source) fail("opening a child's stream");
  return source;
}

/// What a child needs, made before `fork`: until its program runs it may not allocate.
struct preparation {
  const plan& what;
  std::vector<std::string> settings = environment_with(what.environment);
  std::vector<char*> environment = pointers_to(settings);
  std::vector<char*> words = pointers_to(what.command);
  std::array<descriptor, 3> streams{source_of(what.input), source_of(what.output),
                                    source_of(what.errors)};
  pid_t parent = ::getpid();
};

/// In the child: becomes the program, or writes to a pipe the `errno` that says why it cannot.
[[noreturn]] void become(const preparation& ready, const descriptor& report) {
  const plan& what = ready.what;
  if (what.own_group) ::setpgid(0, 0);
  ::prctl(PR_SET_PDEATHSIG, what.signal_when_orphaned);
  // The parent may have died before that took effect.
  if (what.signal_when_orphaned != 0 && ::getppid() != ready.parent) ::_exit(127);
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::signal(SIGPIPE, SIG_DFL);
  if (what.processor) bind_to(*what.processor);
  for (int to = 0; const descriptor& from : ready.streams) {
    if (from) ::dup2(from.get(), to);
    ++to;
  }
  for (const int each : what.descriptors) ::fcntl(each, F_SETFD, 0);
  const auto execute = what.in_path ? ::execvpe : ::execve;
  execute(ready.words[0], ready.words.data(), ready.environment.data());
  const int why = errno;
  [[maybe_unused]] const ssize_t told = ::write(report.get(), &why, sizeof why);
  ::_exit(127);
}

}  // namespace

bool ending::well() const noexcept { return WIFEXITED(status) && WEXITSTATUS(status) == 0; }

int ending::exit_status() const noexcept {
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::string ending::text() const {
  if (WIFSIGNALED(status)) {
    return "was killed by signal " + std::to_string(WTERMSIG(status)) + " (" +
           ::strsignal(WTERMSIG(status)) + ")";
  }
  return "exited with status " + std::to_string(WEXITSTATUS(status));
}

descriptor open_process(pid_t id) {
  return descriptor(static_cast<int>(::syscall(SYS_pidfd_open, id, 0)));
}

child::~child() {
  if (id_ == 0) return;
  signal(SIGKILL);
  wait();
}

ending child::wait() {
  int status = W_EXITCODE(127, 0);
  while (!ended_ && ::waitpid(id_, &status, 0) < 0 && errno == EINTR) {
  }
  if (!ended_) ended_ = ending{status};
  return *ended_;
}

std::optional<ending> child::wait_for(std::chrono::milliseconds patience) {
  using clock = std::chrono::steady_clock;
  const auto until = clock::now() + patience;
  pollfd watched{handle_.get(), POLLIN, 0};
  while (!ended_) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now()).count();
    if (::poll(&watched, 1, static_cast<int>(std::max<long>(left, 0))) > 0) return wait();
    if (left <= 0) break;
  }
  return ended_;
}

void child::signal(int number) const {
  // Once it was waited for, its number is free to be somebody else's.
  if (!ended_) ::kill(own_group_ ? -id_ : id_, number);
}

child start(const plan& what) {
  const std::string& program = what.command.front();
  const preparation ready{what};
  // The child's end closes by itself when the program runs.
  pipe_ends report = make_pipe();
  const pid_t id = ::fork();
  if (id < 0) fail("starting " + program);
  if (id == 0) become(ready, report.writing);
  report.writing = descriptor();
  int why = 0;
  while (::read(report.reading.get(), &why, sizeof why) < 0 && errno == EINTR) {
  }
  child started(id, what.own_group);
  if (why != 0) throw cannot_run(why, std::generic_category(), program);
  if (started.ended_descriptor() < 0) fail("watching " + program);
  return started;
}

pipe_ends make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) fail("making a pipe");
  return {descriptor(ends[0]), descriptor(ends[1])};
}

}  // namespace muster::process
