#include "tests/soak/survivor.hpp"

#include <sys/syscall.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include <muster/muster.hpp>

#include "tests/harness/refuse_call.hpp"
#include "tests/harness/scarce_memory.hpp"
#include "tests/soak/jumping_clock.hpp"
#include "tests/soak/scoreboard.hpp"
#include "tests/soak/strike.hpp"
#include "tests/soak/usage.hpp"
#include "tools/conformance/build.hpp"
#include "tools/conformance/random.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds patience(rounds(60, 240));
/// Longer than the silence after which a rank of another host is lost.
constexpr std::chrono::seconds shrinking_takes(rounds(15, 60));

/// How this rank ends, where a fault of its own says so.
struct fault_exception : std::runtime_error {
  fault_exception() : std::runtime_error("a fault of the soak") {}
};

std::string host_name() {
  utsname names{};
  ::uname(&names);
  return names.nodename;
}

class survivor {
public:
  survivor(world& here, const faulty_job& job, scores& all, std::string group)
      : all_(here.team()), job_(job), scores_(all), group_(std::move(group)) {
    scores_.process[all_.rank()] = ::getpid();
    scores_.host[all_.rank()] = std::hash<std::string>{}(host_name());
  }

  survivor(const survivor&) = delete;
  survivor& operator=(const survivor&) = delete;

  /// The process is about to end, since an exception has gone too far.
  void terminate() noexcept {
    // Where what others send has no memory: docs/guarantees.md.
    if (scarce_memory::refused() == 0) return;
    note_end();
    ::_exit(7);
  }

  /// Whether all that it saw was right; also where it leaves before the others.
  bool run() {
    if (is_impatient(job_)) meet();
    while (round_ <= job_.rounds) {
      if (!strike_all_due()) return true;
      where_ = "rank " + std::to_string(all_.rank()) + ", generation " +
               std::to_string(generation_) + ", round " + std::to_string(round_);
      const watchdog alive(describe(job_) + "; " + where_, patience, how_to_replay(job_));
      if (attempt([this] { run_round(); })) {
        ++round_;
      } else {
        while (wrong_.empty() && !attempt([this] { go_on(); })) {
        }
      }
      if (!wrong_.empty()) return false;
    }
    return true;
  }
  const std::string& wrong() const { return wrong_; }

private:
  team& here() const { return rest_ ? *rest_ : all_; }

  /// Who has never answered is not missed. In a team of its own: whoever is through may break the
  /// other one at once.
  void meet() {
    const auto apart = start(duplicate(all_)).wait();
    std::vector<std::size_t> all(all_.size());
    start(alltoall(*apart, all)).wait();
  }

  /// The faults of this rank whose time has come. False: it leaves.
  bool strike_all_due() {
    no_descriptors_.reset();
    deadline_.reset();
    failing_allocation_ = 0;
    for (std::size_t i = 0; i < job_.faults.size(); ++i) {
      const fault& each = job_.faults[i];
      if (each.rank != all_.rank() || each.round > round_ || is_struck_[i]) continue;
      is_struck_[i] = true;
      if (!strike(each)) return false;
    }
    return true;
  }

  bool strike(const fault& one) {
    using enum fault::kind;
    if (breaks_team(one.what)) scores_.broken = true;
    switch (one.what) {
      case kill:
        at_any_moment(one, [] { ::kill(::getpid(), SIGKILL); });
        return true;
      case fault::kind::exit:
        at_any_moment(one, [] { ::_exit(7); });
        return true;
      case memory_limit:
        at_any_moment(one, [this] { run_into_limit(); });
        return true;
      case stop_for_good:
        at_any_moment(one, [this] { let_others_give_it_up(); });
        return true;
      case exception:
        note_end();
        throw fault_exception();
      case leave:
        note_end();
        return false;
      case stop:
        helpers_.push_back(stop_process(one.after, 100ms));
        return true;
      case fault::kind::no_descriptors:
        if (one.round == round_) no_descriptors_.emplace();
        return true;
      case refused_copies:
        if (!refuse_call(SYS_process_vm_readv)) wrong_ += "seccomp does not work\n";
        return true;
      case revoke:
        here().revoke("for the soak");
        return true;
      case deadline:
        deadline_ = one.after;
        return true;
      case no_memory:
        failing_allocation_ = one.allocation;
        return true;
      case rail_down:
        helpers_.push_back(cut_host_off(one.after, 300ms));
        return true;
      case mute:
        helpers_.push_back(mute_host(job_.hosts, one.after, 300ms));
        return true;
      case fault::kind::reset:
        helpers_.push_back(reset_connection(one.after));
        return true;
      case half_open:
        helpers_.push_back(halve_connection(job_.hosts, one.after));
        return true;
      case host_lost:
        lose_host(one.after);
        return true;
      case clock_jump:
        set_wall_clock(one.after.count() % 2 == 0 ? 24h : -24h);
        return true;
    }
    return true;
  }

