#include "tools/command/run/hosts.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <list>
#include <optional>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <muster/base/error.hpp>
#include <muster/base/version.hpp>
#include <muster/environment/environment.hpp>

#include "tools/command/run/input.hpp"
#include "tools/command/shared/made_hosts.hpp"
#include "tools/process/process.hpp"
#include "transports/cluster/rendezvous.hpp"
#include "transports/tcp/interfaces.hpp"

namespace muster::launch {
namespace {

using json = nlohmann::json;

[[noreturn]] void refuse(const std::string& why) { throw error(errc::invalid_argument, why); }

/// How many ranks each host gets: in order, as many as it may have.
std::vector<std::size_t> shares_of(const options& what) {
  std::vector<std::size_t> shares;
  std::size_t left = what.ranks;
  for (const host& each : what.hosts) {
    shares.push_back(std::min(left, each.slots));
    left -= shares.back();
  }
  if (left == 0) return shares;
  refuse("run: --hosts has room for " + std::to_string(what.ranks - left) + " ranks; expected " +
         std::to_string(what.ranks) + ", as -n says");
}

// ---- what a host is told

json environment_to_pass(const options& what) {
  json all = json::object();
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string name(text.substr(0, text.find('=')));
    const bool is_ours = name.starts_with("MUSTER_") && name != environment::job.name &&
                         name != environment::respawn.name;
    if (is_ours || std::ranges::find(what.passed_on, name) != what.passed_on.end()) {
      all[name] = std::string(text.substr(std::min(name.size() + 1, text.size())));
    }
  }
  return all;
}

/// \param input the port at which rank 0's input is given
json order_for(const options& what, const meeting& at, std::uint16_t input, std::size_t first,
               std::size_t ranks) {
  return {{"version", version},
          {"first", first},
          {"ranks", ranks},
          {"size", at.size},
          {"hosts", at.place.hosts},
          {"port", at.place.port},
          {"input", input},
          {"key", at.place.key.bytes},
          {"folder", std::filesystem::current_path().string()},
          {"command", what.command},
          {"bind", what.bind_to_core},
          {"tag", what.tag_output},
          {"kernel_copies_from", what.kernel_copies_from},
          {"grace", what.grace.count()},
          {"respawn", what.respawn},
          {"environment", environment_to_pass(what)}};
}

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream left(text);
  std::vector<std::string> words;
  for (std::string word; left >> word;) words.push_back(word);
  if (words.empty()) refuse("--remote-shell: names no command; expected such as ssh");
  return words;
}

/// A launcher on a host, and our way to tell it something.
struct remote {
  std::string name;
  process::child child;
  descriptor control;
};

remote start_on(const options& what, const host& where, const json& order) {
  process::pipe_ends ends = process::make_pipe();
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  try {
    std::vector<std::string> command = words_of(what.remote_shell);
    command.insert(command.end(), {where.name, self, "run-share"});
    process::child started = process::start({.command = std::move(command),
                                             .in_path = true,
                                             .input = ends.reading.get(),
                                             .signal_when_orphaned = SIGTERM});
    const std::string text = order.dump() + "\n";
    // Little enough for a pipe; a host that cannot be reached breaks it.
    if (::write(ends.writing.get(), text.data(), text.size()) < 0) {
      throw error(errc::resource, "run: cannot tell host '" + where.name + "' what to start");
    }
    return {where.name, std::move(started), std::move(ends.writing)};
  } catch (const process::cannot_run& why) {
    refuse("run: cannot run '" + what.remote_shell + "': " + why.code().message() +
           "; expected a remote shell, as --remote-shell says");
  }
}

/// Where the launcher can be reached from the hosts.
tcp::listener listen_for_hosts() {
  const tcp::address usual = [] {
    try {
      return tcp::first_address_beyond_loopback();
    } catch (const error&) {
      return tcp::address::resolve("127.0.0.1", 0);
    }
  }();
  return tcp::listen_as_asked(usual);
}

