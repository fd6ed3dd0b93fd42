#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include <muster/wire/board.hpp>

namespace muster::wire {

/// What the ranks of one node address directly: their board, and memory that they lend each other.
/// Nothing in it is indexed by a rank of another node.
///
/// A store made before `announce` is visible to whoever has seen the announced value.
class node_memory {
public:
  const wire::board& board() const noexcept { return board_; }

  /// Stores `value` with release semantics and wakes the ranks that sleep waiting for this one.
  void announce(counter& word, std::uint64_t value) noexcept {
    if (!announces_to_those_awake(word, value)) [[unlikely]] {
      announce_and_wake(word, value);
    }
  }
  /// The same without waking anybody: false where that may leave somebody asleep, who is still to
  /// be told by `announce`.
  [[nodiscard]] bool announces_to_those_awake(counter& word, std::uint64_t value) noexcept {
    const std::atomic<std::uint32_t>* const watched = watched_;
    if (watched == nullptr) [[unlikely]] {
      return false;
    }
    word.store(value, std::memory_order_release);
    // Whoever is about to sleep says so, and has this core pass a full fence before it looks at
    // `word` again: here the compiler alone must keep the order.
    std::atomic_signal_fence(std::memory_order_seq_cst);
    // relaxed: ordered by that fence.
    return watched->load(std::memory_order_relaxed) == 0;
  }

  /// Where local peers can read `bytes`; `origin::kind::staged` where they cannot. `foreign` allows
  /// the kind that peers can only copy from, not load.
  virtual origin lend(std::span<const std::byte> bytes, bool foreign) const noexcept = 0;
  /// The address of a local peer's lent memory here, or null for `origin::kind::foreign`.
  virtual const std::byte* borrow(const origin& from) const noexcept = 0;
  /// Copies from `offset` bytes into a local peer's `foreign` memory. Returns 0, or the system's
  /// error number where it refuses.
  [[nodiscard]] virtual int fetch(std::size_t local_peer, const origin& from, std::size_t offset,
                                  std::span<std::byte> to) noexcept = 0;

  /// Around reads of memory that another rank may have lent: between the two, `settle` of whoever
  /// broke the team waits. What was read counts only if the team is not broken afterwards.
  virtual void begin_reading() noexcept = 0;
  virtual void end_reading() noexcept = 0;
  /// After the team is broken: returns when no rank can still be reading what this one has lent,
  /// wherever such a read would be of memory that its owner may now free.
  virtual void settle() noexcept = 0;

  /// Memory that every rank of the node can address, aligned to a page: for `shared_buffer`, or
  /// for `shared_scratch`.
  /// \throws error `errc::resource` when the node's arena of this rank is used up.
  enum class use { buffer, shared_scratch };
  virtual std::span<std::byte> allocate(std::size_t bytes, use what) = 0;
  virtual void deallocate(std::span<std::byte> memory) noexcept = 0;

protected:
  /// \param watched not zero while somebody sleeps until this rank announces something; null where
  ///                whoever is about to sleep cannot have others pass a fence
  explicit node_memory(const wire::board& board,
                       const std::atomic<std::uint32_t>* watched = nullptr) noexcept
      : board_(board), watched_(watched) {}
  ~node_memory() = default;

private:
  /// `announce`, whatever others do.
  virtual void announce_and_wake(counter& word, std::uint64_t value) noexcept = 0;

  wire::board board_;
  const std::atomic<std::uint32_t>* watched_;
};

}  // namespace muster::wire
