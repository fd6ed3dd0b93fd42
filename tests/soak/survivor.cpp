#include "tests/soak/survivor.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <list>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include <muster/muster.hpp>

#include "tests/harness/refuse_call.hpp"
#include "tests/harness/scarce_memory.hpp"
#include "tests/soak/scoreboard.hpp"
#include "tests/soak/strike.hpp"
#include "tests/soak/usage.hpp"
#include "tools/conformance/build.hpp"
#include "tools/conformance/random.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::chrono::seconds longest(rounds(60, 240));

/// How this rank ends, where a fault of its own says so.
struct fault_exception : std::runtime_error {
  fault_exception() : std::runtime_error("a fault of the soak") {}
};

task<> come_late(random_stream& random) {
  if (random.one_in(8)) std::this_thread::sleep_for(std::chrono::microseconds(random.below(300)));
  co_return;
}

class survivor {
public:
  survivor(world& here, const faulty_job& job, scores& all)
      : all_(here.team()), job_(job), scores_(all) {}

  /// The process is about to end, since an exception has gone too far.
  void terminate() noexcept {
    if (failing_allocation_ == 0) return;
    // Where what others send has no memory: docs/guarantees.md.
    note_end();
    ::_exit(7);
  }

  /// Whether all that it saw was right; also where it leaves before the others.
  bool run() {
    while (round_ <= job_.rounds) {
      if (!strike()) return true;
      where_ = "rank " + std::to_string(all_.rank()) + ", generation " +
               std::to_string(generation_) + ", round " + std::to_string(round_);
      const watchdog alive(describe(job_) + "; " + where_, longest, how_to_replay(job_));
      if (attempt([this] { run_round(); })) {
        ++round_;
      } else {
        while (wrong_.empty() && !gives_up_ && !attempt([this] { go_on(); })) {
        }
      }
      if (gives_up_) return true;
      if (!wrong_.empty()) return false;
    }
    return true;
  }
  const std::string& wrong() const { return wrong_; }

private:
  team& here() const { return rest_ ? *rest_ : all_; }