  template <class End>
  void at_any_moment(const fault& which, const End& end) {
    ends_.emplace(which.after, [this, end] {
      note_end();
      end();
    });
  }

  void run_into_limit() const {
    if (group_.empty()) ::kill(::getpid(), SIGKILL);
    run_out_of_memory(group_);
  }

  /// They do after 3 s.
  void let_others_give_it_up() {
    const helper end = end_process(6s);
    ::raise(SIGSTOP);
  }

  void lose_host(std::chrono::microseconds after) {
    std::vector<pid_t> processes;
    for (std::size_t rank = 0; rank < all_.size(); ++rank) {
      if (scores_.host[rank] != scores_.host[all_.rank()]) continue;
      processes.push_back(scores_.process[rank]);
      scores_.gone[rank] = steady_now();
    }
    helpers_.push_back(end_host(processes, after));
  }

  void note_end() { scores_.gone[all_.rank()] = steady_now(); }

  /// True where the step completes; false where it fails as it may when ranks are lost.
  template <class Step>
  bool attempt(const Step& step) {
    try {
      step();
      return true;
    } catch (const error& why) {
      check(why);
    } catch (const std::bad_alloc&) {
      if (failing_allocation_ == 0) throw;
      // Where no call had begun, the others wait for it.
      if (!here().failure()) here().revoke("no memory");
    }
    return false;
  }

  void run_round() {
    if (round_ == job_.rounds) return start(barrier(here())).wait();
    const faulty_round round = make_round(job_, here().size(), generation_, round_);
    if (round.makes_team) make_team();
    findings found;
    const lateness pause = come_late;
    std::optional<scarce_memory> scarce;
    if (failing_allocation_ != 0) scarce.emplace(scarce_memory::number{failing_allocation_});
    try {
      auto all = make_calls(here(), round.calls, round.how, found, pause);
      if (deadline_) all = with_timeout(*deadline_, std::move(all));
      start(here().engine(), std::move(all)).wait();
    } catch (const error&) {
      wrong_ += found.take();
      throw;
    }
    wrong_ += found.take();
  }

  /// Ranks of one machine need no descriptor for another team.
  void make_team() {
    const auto made = start(duplicate(here())).wait();
    start(barrier(*made)).wait();
  }

  void check(const error& why) {
    note_how_soon(why);
    if (is_explained(why)) return;
    wrong_ +=
        std::string("failed, and nothing had happened that explains it: ") + why.what() + "\n";
  }

  bool is_explained(const error& why) const {
    switch (static_cast<errc>(why.code().value())) {
      case errc::rank_died:
      case errc::rank_left:
        return std::ranges::any_of(scores_.gone, [](const auto& at) { return at != 0; });
      case errc::stopped:
      case errc::deadline_exceeded:
      case errc::resource:
      // A call that had no memory to begin is left out, and the next one made instead.
      case errc::mismatched_call:
        return scores_.broken;
      default:
        return false;
    }
  }

  /// How long after the latest sudden end that it may tell of; of others only the beginning is
  /// known.
  void note_how_soon(const error& why) {
    const std::int64_t now = steady_now();
    std::int64_t since = 0;
    for (const fault& each : job_.faults) {
      const std::int64_t at = scores_.gone[each.rank];
      const bool is_sudden = each.what == fault::kind::kill || each.what == fault::kind::exit;
      if (is_sudden && at != 0 && !known_gone_[each.rank]) since = std::max(since, at);
    }
    for (std::size_t rank = 0; rank < job_.ranks; ++rank) known_gone_[rank] = scores_.gone[rank];
    if (why.code() != errc::rank_died || since == 0) return;
    std::int64_t before = scores_.longest;
    while (before < now - since && !scores_.longest.compare_exchange_weak(before, now - since)) {
    }
  }

  /// With those that are left, from the first round that none of them has completed without the
  /// others.
  void go_on() {
    rest_ = start(here().engine(), with_timeout(shrinking_takes, shrink(here()))).wait();
    ++generation_;
    if (rest_->rank() == 0) ++scores_.shrinks;
    check_members();
    round_ = start(allreduce(*rest_, round_, max)).wait();
    check_usage();
  }

