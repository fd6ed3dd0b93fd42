#include "transports/shm/fabric.hpp"

#include <sched.h>
#include <sys/uio.h>

#include <algorithm>
#include <cerrno>
#include <numeric>
#include <utility>

#include "transports/shm/fence.hpp"

namespace muster::shm {

namespace {

std::vector<std::size_t> all_ranks(const job& of) {
  std::vector<std::size_t> all(of.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

}  // namespace

fabric::fabric(const job& of, std::size_t rank)
    : fabric(of, rank,
             std::make_shared<rank_memory>(
                 arena(of.arena(of.shape().node_of(rank), of.shape().index_of(rank))),
                 lots(of.boards(rank)), lots(of.controls(rank))),
             {.members = all_ranks(of),
              .shared = of.team(),
              .board = of.board(of.shape().node_of(rank)),
              .board_lot = nullptr}) {}

fabric::fabric(const job& of, std::size_t rank, std::shared_ptr<rank_memory> own, membership in)
    : wire::fabric({.board = in.board,
                    .records = in.shared.records(),
                    .ranks = in.members.size(),
                    .failure = &in.shared.failure().state,
                    .job_failure = &of.failure_state()}),
      job_(of),
      rank_(rank),
      members_(std::move(in.members)),
      own_(std::move(own)),
      shared_(in.shared),
      board_lot_(in.board_lot),
      rings_(of.rings()),
      node_base_(of.node_base(of.shape().node_of(rank))),
      mine_(of.line(rank)),
      asymmetric_fence_(of.machine().asymmetric_fence) {}

fabric::~fabric() {
  if (board_lot_ == nullptr || job_.is_inherited()) return;
  lots::leave(board_lot_, [] {});
  lots::leave(shared_.base(), [this] { shared_.give_back(rings_); });
}

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
  frequent_fence();  // then the caller looks whether the team is broken
}

void fabric::end_reading() noexcept {
  // release: what was read was read before.
  mine_.reading.store(0, std::memory_order_release);
  // The reads come before the caller's next look, like those of a sequence lock.
  std::atomic_thread_fence(std::memory_order_acquire);
}

void fabric::settle() noexcept {
  // What another process reads stays mapped there, and does not count once the team is broken,
  // which comes before whatever this one writes from here on.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!job_.one_process()) return;
  rare_fence();
  for (const std::size_t rank : members_) {
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
  if (own_->buffers.contains(bytes)) {
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
  // acquire: pairs with `job::attach`.
  const auto process = job_.line(members_[rank]).process.load(std::memory_order_acquire);
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

wire::channel& fabric::open(std::size_t lane, std::size_t from, std::size_t to, wire::stream what) {
  const std::size_t which = lane * wire::streams + static_cast<std::size_t>(what);
  const std::size_t pair = (which * members_.size() + from) * members_.size() + to;
  const auto known = channels_.find(pair);
  if (known != channels_.end()) return known->second;
  const ring_channel::ends ends{from, job_.one_process()};
  return channels_.try_emplace(pair, *this, shared_.ring_of(rings_, which, from, to), ends)
      .first->second;
}

wire::liveness fabric::state(std::size_t rank) const noexcept {
  // acquire: pairs with `job::set_state`.
  return static_cast<wire::liveness>(
      job_.line(members_[rank]).state.load(std::memory_order_acquire));
}

std::optional<wire::failure> fabric::failed() const {
  auto why = shared_.failure().read();
  return why ? why : job_.failed();
}

void fabric::fail(const wire::failure& why) noexcept {
  // What a broken job ends is no failure of its own. relaxed: nothing of it is read.
  if (job_.failure_state().load(std::memory_order_relaxed) != failure_record::whole) return;
  if (!shared_.failure().write(why)) return;
  for (const std::size_t rank : members_) doorbell::ring(job_.bell(rank));
}

// ---- teams made from this one

std::vector<std::size_t> fabric::local_peers(std::span<const std::size_t> members) const {
  const muster::shape& shape = job_.shape();
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < members.size(); ++i) {
    if (shape.node_of(members_[members[i]]) == shape.node_of(rank_)) result.push_back(i);
  }
  return result;
}

wire::site fabric::provide(std::span<const std::size_t> members, std::size_t turn,
                           const wire::extent& much) {
  const auto falls_to_me = [&](std::size_t member) { return members_[members[member]] == rank_; };
  const std::vector<std::size_t> near = local_peers(members);
  wire::site mine;
  if (falls_to_me(turn % members.size())) {
    const std::size_t bytes = team_memory::bytes(members.size(), much);
    const std::byte* lot = own_->controls.let(bytes, members.size()).data();
    mine.control = static_cast<std::uint64_t>(lot - job_.control_base());
  }
  if (falls_to_me(near[turn % near.size()])) {
    const std::size_t bytes = sizeof(lot_head) + wire::board::bytes(near.size(), much);
    try {
      const std::byte* lot = own_->boards.let(bytes, near.size()).data();
      mine.board = static_cast<std::uint64_t>(lot - node_base_);
    } catch (...) {
      withdraw(mine);
      throw;
    }
  }
  return mine;
}

void fabric::withdraw(const wire::site& provided) noexcept {
  if (provided.control != 0) own_->controls.withdraw(job_.control_base() + provided.control);
  if (provided.board != 0) own_->boards.withdraw(node_base_ + provided.board);
}

std::unique_ptr<wire::fabric> fabric::derive(std::span<const std::size_t> members,
                                             std::span<const wire::site> sites,
                                             const wire::extent& much) {
  std::vector<std::size_t> ranks;
  for (const std::size_t member : members) ranks.push_back(members_[member]);
  const auto [control, board] = find_lots(members, sites);
  membership in = {.members = std::move(ranks),
                   .shared = {control, members.size(), much},
                   .board = {board + sizeof(lot_head), local_peers(members).size(), much},
                   .board_lot = board};
  return std::unique_ptr<fabric>(new fabric(job_, rank_, own_, std::move(in)));
}

void fabric::refuse(std::span<const std::size_t> members, std::span<const wire::site> sites,
                    const wire::extent& much, const wire::failure& why) noexcept {
  const auto [control, board] = find_lots(members, sites);
  const team_memory shared(control, members.size(), much);
  shared.failure().write(why);
  for (const std::size_t member : members) doorbell::ring(job_.bell(members_[member]));
  lots::leave(board, [] {});
  lots::leave(control, [&] { shared.give_back(rings_); });
}

fabric::lots_of_team fabric::find_lots(std::span<const std::size_t> members,
                                       std::span<const wire::site> sites) const noexcept {
  const muster::shape& shape = job_.shape();
  std::uint64_t control = 0;
  std::uint64_t board = 0;
  for (std::size_t i = 0; i < members.size(); ++i) {
    control |= sites[i].control;  // one of them is not 0
    const bool near = shape.node_of(members_[members[i]]) == shape.node_of(rank_);
    if (near) board |= sites[i].board;  // and of these one
  }
  return {job_.control_base() + control, node_base_ + board};
}

wire::footprint fabric::footprint() const noexcept {
  const wire::extent& much = board().extent();
  const std::size_t ranks = members_.size();
  return {.memory = wire::board::bytes(board().ranks(), much) / board().ranks() +
                    team_memory::bytes(ranks, much) / ranks,
          .channels = much.channel_lanes() * wire::streams * (ranks - 1) * sizeof(ring)};
}

}  // namespace muster::shm
