#include "tests/soak/strike.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <string>

#include <muster/base/descriptor.hpp>

#include "tests/soak/memory_file.hpp"

namespace muster::testing {
namespace {

timespec length(std::chrono::nanoseconds of) {
  constexpr std::chrono::nanoseconds second = std::chrono::seconds(1);
  return {of / second, (of % second).count()};
}

}  // namespace

helper::~helper() {
  if (child_ == 0) return;  // it is another's
  int status = -1;
  if (child_ > 0 && ::waitpid(child_, &status, 0) == child_ && status == 0) return;
  std::fputs("what was to happen to this rank has not\n", stderr);
  std::abort();
}

helper stop_process(std::chrono::microseconds after, std::chrono::milliseconds how_long) {
  return helper([whom = ::getpid(), until = length(after), then = length(how_long)] {
    ::nanosleep(&until, nullptr);
    if (::getppid() == whom) ::kill(whom, SIGSTOP);
    ::nanosleep(&then, nullptr);
    if (::getppid() == whom) ::kill(whom, SIGCONT);
    ::_exit(0);
  });
}

helper cut_host_off(std::chrono::microseconds after, std::chrono::milliseconds how_long) {
  const auto seconds = [](auto time) { return std::chrono::duration<double>(time).count(); };
  const std::string script = "sleep " + std::to_string(seconds(after)) +
                             "; ip link set eth0 down && sleep " +
                             std::to_string(seconds(how_long)) + " && ip link set eth0 up";
  return helper([text = script.c_str()] { ::execl("/bin/sh", "sh", "-c", text, nullptr); });
}

// New descriptors have the lowest number that is free.
no_descriptors::no_descriptors() {
  if (::getrlimit(RLIMIT_NOFILE, &before_) != 0) fail(errno, "getrlimit");
  const descriptor lowest(::dup(STDERR_FILENO));
  if (!lowest) fail(errno, "dup");
  const rlimit none{static_cast<rlim_t>(lowest.get()), before_.rlim_max};
  if (::setrlimit(RLIMIT_NOFILE, &none) != 0) fail(errno, "setrlimit");
}

no_descriptors::~no_descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }

}  // namespace muster::testing
