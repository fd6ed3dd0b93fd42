#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include <muster/call/combine.hpp>
#include <muster/coro/task.hpp>
#include <muster/run/messages.hpp>
#include <muster/run/operation_state.hpp>
#include <muster/run/pipeline.hpp>
#include <muster/run/waits.hpp>
#include <muster/wire/board.hpp>

namespace muster {

/// What an algorithm sees of its operation: this rank, its team and node, and the verbs with which
/// it moves, combines and waits. One object per rank and operation, alive while it runs; that of a
/// plan also between its runs.
class context : public messages {
public:
  using operation_state::call;
  using operation_state::engine;
  using operation_state::machine;
  using operation_state::rank;
  using operation_state::shape;
  using operation_state::size;

  using operation_state::node;
  using operation_state::node_index;
  using operation_state::rank_of;

  using operation_state::describe;

  /// For pipelines and waits.
  operation_state& state() noexcept { return *this; }

  /// Announces this rank's arrival. Every rank of every operation does so exactly once.
  void arrive();
  /// The same, with up to `wire::short_stage_bytes` bytes for the local peers to read.
  void publish(std::span<const std::byte> bytes);
  /// The same with two stretches of bytes, one after the other.
  void publish(std::span<const std::byte> first, std::span<const std::byte> second);
  /// Waits for a local peer to arrive; what it published, which must be `bytes` long.
  read_wait read(std::size_t local_peer, std::size_t bytes) noexcept {
    return {*this, local_peer, bytes};
  }
  /// Waits for all local peers to arrive, or for some, who stand for the others.
  everybody all_here() noexcept { return {*this, local_peer_list(node_.size())}; }
  everybody all_here(std::span<const std::size_t> local_peers) noexcept {
    return {*this, local_peer_list(local_peers)};
  }
  /// The same without waiting; nothing where it has not arrived.
  std::optional<std::span<const std::byte>> read_now(std::size_t local_peer,
                                                     std::size_t bytes) const {
    if (!is_here(local_peer)) return std::nullopt;
    look_ahead(local_peer, bytes);
    return published(local_peer, bytes);
  }
  /// Without waiting: whether a local peer has arrived, or all of them have.
  /// \throws error `errc::mismatched_call` where one that has is in another operation
  bool is_here(std::size_t local_peer) const {
    // acquire: pairs with the release in `node_memory::announce`.
    return is_here_as(local_peer, arrival(local_peer).word.load(std::memory_order_acquire));
  }
  bool are_all_here() const {
    // Copies: behind an acquire the compiler would read it all again.
    const wire::arrival* const arrivals = lane_;
    const std::uint64_t mine = ticket_.word;
    std::uint64_t* const known_complete = books().known_complete.data();
    const std::size_t self = index_;
    const std::size_t local_peers = node_.size();
    std::uint64_t other = mine;
    std::size_t i = 0;
    for (; i < local_peers; ++i) {
      if (i == self) continue;
      // acquire: as in `is_here`.
      other = arrivals[i].word.load(std::memory_order_acquire);
      if (other != mine) break;
      note_completed(known_complete[i], arrivals[i]);
    }
    return other == mine || is_here_as(i, other);
  }
  /// The local peer, perhaps this rank itself, that was first of its node to ask this in this
  /// operation: all who ask are told the same, without waiting.
  std::size_t first_here();
  /// Local peers in the order of their arrival.
  local_peer_arrivals here() noexcept { return local_peer_arrivals(*this); }
  local_peer_arrivals here(std::span<const std::size_t> local_peers) noexcept {
    return {*this, local_peers};
  }
  /// What a local peer that has arrived published.
  std::span<const std::byte> published(std::size_t local_peer, std::size_t bytes) const noexcept {
    return {publication(local_peer, bytes), bytes};
  }

  /// Counts this rank in among those of its node, at most once an operation and after its arrival:
  /// `if (co_await me.count_in())` is true for the one with whom they are complete, whoever that
  /// is. That one sees what all of them wrote before, and has seen that they are in the same
  /// operation, so that it can act for the node at once. All ranks of a node do this, or none.
  count_in_wait count_in() {
    if (is_checked()) [[unlikely]]
      checks().use_node("counts in");
    return count_in_wait(*this);
  }

  /// The memory that a local peer provides for this operation; see `shared_scratch`.
  task<std::span<std::byte>> shared_scratch_of(std::size_t local_peer, std::size_t bytes);
  /// That of which a local peer has told where it is.
  std::span<std::byte> shared_scratch_at(const wire::origin& where,
                                         std::size_t bytes) const noexcept;