  /// The faults of this rank whose time has come. False: it leaves.
  bool strike() {
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
      here().revoke("no memory");
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
    if (failing_allocation_ != 0) {
      scarce.emplace(scarce_memory::number{failing_allocation_});
    }
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

  /// Made by all, or by none: then each is told that something ran out.
  void make_team() {
    try {
      const auto made = start(duplicate(here())).wait();
      start(barrier(*made)).wait();
    } catch (const error& why) {
      if (why.code() != errc::resource) throw;
      if (why.rank() >= here().size()) wrong_ += std::string("no rank named: ") + why.what() + "\n";
    }
  }

  /// A rank or several are gone, and the error says so.
  void check(const error& why) {
    const std::int64_t now = steady_now();
    const bool tells_of_loss = why.code() == errc::rank_died || why.code() == errc::rank_left;
    // A call that had no memory to begin is left out, and the next one made instead.
    const bool tells_of_end = why.code() == errc::stopped ||
                              why.code() == errc::deadline_exceeded ||
                              why.code() == errc::resource || why.code() == errc::mismatched_call;
    std::int64_t since = 0;
    std::size_t gone = 0;
    for (std::size_t rank = 0; rank < job_.ranks; ++rank) {
      const std::int64_t at = scores_.gone[rank];
      if (at == 0) continue;
      ++gone;
      // Of the others only the beginning of their ends is known.
      const bool is_sudden = std::ranges::any_of(job_.faults, [&](const fault& each) {
        return each.rank == rank &&
               (each.what == fault::kind::kill || each.what == fault::kind::exit);
      });
      if (is_sudden && gone > known_gone_) since = std::max(since, at);
    }
    if (!(tells_of_loss && gone != 0) && !(tells_of_end && scores_.broken)) {
      wrong_ += std::string("failed, with ") + std::to_string(gone) + " lost: " + why.what() + "\n";
    } else if (tells_of_loss && since != 0) {
      std::int64_t before = scores_.longest;
      while (before < now - since && !scores_.longest.compare_exchange_weak(before, now - since)) {
      }
    }
    known_gone_ = gone;
  }

  /// With those that are left, from the first round that none of them has completed without the
  /// others.
  void go_on() {
    const std::int64_t begun = steady_now();
    std::unique_ptr<team> fewer;
    try {
      fewer = start(here().engine(), with_timeout(5s, shrink(here()))).wait();
    } catch (const error& why) {
      if (why.code() != errc::deadline_exceeded) throw;
      // A death in the last round: docs/guarantees.md.
      gives_up_ = std::ranges::any_of(scores_.gone, [&](const auto& at) { return at > begun; });
      if (!gives_up_) throw;
      ++scores_.left_waiting;
      return note_end();
    }
    rest_ = std::move(fewer);
    ++generation_;
    if (rest_->rank() == 0) ++scores_.shrinks;
    std::vector<std::size_t> members(rest_->size());
    const std::size_t me[] = {all_.rank()};
    start(allgather(*rest_, std::span(me), std::span(members))).wait();
    for (std::size_t rank = 0; rank < job_.ranks; ++rank) {
      // Of those that are done the last barrier needs nothing more.
      const bool is_there = scores_.gone[rank] == 0 && !scores_.well[rank];
      if (is_there && std::ranges::count(members, rank) != 1) {
        wrong_ += "rank " + std::to_string(rank) + " is there, and not of the team of " +
                  std::to_string(members.size()) + " that are left\n";
      }
    }
    round_ = start(allreduce(*rest_, round_, max)).wait();
    check_usage();
  }

  /// When the team was made anew often enough for what it takes to be there.
  void check_usage() {
    constexpr std::size_t warm = 8;
    if (generation_ < warm) return;
    const usage now = usage_now();
    if (generation_ == warm) warm_ = now;
    // Not all need be there, and little of it touched, from the start.
    const std::size_t connections = 2 * job_.ranks;
    constexpr std::size_t touched = 40 << 10;
    if (now.threads <= warm_.threads + helpers_.size() &&
        now.descriptors <= warm_.descriptors + connections &&
        is_bounded(warm_.own, now.own, touched) && is_bounded(warm_.shared, now.shared, touched)) {
      return;
    }
    wrong_ += "since generation " + std::to_string(warm) + ": threads " +
              std::to_string(warm_.threads) + " -> " + std::to_string(now.threads) +
              ", descriptors " + std::to_string(warm_.descriptors) + " -> " +
              std::to_string(now.descriptors) + ", KiB of its own " + std::to_string(warm_.own) +
              " -> " + std::to_string(now.own) + ", shared " + std::to_string(warm_.shared) +
              " -> " + std::to_string(now.shared) + "\n";
  }

  team& all_;
  const faulty_job& job_;
  scores& scores_;
  std::unique_ptr<team> rest_;
  std::size_t generation_ = 0;
  std::size_t round_ = 0;
  std::size_t known_gone_ = 0;
  std::vector<bool> is_struck_ = std::vector<bool>(job_.faults.size());
  bool gives_up_ = false;
  std::string where_;
  std::string wrong_;
  usage warm_;
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

}  // namespace

int be_survivor_of(const faulty_job& job, const std::string& path) {
  try {
    const scoreboard all(path);
    const watchdog alive("start or end of " + describe(job), longest * 3, how_to_replay(job));
    if (job.without_io_uring && !refuse_call(SYS_io_uring_setup)) return 2;
    world here;
    const std::size_t rank = here.team().rank();
    survivor me(here, job, *all);
    this_one() = &me;
    std::set_terminate([] {
      this_one()->terminate();
      std::abort();
    });
    const bool well = me.run();
    all->well[rank] = well;  // before it leaves
    if (!well) std::fprintf(stderr, "rank %zu: %s", rank, me.wrong().c_str());
    return well ? 0 : 1;
  } catch (const fault_exception&) {
    return 3;
  } catch (const std::exception& why) {
    std::fprintf(stderr, "%s: %s\n", describe(job).c_str(), why.what());
    return 2;
  }
}

}  // namespace muster::testing