  /// All that are there are of the team.
  void check_members() {
    std::vector<std::size_t> members(rest_->size());
    const std::size_t me[] = {all_.rank()};
    start(allgather(*rest_, std::span(me), std::span(members))).wait();
    for (std::size_t rank = 0; rank < job_.ranks; ++rank) {
      // Those that are done need the last barrier no more.
      const bool is_there = scores_.gone[rank] == 0 && !scores_.well[rank];
      if (!is_there || std::ranges::count(members, rank) == 1) continue;
      wrong_ += "rank " + std::to_string(rank) + " is there, and not of the team of " +
                std::to_string(members.size()) + " that are left\n";
    }
  }

  /// From when the team was made anew often enough for what it takes to be there, if what follows
  /// has ended well then, and else from the next time on.
  void check_usage() {
    constexpr std::size_t warm = 8;
    if (generation_ < warm) return;
    no_descriptors_.reset();  // to look needs one
    const usage now = usage_now();
    if (warm_generation_ == 0) {
      warm_generation_ = generation_;
      warm_ = now;
    }
    // Not all need be there, and little of it touched, from the start.
    const std::size_t connections = 2 * job_.ranks;
    constexpr std::size_t touched = 40 << 10;
    if (now.threads <= warm_.threads + (ends_ ? 1 : 0) &&
        now.descriptors <= warm_.descriptors + connections &&
        is_bounded(warm_.own, now.own, touched) && is_bounded(warm_.shared, now.shared, touched)) {
      return;
    }
    wrong_ += "since generation " + std::to_string(warm_generation_) + ": threads " +
              std::to_string(warm_.threads) + " -> " + std::to_string(now.threads) +
              ", descriptors " + std::to_string(warm_.descriptors) + " -> " +
              std::to_string(now.descriptors) + ", KiB of its own " + std::to_string(warm_.own) +
              " -> " + std::to_string(now.own) + ", shared " + std::to_string(warm_.shared) +
              " -> " + std::to_string(now.shared) + "\n";
  }

  team& all_;
  const faulty_job& job_;
  scores& scores_;
  std::string group_;
  std::unique_ptr<team> rest_;
  std::size_t generation_ = 0;
  std::size_t round_ = 0;
  std::vector<bool> known_gone_ = std::vector<bool>(job_.ranks);
  std::vector<bool> is_struck_ = std::vector<bool>(job_.faults.size());
  std::string where_;
  std::string wrong_;
  usage warm_;
  std::size_t warm_generation_ = 0;  // of which `warm_` is; 0: none yet
  std::optional<no_descriptors> no_descriptors_;
  std::optional<std::chrono::microseconds> deadline_;
  std::size_t failing_allocation_ = 0;  // of this round; 0: none
  std::list<helper> helpers_;
  std::optional<delayed> ends_;
};

survivor*& this_one() {
  static survivor* one = nullptr;
  return one;
}

/// \returns whether all was right
bool run(world& here, const faulty_job& job, scores& all, const std::string& group) {
  survivor me(here, job, all, group);
  this_one() = &me;
  const bool well = me.run();
  this_one() = nullptr;
  all.well[here.team().rank()] = well;  // before it leaves
  if (!well) std::fprintf(stderr, "rank %zu: %s", here.team().rank(), me.wrong().c_str());
  return well;
}

}  // namespace

int be_survivor_of(const faulty_job& job, const std::string& path, const std::string& group) {
  std::set_terminate([] {
    if (this_one() != nullptr) this_one()->terminate();
    std::abort();
  });
  try {
    const scoreboard all(path);
    const watchdog alive("in all, " + describe(job), patience * 3, how_to_replay(job));
    if (job.full_shm && !fill_shm()) fail(errno, "a full /dev/shm");
    if (job.without_io_uring && !refuse_call(SYS_io_uring_setup)) return 2;
    auto here = std::make_unique<world>();
    const std::size_t rank = here->team().rank();
    const bool well = run(*here, job, *all, group);
    here.reset();
    all->left[rank] = well;
    return well ? 0 : 1;
  } catch (const fault_exception&) {
    return 3;
  } catch (const std::exception& why) {
    std::fprintf(stderr, "%s: %s\n", describe(job).c_str(), why.what());
    return 2;
  }
}

}  // namespace muster::testing
