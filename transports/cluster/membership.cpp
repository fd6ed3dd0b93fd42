#include "transports/cluster/membership.hpp"

#include <algorithm>
#include <utility>

namespace muster::cluster {

membership::membership(const job& of, const shm::team_memory& shared, const view& in,
                       const wire::extent& much, const senses& by)
    : wire::membership(
          {.failure = &shared.failure().state,
           .job_failure = much.made_by_survivors ? nullptr : &of.here().failure_state(),
           .records = shared.records(),
           .rank = in.index,
           .ranks = in.here.size()}),
      job_(of),
      shared_(shared),
      in_(in),
      by_(by),
      lanes_(much.lanes),
      remote_(in.members.size()) {
  by_.news.enroll(in_.team, *this);
}

membership::~membership() { by_.news.dismiss(in_.team); }

std::size_t membership::place_of(std::size_t rank) const noexcept {
  return static_cast<std::size_t>(std::ranges::find(in_.here, in_.members[rank]) -
                                  in_.here.begin());
}

// ---- failures

std::optional<wire::failure> membership::failed() const {
  auto why = shared_.failure().read();
  return why || !fails_with_job() ? why : job_.here().failed();
}

void membership::fail(const wire::failure& why) noexcept {
  if (break_here(why)) return by_.news.tell_failure(in_.team, in_.members, why);
  // Whoever broke it may have died before it told all, or be out of reach of some.
  repeat_failure();
  // Of a rank that died here only this machine's memory says so.
  if (const auto of_job = job_.here().failed()) by_.news.tell_job_failure(*of_job);
}

void membership::tell_before_leaving() noexcept {
  repeat_failure();
  if (const auto of_job = job_.here().failed()) by_.news.repeat_job_failure(*of_job);
}

void membership::repeat_failure() noexcept {
  const auto why = shared_.failure().read();
  if (!why || std::exchange(has_repeated_, true)) return;
  by_.news.repeat_failure(in_.team, in_.members, *why);
}

bool membership::break_here(const wire::failure& why) noexcept {
  const shm::job& here = job_.here();
  // What a broken job ends is no failure of its own. relaxed: nothing of it is read.
  if (fails_with_job() &&
      here.failure_state().load(std::memory_order_relaxed) != shm::failure_record::whole) {
    return false;
  }
  if (!shared_.failure().write(why)) return false;
  for (const std::size_t rank : in_.here) doorbell::ring(here.bell(job_.place_of(rank)));
  return true;
}

// ---- lives

wire::liveness membership::state(std::size_t rank) const noexcept {
  const std::size_t of_job = in_.members[rank];
  if (!job_.is_here(of_job)) return by_.others.state(of_job);
  job_.here().note_missed(job_.place_of(of_job));  // who asks waits for it
  return job_.here().state(job_.place_of(of_job));
}

bool membership::all_heard(std::size_t rank) const noexcept {
  return by_.connections.hear(in_.members[rank]);
}

void membership::watch(std::size_t rank) noexcept {
  const std::size_t of_job = in_.members[rank];
  if (job_.is_here(of_job)) by_.parking.watch(job_.place_of(of_job));
}

// ---- calls

wire::recorded_call membership::called(std::size_t lane, std::size_t rank) const noexcept {
  if (job_.is_here(in_.members[rank])) {
    return wire::read(shared_.records()[lane * in_.here.size() + place_of(rank)]);
  }
  remote& one = remote_[rank];
  if (!one.asked && std::chrono::steady_clock::now() >= one.next) {
    one.asked = true;
    by_.news.ask_call(in_.team, in_.rank, in_.members[rank]);
  }
  const bool is_in_lane = (one.called.sequence() & (lanes_ - 1)) == lane;
  return is_in_lane ? one.called : wire::recorded_call{};
}

void membership::hear_call(std::size_t rank, const wire::recorded_call& called) noexcept {
  constexpr std::chrono::milliseconds pause(100);
  if (rank >= remote_.size()) return;
  remote_[rank] = {.called = called, .next = std::chrono::steady_clock::now() + pause};
}

wire::recorded_call membership::last_call() const noexcept {
  wire::recorded_call last;
  for (std::size_t lane = 0; lane < lanes_; ++lane) {
    const auto one = wire::read(own_record(lane));
    // By sequence numbers, which go round.
    if (one.word != 0 &&
        (last.word == 0 || static_cast<std::int32_t>(one.sequence() - last.sequence()) > 0)) {
      last = one;
    }
  }
  return last;
}

}  // namespace muster::cluster
