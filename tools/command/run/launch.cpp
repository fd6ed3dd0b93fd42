#include "tools/command/run/launch.hpp"

#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <optional>
#include <system_error>
#include <utility>

#include <muster/base/error.hpp>
#include <muster/environment/environment.hpp>
#include <muster/team/topology.hpp>

#include "tools/command/run/hosts.hpp"
#include "tools/command/run/respawn.hpp"
#include "tools/command/run/tagged_output.hpp"
#include "tools/library/recording.hpp"
#include "tools/process/process.hpp"
#include "transports/shm/job.hpp"
#include "transports/shm/measure.hpp"
#include "transports/shm/stop_watch.hpp"
#include "transports/tcp/interfaces.hpp"

namespace muster::launch {
namespace {

using clock = std::chrono::steady_clock;

/// Signals as readable events, for the life of the object.
class signal_events {
public:
  signal_events() {
    sigset_t wanted;
    sigemptyset(&wanted);
    for (const int signal : {SIGCHLD, SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGCONT,
                             SIGALRM, SIGWINCH}) {
      sigaddset(&wanted, signal);
    }
    ::sigprocmask(SIG_BLOCK, &wanted, &before_);
    descriptor_ = ::signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC);
    if (descriptor_ < 0) throw error(errc::resource, "run: cannot make a signalfd");
  }
  ~signal_events() {
    ::close(descriptor_);
    ::sigprocmask(SIG_SETMASK, &before_, nullptr);
  }
  signal_events(const signal_events&) = delete;
  signal_events& operator=(const signal_events&) = delete;

  int descriptor() const noexcept { return descriptor_; }
  bool next(signalfd_siginfo& event) const {
    return ::read(descriptor_, &event, sizeof event) == sizeof event;
  }

private:
  sigset_t before_;
  int descriptor_;
};

class launcher {
public:
  launcher(const options& what, share some)
      : what_(what),
        share_(std::move(some)),
        machine_(topology::read()),
        timeout_(tcp::timeout_asked_for()),
        job_(shm::job::create(job_options())),
        stops_(stop_watches()),
        respawn_(what.respawn, share_) {
    // Whatever a rank leaves behind becomes this process's child and is ended with the job.
    ::prctl(PR_SET_CHILD_SUBREAPER, 1);
  }
  ~launcher() { end_everything(); }
  launcher(const launcher&) = delete;
  launcher& operator=(const launcher&) = delete;

  int run() {
    for (std::size_t local = 0; local < share_.ranks; ++local) start_rank(local);
    share_.input = {};  // whoever gives it is to learn when rank 0 reads no more
    while (!running_.empty()) {
      wait_for_something();
      pass_signals_on();
      reap();
      look_for_stopped();
      enforce_grace();
    }
    while (!outputs_.empty()) wait_for_something();
    return exit_status_;
  }

private:
  bool bound() const { return what_.bind_to_core; }

  shm::job_options job_options() const {
    shm::job_options job;
    job.places = machine_.places(share_.ranks, what_.nodes, bound());
    job.measured = shm::measure(shm::ranks_are::processes);
    job.measured.foreign_by_hand = what_.kernel_copies_from;
    return job;
  }

  std::vector<shm::stop_watch> stop_watches() const {
    std::vector<shm::stop_watch> all;
    for (std::size_t local = 0; local < share_.ranks; ++local) {
      all.emplace_back(job_, local, timeout_);
    }
    return all;
  }

  /// \param local a rank's place among those that are started here
  void start_rank(std::size_t local) {
    try {
      const descriptor output = tag(share_.first + local, STDOUT_FILENO);
      const descriptor errors = tag(share_.first + local, STDERR_FILENO);
      running_.emplace(process::start(plan_for(local, output, errors)).release(), local);
    } catch (const process::cannot_run& why) {
      throw error(errc::invalid_argument,
                  "run: cannot run '" + what_.command.front() + "': " + why.code().message());
    } catch (const std::system_error& why) {
      throw error(errc::resource, std::string("run: ") + why.what());
    }
  }

