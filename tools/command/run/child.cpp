#include "tools/command/run/child.hpp"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <muster/base/error.hpp>
#include <muster/progress/affinity.hpp>

namespace muster::launch {
namespace {

void read_nothing() {
  const int null = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (null >= 0) ::dup2(null, STDIN_FILENO);
}

/// In the child: everything up to the program itself. Returns only on failure.
void become(const child_plan& plan, pid_t launcher, const std::string& environment,
            char* const* argv) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != launcher) ::_exit(127);  // it died before that took effect
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  if (plan.processor) bind_to(*plan.processor);
  if (plan.rank != 0) read_nothing();
  if (plan.pipes.out >= 0) ::dup2(plan.pipes.out, STDOUT_FILENO);
  if (plan.pipes.err >= 0) ::dup2(plan.pipes.err, STDERR_FILENO);
  for (const int descriptor : plan.job->descriptors_for(plan.rank)) {
    ::fcntl(descriptor, F_SETFD, 0);
  }
  ::setenv(shm::job::environment_name, environment.c_str(), 1);
  ::execvp(argv[0], argv);
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

pid_t start(const child_plan& plan) {
  std::vector<char*> argv;
  for (const std::string& word : *plan.command) argv.push_back(const_cast<char*>(word.c_str()));
  argv.push_back(nullptr);
  const std::string environment = plan.job->environment_for(plan.rank);
  const pid_t launcher = ::getpid();
  // The child's end closes by itself when the program runs, and carries errno when it cannot.
  std::array<int, 2> report{};
  if (::pipe2(report.data(), O_CLOEXEC) != 0) {
    throw error(errc::resource, "run: cannot make a pipe");
  }
  const pid_t child = ::fork();
  if (child == 0) {
    become(plan, launcher, environment, argv.data());
    const int why = errno;
    [[maybe_unused]] const ssize_t told = ::write(report[1], &why, sizeof why);
    ::_exit(127);
  }
  ::close(report[1]);
  int why = 0;
  const bool failed = child < 0 || ::read(report[0], &why, sizeof why) == sizeof why;
  ::close(report[0]);
  if (child < 0) throw error(errc::resource, "run: cannot start a process");
  if (failed) {
    ::waitpid(child, nullptr, 0);
    throw error(errc::invalid_argument,
                "run: cannot run '" + plan.command->front() + "': " + std::strerror(why));
  }
  return child;
}

}  // namespace muster::launch
