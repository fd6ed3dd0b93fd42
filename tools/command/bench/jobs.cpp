#include "tools/command/bench/jobs.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace muster::bench {
namespace {

using clock = std::chrono::steady_clock;

descriptor listen_at(const std::filesystem::path& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.native().size() >= sizeof address.sun_path) {
    throw std::runtime_error("too long for a socket: " + path.string());
  }
  std::strcpy(address.sun_path, path.c_str());
  std::filesystem::remove(path);  // of an earlier job of that name
  descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  constexpr int backlog = 4096;
  if (!socket ||
      bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0 ||
      listen(socket.get(), backlog) < 0) {
    throw std::system_error(errno, std::generic_category(), "listening at " + path.string());
  }
  return socket;
}

command with_socket(command launch, const std::filesystem::path& socket,
                    const std::filesystem::path& folder) {
  launch.environment.push_back(fmt::format("{}={}", socket_variable, socket.string()));
  // What the launchers leave lying about goes with our folder.
  launch.environment.push_back("TMPDIR=" + folder.string());
  return launch;
}

process::child start_launcher(const command& launch, const std::filesystem::path& log) {
  try {
    return start_logged(launch, log);
  } catch (const process::cannot_run& why) {
    throw job_failure(why.what());
  }
}

pid_t process_behind(const descriptor& connection) {
  ucred credentials{};
  socklen_t size = sizeof credentials;
  getsockopt(connection.get(), SOL_SOCKET, SO_PEERCRED, &credentials, &size);
  return credentials.pid;
}

/// Sleeps until one of the descriptors is readable or time is up; false when it is.
bool wait_readable(std::vector<pollfd>& watched, clock::time_point until) {
  while (true) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - clock::now()).count();
    const int ready =
        poll(watched.data(), watched.size(), static_cast<int>(std::max<long>(left, 0)));
    if (ready > 0) return true;
    if (ready == 0) return false;
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "poll");
  }
}

double in_seconds(std::chrono::milliseconds time) {
  return std::chrono::duration<double>(time).count();
}

template <class Record>
bool receive(const descriptor& socket, Record& record) {
  ssize_t got = 0;
  do {
    got = recv(socket.get(), &record, sizeof record, 0);
  } while (got < 0 && errno == EINTR);
  return got == sizeof record;
}

bool transmit(const descriptor& socket, const order& what) {
  return send(socket.get(), &what, sizeof what, MSG_NOSIGNAL) == sizeof what;
}

}  // namespace

job::job(std::string name, command launch, std::size_t ranks, const std::filesystem::path& folder,
         const interrupt_watch& interrupts, std::chrono::milliseconds patience)
    : name_(std::move(name)),
      log_(folder / (name_ + ".log")),
      interrupts_(interrupts),
      listener_(listen_at(folder / name_)),
      launcher_(start_launcher(with_socket(std::move(launch), folder / name_, folder), log_)) {
  adopt_orphans();
  try {
    await_hellos(ranks, patience);
  } catch (...) {
    end_by_force();
    throw;
  }
  usable_ = true;
}

job::~job() {
  bool told = usable_;
  order leave;
  leave.leave = true;
  for (const member& rank : members_) told = told && transmit(rank.socket, leave);
  if (told) note_shared_memory();
  constexpr std::chrono::seconds patience{5};
  if (!told || !launcher_.wait_for(patience)) end_by_force();
}

job_answer job::run(const order& what, std::chrono::milliseconds patience) {
  usable_ = false;  // until all have answered
  for (std::size_t rank = 0; rank < members_.size(); ++rank) {
    members_[rank].answered = false;
    if (!transmit(members_[rank].socket, what)) fail(fmt::format("rank {} is gone", rank));
  }
  job_answer all;
  const auto until = clock::now() + patience;
  for (std::size_t left = members_.size(); left > 0;) {
    std::vector<pollfd> watched{{interrupts_.get(), POLLIN, 0}};
    for (const member& rank : members_) {
      watched.push_back({rank.answered ? -1 : rank.socket.get(), POLLIN, 0});
    }
    if (!wait_readable(watched, until)) {
      fail(fmt::format("{} of {} ranks gave no answer within {:g} s", left, members_.size(),
                       in_seconds(patience)));
    }
    interrupts_.check();
    for (std::size_t rank = 0; rank < members_.size(); ++rank) {
      if (watched[rank + 1].revents == 0) continue;
      take_answer(rank, all);
      --left;
    }
  }
  usable_ = true;
  return all;
}