  /// Working memory that lives as long as the operation, so that it may be lent: what an
  /// algorithm's own frame holds is gone before a failure is announced.
  std::span<std::byte> scratch(std::size_t bytes);
  /// A copy in such memory.
  std::span<const std::byte> save(std::span<const std::byte> bytes);
  /// The same for several blocks, each of which is exchanged for its copy.
  void save(std::span<std::span<const std::byte>> blocks);

  /// Local work. Awaited, so that it can take time where time is virtual.
  wire::work_wait copy(std::span<std::byte> to, std::span<const std::byte> from) noexcept {
    wire::virtual_time* const time = this->time();
    // In-place forms meet here with both sides the same.
    if (to.data() != from.data() && !from.empty()) move_bytes(time, to, from.data());
    return wire::work_wait(time);
  }
  /// The same into this rank's stage.
  wire::work_wait stage(std::span<std::byte> to, std::span<const std::byte> from) noexcept {
    wire::virtual_time* const time = this->time();
    timed_copy* const timed = time == nullptr ? books().to_stage.of(from.size()) : nullptr;
    if (timed != nullptr) {
      (*timed)(to.data(), from.data(), from.size());
    } else if (!from.empty()) {
      move_bytes(time, to, from.data());
    }
    return wire::work_wait(time);
  }
  /// The same into this rank's result: from its own buffer, or from a local peer's memory.
  wire::work_wait copy_own(std::span<std::byte> to, std::span<const std::byte> from) noexcept {
    if (copy_to_result_ == nullptr || to.data() == from.data()) return copy(to, from);
    (*copy_to_result_)(to.data(), from.data(), from.size());
    return wire::work_wait(nullptr);
  }
  wire::work_wait copy_result(std::span<std::byte> to, const std::byte* from) {
    wire::virtual_time* const time = this->time();
    read_local_peers([=, this] {
      if (copy_to_result_ != nullptr) {
        (*copy_to_result_)(to.data(), from, to.size());
      } else {
        move_bytes(time, to, from);
      }
    });
    return wire::work_wait(time);
  }
  wire::work_wait combine(std::byte* to, std::span<const std::byte* const> from,
                          std::size_t count) {
    if (prepared_.combine_few == nullptr) return combine_otherwise(to, from, count);
    prepared_.combine_few(to, from, count);
    return {};
  }

protected:
  using messages::messages;
  ~context() = default;

  /// Of a long operation that begins: how it copies into results.
  void choose_copies() noexcept;
  /// Whether this rank has arrived since it was last asked.
  bool take_arrival() noexcept { return std::exchange(arrived_, false); }
  bool has_arrived_itself() const noexcept { return arrived_; }
  /// What the algorithm announces next it has announced already: it begins again, to go on.
  void go_on_after_arrival() noexcept { goes_on_ = true; }

private:
  /// The same of what is not short, or is for others to know of.
  wire::work_wait combine_otherwise(std::byte* to, std::span<const std::byte* const> from,
                                    std::size_t count);
  bool is_here_as(std::size_t local_peer, std::uint64_t word) const {
    if (word != ticket_.word && !is_of_this_operation(word)) return false;
    note_arrival(local_peer, word);
    return true;
  }
  /// Apart from the question, which every publication asks.
  [[gnu::cold, gnu::noinline]] void check_publication(std::size_t bytes);
  /// The one after `go_on_after_arrival`, once.
  bool skips_announcement() noexcept {
    if (!goes_on_) [[likely]]
      return false;
    goes_on_ = false;
    return true;
  }
  /// What is not one word, or does not fit beside the arrival, or is checked. Apart: one word needs
  /// no frame.
  [[gnu::noinline]] void publish_some(std::span<const std::byte> bytes);
  void publish_staged(std::span<const std::byte> bytes);
  void announce_arrival(wire::arrival& mine) noexcept;
  /// The same where somebody may sleep. Apart: what wakes nobody needs no frame.
  [[gnu::noinline]] void announce_and_wake(wire::arrival& mine) noexcept;
  void prefetch_own_arrival(const wire::board& in) const noexcept;
  void prepare_next_publication(std::size_t bytes) const noexcept;
  /// Bytes that the ranks of this node receive together.
  std::size_t received_in_node() const noexcept;

  bool arrived_ = false;
  bool goes_on_ = false;                  // after its arrival
  timed_copy* copy_to_result_ = nullptr;  // null: by ordinary stores, or where time is virtual
};

}  // namespace muster