/// Signals that are passed on, as readable events. Threads that begin after it do not get them.
class passed_signals {
public:
  passed_signals() {
    sigset_t wanted;
    sigemptyset(&wanted);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT}) {
      sigaddset(&wanted, signal);
    }
    ::sigprocmask(SIG_BLOCK, &wanted, &before_);
    events_ = descriptor(::signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC));
  }
  ~passed_signals() { ::sigprocmask(SIG_SETMASK, &before_, nullptr); }
  passed_signals(const passed_signals&) = delete;
  passed_signals& operator=(const passed_signals&) = delete;

  int descriptor_to_poll() const noexcept { return events_.get(); }
  /// 0: there is none.
  int next() const {
    signalfd_siginfo event{};
    const bool any = ::read(events_.get(), &event, sizeof event) == sizeof event;
    return any ? static_cast<int>(event.ssi_signo) : 0;
  }

private:
  sigset_t before_{};
  descriptor events_;
};

/// Until all have ended: ends the others when one fails, and passes signals on.
class supervision {
public:
  /// \param grace as of `options`
  supervision(std::list<remote> all, const passed_signals& signals, std::chrono::seconds grace)
      : all_(std::move(all)), signals_(signals), grace_(grace) {}

  int run() {
    while (!all_.empty()) {
      std::vector<pollfd> entries;
      entries.push_back({.fd = signals_.descriptor_to_poll(), .events = POLLIN, .revents = 0});
      for (const remote& each : all_) {
        entries.push_back({.fd = each.child.ended_descriptor(), .events = POLLIN, .revents = 0});
      }
      ::poll(entries.data(), entries.size(), ending_since_ ? 100 : -1);
      pass_signals_on();
      reap();
      enforce_end();
    }
    return exit_status_;
  }

private:
  using clock = std::chrono::steady_clock;

  void pass_signals_on() {
    while (const int signal = signals_.next()) {
      const auto told = static_cast<char>(signal);
      for (const remote& each : all_) {
        if (::write(each.control.get(), &told, 1) < 0) continue;  // its launcher is ending
      }
      if (signal == SIGINT || signal == SIGTERM || signal == SIGHUP) begin_ending();
    }
  }

  void reap() {
    for (auto each = all_.begin(); each != all_.end();) {
      const auto how = each->child.wait_for(std::chrono::milliseconds(0));
      if (!how) {
        ++each;
        continue;
      }
      const std::string name = each->name;
      each = all_.erase(each);
      if (how->well() || exit_status_ != 0) continue;
      exit_status_ = how->exit_status();
      std::fprintf(stderr, "muster run: host %s: the launcher %s%s\n", name.c_str(),
                   how->text().c_str(), all_.empty() ? "" : "; ending the others");
      for (remote& other : all_) other.control = descriptor();
      begin_ending();
    }
  }

  void begin_ending() {
    if (!ending_since_) ending_since_ = clock::now();
  }

  /// Remote shells of hosts that do not answer end, too: later than ranks that ignore all else.
  void enforce_end() {
    const auto patience = 2 * grace_ + std::chrono::seconds(4);
    if (!ending_since_ || clock::now() - *ending_since_ < patience) return;
    for (const remote& each : all_) each.child.signal(SIGKILL);
  }

  std::list<remote> all_;
  const passed_signals& signals_;
  std::chrono::seconds grace_;
  std::optional<clock::time_point> ending_since_;
  int exit_status_ = 0;
};

/// One line, byte by byte: what comes after it is not ours.
std::string read_line(int from) {
  std::string line;
  for (char next = 0; ::read(from, &next, 1) == 1 && next != '\n';) line += next;
  return line;
}

}  // namespace

descriptor file_of(const tcp::job_key& key) {
  descriptor made(::memfd_create("muster-key", MFD_CLOEXEC));
  if (!made || ::write(made.get(), key.bytes.data(), key.bytes.size()) < 0) {
    throw error(errc::resource, "run: no memory for the job's key");
  }
  return made;
}