  /// Only rank 0 has input, the launcher's. A rank dies with the launcher.
  process::plan plan_for(std::size_t local, const descriptor& output,
                         const descriptor& errors) const {
    process::plan plan{.command = what_.command,
                       .in_path = true,
                       .environment = {},
                       .input = input_for(local),
                       .output = output.get(),
                       .errors = errors.get(),
                       .descriptors = {},
                       .signal_when_orphaned = SIGKILL};
    if (!respawn_.was_started_again(local)) {
      plan.environment = {environment::job.name + ("=" + environment_for(local))};
      plan.descriptors = job_.descriptors_for(local);
      if (share_.key) plan.descriptors.push_back(share_.key.get());
    }
    respawn_.add_to(plan, local);
    if (bound()) plan.processor = machine_.cores()[local % machine_.cores().size()].processor;
    return plan;
  }

  int input_for(std::size_t local) const {
    if (share_.first + local != 0) return process::nothing;
    if (share_.input) return share_.input.get();
    return share_.at ? process::nothing : process::inherited;  // started again, it has read it
  }

  std::string environment_for(std::size_t local) const {
    const std::string here = job_.environment_for(local);
    if (!share_.at) return here;
    meeting at = *share_.at;
    at.rank = share_.first + local;
    at.machine = share_.first;
    return muster::launcher::text_for_launched(at, share_.key.get(), here);
  }

  /// The writing end for a rank's stream whose lines are to be tagged; empty where none are.
  descriptor tag(std::size_t rank, int to) {
    if (!what_.tag_output) return {};
    process::pipe_ends ends = process::make_pipe();
    outputs_.emplace_back(rank, std::move(ends.reading), to);
    return std::move(ends.writing);
  }

  void wait_for_something() {
    std::vector<pollfd> entries;
    entries.push_back({.fd = signals_.descriptor(), .events = POLLIN, .revents = 0});
    entries.push_back({.fd = share_.control.get(), .events = POLLIN, .revents = 0});
    for (const tagged_output& output : outputs_) {
      entries.push_back({.fd = output.descriptor(), .events = POLLIN, .revents = 0});
    }
    // A rank's orphan may hold its pipe open for ever: once all ranks have ended, what is there now
    // is all there is.
    const int ready = ::poll(entries.data(), entries.size(), running_.empty() ? 0 : limit_ms());
    std::vector<tagged_output> open;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      const bool has_more = entries[i + 2].revents == 0 ? !running_.empty() : outputs_[i].pass_on();
      if (has_more) open.push_back(std::move(outputs_[i]));
    }
    if (ready >= 0) outputs_.swap(open);
    if (ready > 0 && entries[1].revents != 0) obey();
  }

  int limit_ms() const {
    if (failed_at_) return 100;
    if (timeout_.count() == 0 || running_.size() < 2) return -1;
    return static_cast<int>(shm::stop_watch::between_looks(timeout_).count());
  }

  /// What the launcher that started this one says: signals, a byte each. Its end is that of all.
  void obey() {
    char signal = 0;
    if (::read(share_.control.get(), &signal, 1) == 1) {
      respawn_.note(signal);
      return signal_all(signal);
    }
    share_.control = descriptor();
    if (!failed_at_) failed_at_ = clock::now();
    exit_status_ = exit_status_ == 0 ? 1 : exit_status_;
  }

  void pass_signals_on() {
    signalfd_siginfo event{};
    while (signals_.next(event)) {
      if (event.ssi_signo == SIGCHLD) continue;
      respawn_.note(static_cast<int>(event.ssi_signo));
      // What the terminal sends goes to the whole foreground group, ranks included.
      if (event.ssi_code == SI_KERNEL) continue;
      signal_all(static_cast<int>(event.ssi_signo));
    }
  }

  void signal_all(int signal) const {
    for (const auto& [process, local] : running_) ::kill(process, signal);
  }

