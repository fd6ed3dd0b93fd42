#include "tests/soak/strike.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <muster/base/descriptor.hpp>

#include "tests/soak/memory_file.hpp"

namespace muster::testing {
namespace {

timespec length(std::chrono::nanoseconds of) {
  constexpr std::chrono::nanoseconds second = std::chrono::seconds(1);
  return {of / second, (of % second).count()};
}

/// As a shell's words have it.
std::string seconds(std::chrono::microseconds time) {
  return std::to_string(std::chrono::duration<double>(time).count());
}

helper run_script(const std::string& script) {
  return helper([text = script.c_str()] { ::execl("/bin/sh", "sh", "-c", text, nullptr); });
}

struct ports {
  unsigned here = 0;
  unsigned there = 0;
};

using naming = int(int, sockaddr*, socklen_t*);

/// 0: it is no socket, or has none.
unsigned port_of(int socket, naming* which) {
  sockaddr_in name{};
  socklen_t length = sizeof name;
  if (which(socket, reinterpret_cast<sockaddr*>(&name), &length) != 0) return 0;
  return name.sin_family == AF_INET ? ntohs(name.sin_port) : 0;
}

std::vector<ports> accepted_connections() {
  std::set<unsigned> listening;
  std::vector<ports> all;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    const int each = std::stoi(entry.path().filename());
    int listens = 0;
    socklen_t length = sizeof listens;
    ::getsockopt(each, SOL_SOCKET, SO_ACCEPTCONN, &listens, &length);
    const ports of{port_of(each, ::getsockname), port_of(each, ::getpeername)};
    if (listens != 0) listening.insert(of.here);
    if (of.there != 0) all.push_back(of);
  }
  std::erase_if(all, [&](const ports& each) { return !listening.contains(each.here); });
  return all;
}

/// By then a pair that talks has all of its connections.
constexpr std::chrono::milliseconds meeting(100);

/// Ends one of these, and tells the other side.
std::string end_connection() {
  const std::vector<ports> all = accepted_connections();
  if (all.empty()) return "true";
  const ports& one = all.back();
  return "ss -K -t -n sport = :" + std::to_string(one.here) +
         " and dport = :" + std::to_string(one.there) + " >/dev/null";
}

/// Frames go to where nobody is. Others' may take the link down meanwhile, and forget that.
std::string while_mute(std::size_t hosts, const std::string& script) {
  const std::string all = "for host in $(seq " + std::to_string(hosts) + "); do ip neigh ";
  const std::string address = " 10.77.0.$host dev eth0";
  return all + "replace" + address +
         " lladdr 02:00:00:00:00:00 nud permanent 2>/dev/null ||"
         " test -z \"$(ip link show dev eth0 up)\" || exit 1; done; " +
         script + "; status=$?; " + all + "del" + address + " 2>/dev/null; done; exit $status";
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

helper end_process(std::chrono::milliseconds after) {
  return helper([whom = ::getpid(), then = length(after)] {
    ::nanosleep(&then, nullptr);
    if (::getppid() == whom) ::kill(whom, SIGKILL);
    ::_exit(0);
  });
}

helper cut_host_off(std::chrono::microseconds after, std::chrono::milliseconds how_long) {
  return run_script("sleep " + seconds(after) + "; ip link set eth0 down && sleep " +
                    seconds(how_long) + " && ip link set eth0 up");
}

helper mute_host(std::size_t hosts, std::chrono::microseconds after,
                 std::chrono::milliseconds how_long) {
  return run_script("sleep " + seconds(after) + "; " +
                    while_mute(hosts, "sleep " + seconds(how_long)));
}

helper end_host(std::span<const pid_t> processes, std::chrono::microseconds after) {
  std::string all;
  for (const pid_t each : processes) all += " " + std::to_string(each);
  return run_script("sleep " + seconds(after) + "; ip link set eth0 down; kill -9" + all);
}

helper reset_connection(std::chrono::microseconds after) {
  return run_script("sleep " + seconds(after + meeting) + "; " + end_connection());
}

helper halve_connection(std::size_t hosts, std::chrono::microseconds after) {
  return run_script("sleep " + seconds(after + meeting) + "; " +
                    while_mute(hosts, end_connection()));
}

void run_out_of_memory(const std::string& group) {
  const descriptor members(::open((group + "/cgroup.procs").c_str(), O_WRONLY | O_CLOEXEC));
  if (!members || ::write(members.get(), "0", 1) != 1) fail(errno, "control group");
  constexpr std::size_t more = 64 << 20;  // than it has
  const std::unique_ptr<char[]> memory(new char[more]);
  for (std::size_t i = 0; i < more; i += 4096) *const_cast<volatile char*>(&memory[i]) = 1;
  std::fputs("a control group's limit was not kept\n", stderr);
  std::abort();
}

bool fill_shm() {
  if (::unshare(CLONE_NEWNS) != 0) return false;
  if (::mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  if (::mount("none", "/dev/shm", "tmpfs", 0, "size=4096") != 0) return false;
  const descriptor file(::open("/dev/shm/full", O_WRONLY | O_CREAT | O_CLOEXEC, S_IRUSR));
  const std::vector<char> page(4096);
  if (!file || ::write(file.get(), page.data(), page.size()) < 0) return false;
  return ::write(file.get(), page.data(), 1) < 0 && errno == ENOSPC;
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