std::vector<host> parse_hosts(std::string_view text) {
  std::vector<host> all;
  for (std::string_view left = text; !left.empty();) {
    const std::string_view part = left.substr(0, left.find(','));
    left.remove_prefix(std::min(part.size() + 1, left.size()));
    const std::size_t colon = std::min(part.rfind(':'), part.size());
    host one{.name = std::string(part.substr(0, colon))};
    const std::string_view slots = part.substr(std::min(colon + 1, part.size()));
    const auto [end, code] = std::from_chars(slots.begin(), slots.end(), one.slots);
    const bool has_slots = colon == part.size() || (code == std::errc{} && end == slots.end());
    if (one.name.empty() || !has_slots || one.slots == 0) {
      refuse("--hosts: '" + std::string(part) + "' is no host; expected such as a:8,b:8");
    }
    all.push_back(std::move(one));
  }
  if (all.empty()) refuse("--hosts: names no host; expected such as a:8,b:8");
  return all;
}

int run_on_hosts(const options& what) {
  const std::vector<std::size_t> shares = shares_of(what);
  const passed_signals signals;
  tcp::listener door = listen_for_hosts();
  meeting at;
  at.place.hosts = {door.at.host_text()};
  at.place.port = door.at.port();
  at.place.key = tcp::job_key::random();
  at.size = what.ranks;
  const cluster::rendezvous_server server(
      std::move(door), what.ranks, at.place.key, at.place.patience,
      what.respawn != 0 ? cluster::meets::again : cluster::meets::once);
  tcp::listener input_door = listen_for_hosts();
  const std::uint16_t input_port = input_door.at.port();
  const input_server input(std::move(input_door), what.ranks, at.place.key);
  std::list<remote> all;
  std::size_t first = 0;
  ::signal(SIGPIPE, SIG_IGN);
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] == 0) continue;
    all.push_back(start_on(what, what.hosts[i], order_for(what, at, input_port, first, shares[i])));
    first += shares[i];
  }
  return supervision(std::move(all), signals, what.grace).run();
}

void run_on_made_hosts(const options& what) {
  std::vector<std::string> words = {"run",
                                    "-n",
                                    std::to_string(what.ranks),
                                    "--hosts",
                                    made_hosts::list(what.ranks, what.hosts_made),
                                    "--grace",
                                    std::to_string(what.grace.count()),
                                    "--respawn",
                                    std::to_string(what.respawn),
                                    "--remote-shell",
                                    made_hosts::remote_shell()};
  if (what.tag_output) words.push_back("--tag-output");
  if (what.kernel_copies_from != 0) {
    words.insert(words.end(), {"--kernel-copies-from", std::to_string(what.kernel_copies_from)});
  }
  for (const std::string& name : what.passed_on) words.insert(words.end(), {"-x", name});
  words.insert(words.end(), what.command.begin(), what.command.end());
  made_hosts::run_self_among({what.hosts_made, what.link_rate}, words);
}

int run_share_as_told() {
  const json order = json::parse(read_line(STDIN_FILENO), nullptr, false);
  if (order.is_discarded()) refuse("run-share: no order on its input; `muster run` gives it one");
  if (const std::string theirs = order.value("version", "another version"); theirs != version) {
    refuse("run: this host has Muster " + std::string(version) + ", the one that started the job " +
           theirs + "; expected one version");
  }
  meeting at;
  at.place.hosts = order.at("hosts");
  at.place.port = order.at("port");
  at.place.key.bytes = order.at("key");
  at.size = order.at("size");
  options what;
  what.ranks = order.at("ranks");
  what.command = order.at("command");
  what.bind_to_core = order.at("bind");
  what.tag_output = order.at("tag");
  what.kernel_copies_from = order.at("kernel_copies_from");
  what.respawn = order.at("respawn");
  what.grace = std::chrono::seconds(order.at("grace").get<unsigned>());
  const std::string folder = order.at("folder");
  if (::chdir(folder.c_str()) != 0) {
    refuse("run: there is no folder '" + folder + "' on this host; expected the one of the job");
  }
  for (const auto& [name, value] : order.at("environment").items()) {
    ::setenv(name.c_str(), value.get<std::string>().c_str(), 1);
  }
  share some{.first = order.at("first"), .ranks = what.ranks};
  some.key = file_of(at.place.key);
  if (some.first == 0) {
    cluster::meeting_place input = at.place;
    input.port = order.at("input");
    some.input = connect_to_input(input, at.size);
  }
  some.at = std::move(at);
  some.control = descriptor(::fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 3));
  return run_share(what, std::move(some));
}

}  // namespace muster::launch