void job::take_answer(std::size_t rank, job_answer& all) {
  answer one;
  if (!receive(members_[rank].socket, one)) fail(fmt::format("rank {} died", rank));
  if (one.refused) all.refusal = one.error.view();
  if (!one.refused && !one.error.view().empty())
    fail(fmt::format("rank {}: {}", rank, one.error.view()));
  members_[rank].answered = true;
  all.slowest_us = std::max(all.slowest_us, one.mean_us);
  all.average_us += one.mean_us / static_cast<double>(members_.size());
  all.period_us = std::max(all.period_us, one.period_us);
  all.sent += one.sent;
  all.verified = all.verified && one.verified;
  if (rank == 0) all.algorithm = one.algorithm.view();
}

void job::await_hellos(std::size_t ranks, std::chrono::milliseconds patience) {
  const auto until = clock::now() + patience;
  for (std::size_t here = 0; here < ranks; ++here) {
    std::vector<pollfd> watched{{listener_.get(), POLLIN, 0},
                                {launcher_.ended_descriptor(), POLLIN, 0},
                                {interrupts_.get(), POLLIN, 0}};
    if (!wait_readable(watched, until)) {
      fail(fmt::format("only {} of {} ranks were here after {:g} s", here, ranks,
                       in_seconds(patience)));
    }
    interrupts_.check();
    if (watched[0].revents == 0) fail("it ended before all ranks were here");
    admit(descriptor(accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC)), ranks);
  }
  std::sort(members_.begin(), members_.end(),
            [](const member& one, const member& other) { return one.rank < other.rank; });
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    if (members_[rank].rank != rank) fail(fmt::format("rank {} did not come", rank));
  }
}

void job::admit(descriptor connection, std::size_t ranks) {
  hello handshake;
  if (!connection || !receive(connection, handshake) || handshake.magic != hello::expected_magic) {
    fail("something that is not a worker connected");
  }
  if (handshake.ranks != static_cast<std::int32_t>(ranks)) {
    fail(fmt::format("a rank believes in a job of {} ranks, not {}", handshake.ranks, ranks));
  }
  process_handle process(process_behind(connection));
  version_ = handshake.version.view();
  members_.push_back(
      {std::move(connection), std::move(process), static_cast<std::size_t>(handshake.rank)});
}

void job::note_shared_memory() {
  for (const member& rank : members_) {
    for (auto& file : rank.process.shared_memory_files()) shared_memory_.insert(std::move(file));
  }
}

void job::end_by_force() {
  note_shared_memory();
  constexpr std::chrono::seconds patience{1};
  launcher_.signal(SIGTERM);  // the launchers pass it on to ranks outside their group
  launcher_.wait_for(patience);
  for (const member& rank : members_) rank.process.kill();
  launcher_.wait_for(patience);
  launcher_.signal(SIGKILL);
  launcher_.wait_for(patience);
  for (const member& rank : members_) rank.process.reap();
  for (const auto& file : shared_memory_) {
    std::error_code ignored;
    std::filesystem::remove(file, ignored);
  }
}

void job::fail(const std::string& what) {
  // A launcher notices a dead rank a moment after we do, and knows more about it.
  constexpr std::chrono::milliseconds moment{300};
  std::string text = what;
  if (const auto ended = launcher_.wait_for(moment)) text += "; its launcher " + ended->text();
  constexpr std::size_t most_lines = 6;
  if (const std::string said = last_lines(log_, most_lines); !said.empty()) {
    text += "; it said last:\n" + said;
  }
  throw job_failure(text);
}

}  // namespace muster::bench