  void reap() {
    int status = 0;
    for (pid_t process; (process = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      const auto entry = running_.find(process);
      if (entry == running_.end()) continue;  // a rank's orphan
      const std::size_t local = entry->second;
      running_.erase(entry);
      rank_ended(local, process, process::ending{status});
    }
  }

  std::string name_of(std::size_t local, pid_t process) const {
    return "rank " + std::to_string(share_.first + local) + " (process " + std::to_string(process) +
           ")";
  }

  void hold_for_dead(std::size_t local, const std::string& why) const {
    job_.fail({.code = errc::rank_died, .rank = share_.first + local, .text = why});
    job_.set_state(local, wire::liveness::died);
  }

  void rank_ended(std::size_t local, pid_t process, const process::ending& how) {
    if (how.well()) {
      job_.set_state(local, wire::liveness::left);
      if (!failed_at_) respawn_.tell_of_end(local);
      return;
    }
    const std::string text = name_of(local, process) + " " + how.text();
    // A rank that ends because another failed is not what went wrong.
    hold_for_dead(local, text);
    if (failed_at_) return;
    if (respawn_.takes(local)) {
      std::fprintf(stderr, "muster run: %s; starting it again (%zu of %zu)\n", text.c_str(),
                   respawn_.times(local), respawn_.most());
      return start_rank(local);
    }
    fail(how.exit_status());
    std::fprintf(stderr, "muster run: %s%s\n", text.c_str(),
                 running_.empty() ? "" : "; ending the others");
  }

  void fail(int exit_status) {
    failed_at_ = clock::now();
    exit_status_ = exit_status;
  }

  /// One that others have waited for in vain is ended: they hold it for dead from now on.
  void look_for_stopped() {
    for (const auto& [process, local] : running_) {
      if (!stops_[local].is_over()) continue;
      const std::string text = name_of(local, process) + " " + stops_[local].text();
      hold_for_dead(local, text);
      std::fprintf(stderr, "muster run: %s, and others wait for it; ending it\n", text.c_str());
      ::kill(process, SIGKILL);
      // Others may end because of it before it has.
      constexpr process::ending killed{SIGKILL};
      if (!failed_at_ && !respawn_.is_on()) fail(killed.exit_status());
    }
  }

  void enforce_grace() {
    if (!failed_at_) return;
    const auto since = clock::now() - *failed_at_;
    if (since > 2 * what_.grace) {
      signal_all(SIGKILL);
    } else if (since > what_.grace && !asked_) {
      asked_ = true;
      signal_all(SIGTERM);
    }
  }

  static std::vector<pid_t> children() {
    const std::string self = std::to_string(::getpid());
    std::ifstream list("/proc/" + self + "/task/" + self + "/children");
    std::vector<pid_t> all;
    for (pid_t process; list >> process;) all.push_back(process);
    return all;
  }

  void end_everything() const noexcept {
    // Each round adopts the children of those it ended.
    for (auto left = children(); !left.empty(); left = children()) {
      for (const pid_t process : left) ::kill(process, SIGKILL);
      for (const pid_t process : left) ::waitpid(process, nullptr, 0);
    }
  }

  const options& what_;
  share share_;
  topology machine_;
  std::chrono::milliseconds timeout_;  // until a stopped rank is taken for lost; 0: never
  shm::job job_;
  std::vector<shm::stop_watch> stops_;  // by place among the ranks that are started here
  signal_events signals_;               // before what has threads of its own
  respawn respawn_;
  std::map<pid_t, std::size_t> running_;  // ranks, by their places among those started here
  std::vector<tagged_output> outputs_;
  std::optional<clock::time_point> failed_at_;
  bool asked_ = false;
  int exit_status_ = 0;
};

}  // namespace

int run_share(const options& what, share some) { return launcher(what, std::move(some)).run(); }

int run(const options& what) {
  if (!what.record_arrivals.empty()) {
    const auto folder = profile::prepare_folder(what.record_arrivals);
    ::setenv(environment::arrivals.name, folder.c_str(), 1);
  }
  if (what.hosts_made != 0) run_on_made_hosts(what);
  if (!what.hosts.empty()) return run_on_hosts(what);
  return run_share(what, {.ranks = what.ranks});
}

}  // namespace muster::launch
