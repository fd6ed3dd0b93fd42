#include "transports/shm/fabric.hpp"

#include <sched.h>
#include <sys/uio.h>

#include <cerrno>

#include "transports/shm/fence.hpp"

namespace muster::shm {

fabric::fabric(const job& of, std::size_t rank)
    : wire::fabric({.board = of.board(of.shape().node_of(rank)),
                    .records = &of.record(0, 0),
                    .ranks = of.size(),
                    .failure = &of.failure_state()}),
      job_(of),
      rank_(rank),
      node_base_(of.node_base(of.shape().node_of(rank))),
      arena_(of.arena(of.shape().node_of(rank), of.shape().index_of(rank))),
      mine_(of.line(rank)),
      asymmetric_fence_(of.machine().asymmetric_fence) {}

void fabric::announce(wire::counter& word, std::uint64_t value) noexcept {
  word.store(value, std::memory_order_release);
  // A sleeper sets `watched`, then looks at the word; here it is the other way round. One of the
  // two must see the other.
  frequent_fence();
  // relaxed: ordered by the fence.
  if (mine_.watched.load(std::memory_order_relaxed) != 0) [[unlikely]] {
    wake_watchers();
  }
}

// Two sides that each store, then load what the other stores, both need a full fence, unless the
// rarer side makes all others pass one: then only the compiler must keep the order on the other.
void fabric::frequent_fence() const noexcept {
  if (asymmetric_fence_) {
    std::atomic_signal_fence(std::memory_order_seq_cst);
  } else {
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
}

void fabric::rare_fence() const noexcept {
  if (asymmetric_fence_) {
    asymmetric_fence();
  } else {
    std::atomic_thread_fence(std::memory_order_seq_cst);
  }
}

void fabric::begin_reading() noexcept {
  mine_.reading.store(1, std::memory_order_relaxed);
  frequent_fence();  // then the caller looks whether the job is broken
}

void fabric::end_reading() noexcept {
  // release: what was read was read before.
  mine_.reading.store(0, std::memory_order_release);
  // The reads come before the caller's next look, like those of a sequence lock.
  std::atomic_thread_fence(std::memory_order_acquire);
}

void fabric::settle() noexcept {
  // What another process reads stays mapped there, and does not count once the job is broken.
  if (!job_.one_process()) return;
  rare_fence();
  for (std::size_t rank = 0; rank < job_.size(); ++rank) {
    // A copy's or a combination's time; acquire: pairs with `end_reading`.
    while (rank != rank_ && job_.line(rank).reading.load(std::memory_order_acquire) != 0) {
      ::sched_yield();
    }
  }
}

void fabric::wake_watchers() noexcept {
  // acq_rel: a sleeper is `parked` before it watches, so whoever's watch this takes is seen below.
  mine_.watched.exchange(0, std::memory_order_acq_rel);
  for (std::size_t rank = 0; rank < job_.size(); ++rank) {
    std::atomic<std::uint32_t>& parked = job_.line(rank).parked;
    if (parked.load(std::memory_order_relaxed) == 0) continue;
    if (parked.exchange(0, std::memory_order_relaxed) != 0) doorbell::ring(job_.bell(rank));
  }
}

void fabric::arm() noexcept {
  mine_.parked.store(1, std::memory_order_relaxed);
  for (std::size_t rank = 0; rank < job_.size(); ++rank) {
    // release: `parked` is seen by whoever takes the watch; a read-modify-write, so that this holds
    // for every sleeper whose watch is taken at once.
    if (rank != rank_) job_.line(rank).watched.fetch_or(1, std::memory_order_release);
  }
  rare_fence();
}

void fabric::disarm() noexcept { mine_.parked.store(0, std::memory_order_relaxed); }

wire::origin fabric::lend(std::span<const std::byte> bytes, bool foreign) const noexcept {
  using kind = wire::origin::kind;
  const auto address = reinterpret_cast<std::uint64_t>(bytes.data());
  if (arena_.contains(bytes)) {
    return {kind::segment, static_cast<std::uint64_t>(bytes.data() - node_base_)};
  }
  if (job_.one_process()) return {kind::process, address};
  if (foreign && job_.machine().foreign_allowed) return {kind::foreign, address};
  return {};
}

const std::byte* fabric::borrow(const wire::origin& from) const noexcept {
  switch (from.where) {
    case wire::origin::kind::segment:
      return node_base_ + from.address;
    case wire::origin::kind::process:
      return reinterpret_cast<const std::byte*>(from.address);
    default:
      return nullptr;
  }
}

int fabric::fetch(std::size_t rank, const wire::origin& from, std::size_t offset,
                  std::span<std::byte> to) noexcept {
  // acquire: pairs with `job::join`.
  const auto process = job_.line(rank).process.load(std::memory_order_acquire);
  for (std::size_t done = 0; done < to.size();) {
    const iovec local{to.data() + done, to.size() - done};
    const iovec remote{reinterpret_cast<void*>(from.address + offset + done), to.size() - done};
    const ssize_t got = ::process_vm_readv(process, &local, 1, &remote, 1, 0);
    if (got < 0) return errno;
    if (got == 0) return EFAULT;
    done += static_cast<std::size_t>(got);
  }
  return 0;
}

wire::channel& fabric::open(std::size_t lane, std::size_t from, std::size_t to) {
  const std::size_t pair = (lane * job_.size() + from) * job_.size() + to;
  return channels_.try_emplace(pair, *this, job_.ring(lane, from, to)).first->second;
}

wire::liveness fabric::state(std::size_t rank) const noexcept {
  // acquire: pairs with `job::set_state`.
  return static_cast<wire::liveness>(job_.line(rank).state.load(std::memory_order_acquire));
}

}  // namespace muster::shm
