#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include <muster/coro/task.hpp>
#include <muster/run/items.hpp>
#include <muster/run/waits.hpp>
#include <muster/wire/board.hpp>
#include <muster/wire/virtual_time.hpp>

namespace muster {

/// A stream of items from every rank of a node to its neighbours.
///
/// A writer either *lends* memory that its neighbours can read where it is, all items at once, or
/// *stages* item after item in the node's memory, at most `items::ahead` ahead of the slowest
/// reader. Readers need not know which.
class track {
public:
  /// With a `sole_reader`, a neighbour that alone reads what all others write, each writer waits
  /// only for what that one has taken of it, not for the slowest writer: see `take_of`.
  track(context& me, std::size_t index, const items& cut, std::size_t sole_reader = all) noexcept;
  ~track();
  track(const track&) = delete;
  track& operator=(const track&) = delete;

  const items& cut() const noexcept { return cut_; }

  /// Offers the whole contribution where it is, if neighbours can get at it there. They can then
  /// read it until `returned`. Where they will only `copy` from it, it may also be lent where they
  /// cannot load from it, if that is faster on this machine.
  /// \returns whether it was lent; if not, stage it.
  enum class lending { for_loads, for_copies };
  bool lend(std::span<const std::byte> contribution, lending how) noexcept;
  bool lent() const noexcept { return lent_; }

  /// Waits for a free place for `item` in this rank's stage and gives it; block b's piece goes to
  /// `b * cut().piece`. `readers`: all neighbours, one, or some.
  class room_wait;
  room_wait room(std::size_t item, std::size_t readers = all) noexcept;
  room_wait room(std::size_t item, std::span<const std::size_t> readers) noexcept;
  /// Makes `item` visible, after its room was filled.
  void post(std::size_t item) noexcept;

  /// Waits for a neighbour's item, or for one of this rank's own.
  class item_wait;
  item_wait arrived(std::size_t neighbour, std::size_t item) noexcept;
  /// Where the piece of `block` of an item that has arrived can be read; null where it can only be
  /// copied.
  const std::byte* piece(std::size_t neighbour, std::size_t item, std::size_t block) noexcept;
  /// Copies the piece of `block` of an item that has arrived to its place in `whole`, and from a
  /// lender, on item 0, the whole block at once. Awaited, like all local work.
  class copying;
  copying copy(std::size_t neighbour, std::size_t item, std::size_t block,
               std::span<std::byte> whole);
  /// Whether a neighbour whose first item has arrived lends.
  bool lends(std::size_t neighbour) const noexcept;
  /// Items that must be taken from a neighbour whose first one has arrived.
  std::size_t items_of(std::size_t neighbour) const noexcept;

  /// This rank is done with `item`, and all before it, of every neighbour.
  void take(std::size_t item) noexcept;
  /// The sole reader is done with `item`, and all before it, of one neighbour.
  void take_of(std::size_t neighbour, std::size_t item) noexcept;
  /// Waits until the readers are done with what was lent; at once if nothing was.
  class return_wait;
  return_wait returned(std::size_t readers = all) noexcept;
  /// Waits until the readers are done with `item` and all before it.
  return_wait taken(std::size_t item, std::size_t readers = all) noexcept;

  /// Neighbours whose item has arrived, in that order.
  neighbour_arrivals here(std::size_t item) noexcept;
  /// Waits for the item of every neighbour, or of some.
  everybody all_here(std::size_t item) noexcept;
  everybody all_here(std::size_t item, std::span<const std::size_t> neighbours) noexcept {
    return {me_, neighbour_list(neighbours), this, item};
  }

  static constexpr std::size_t all = std::numeric_limits<std::size_t>::max();

protected:
  wire::posting& posting(std::size_t neighbour) const noexcept;
  std::byte* stage(std::size_t neighbour, std::size_t item) const noexcept;
  /// Whether readers had better copy a contribution of so many bytes from this rank's memory, if
  /// its blocks are, or the longest is, of `block_bytes`.
  bool is_better_foreign(std::size_t bytes, std::size_t block_bytes) const noexcept;
  /// Offers memory; the first post tells. \returns whether readers can get at it.
  bool offer(std::span<const std::byte> memory, bool foreign, std::size_t items_to_take) noexcept;
  /// Has the kernel copy from a neighbour's memory, or the neighbour, where the kernel refuses.
  copying fetch(std::size_t neighbour, const wire::origin& from, std::size_t offset,
                std::span<std::byte> to);

  context& me_;
  std::size_t index_;
  items cut_;
  // Of a track whose writers have different numbers of items: how many this rank takes of each.
  std::span<const std::size_t> takes_ = {};

private:
  friend class context;
  friend class neighbours_wait;
  /// Whether all ranks copy at once what no cache holds. A stage is then one more trip through
  /// memory, and nobody is left to hide it.
  bool is_exchange_beyond_caches(std::size_t footprint) const noexcept;
  /// Whether so much would be staged in pages that were never touched.
  bool is_stage_too_new(std::size_t bytes, std::size_t readers) const noexcept;
  class bounce_wait;
  bool is_here(std::size_t neighbour, std::size_t item) const noexcept;
  const void* watched_of(std::size_t neighbour) const noexcept;
  wire::taking& taking(std::size_t neighbour) const noexcept;
  std::byte* bounce_buffer(std::size_t neighbour) const noexcept;

  // Of a reader whom the kernel refuses a copy.
  task<> copy_bounced(std::size_t neighbour, std::size_t offset, std::span<std::byte> to);
  void ask(std::size_t neighbour, std::size_t offset, std::size_t bytes) noexcept;
  bool is_given() const noexcept;
  // Of the lender it asks. One reader at a time has the bounce buffer.
  void answer_readers() noexcept;
  bool has_asked(std::size_t neighbour) const noexcept;
  bool has_used_answer() const noexcept;
  void answer(std::size_t neighbour) noexcept;

  std::size_t sole_reader_;
  std::size_t posted_ = 0;  // items of this rank
  bool lent_ = false;
  std::size_t lent_items_ = 0;  // that readers take before what was lent is returned
  std::span<const std::byte> lent_foreign_ = {};
  std::size_t answered_ = all;  // who has the bounce buffer
  std::uint64_t answer_ = 0;    // to which request
  std::uint64_t request_ = 0;   // of this rank to a lender, its last one
  std::uint64_t request_count_ = 0;
  track* next_lender_ = nullptr;
};

/// What a copy is awaited with. It is done already, but for the time that it takes where time is
/// virtual; or the kernel has refused it, and the lender has still to stage what is to be copied.
class [[nodiscard]] track::copying {
public:
  explicit copying(const wire::work_wait& done) noexcept : done_(done) {}
  explicit copying(task<> bounced) noexcept : bounced_(std::move(bounced)) {}

  bool await_ready() const noexcept { return !bounced_ && done_.await_ready(); }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    if (bounced_) return std::move(bounced_).operator co_await().await_suspend(self);
    done_.await_suspend(self);
    return true;
  }
  void await_resume() {
    if (bounced_) [[unlikely]] {
      std::move(bounced_).operator co_await().await_resume();
    }
  }

private:
  wire::work_wait done_;
  task<> bounced_;
};

/// Waits until readers have taken so many items that one more has room, or all are returned.
class takers_wait : public collective_wait {
public:
  takers_wait(context& me, std::size_t track, std::uint64_t items,
              const neighbour_list& readers) noexcept
      : collective_wait(me), track_(track), items_(items), readers_(readers) {}
  /// `readers` are those to wait for: all neighbours, or one. `sole_reader`, if there is one, says
  /// in this rank's line what it took of this rank.
  takers_wait(context& me, std::size_t track, std::uint64_t items, std::size_t readers,
              std::size_t sole_reader) noexcept;
  bool ready() noexcept override;
  bool await_ready() noexcept { return ready() || look_again(); }
  const void* watched() const noexcept override;

protected:
  ~takers_wait() = default;

private:
  bool awaits(std::size_t rank) const noexcept override;
  const wire::counter& taken_by(std::size_t line) const noexcept;
  bool is_taken(std::size_t line) const noexcept;

  std::size_t track_;
  std::uint64_t items_;
  neighbour_list readers_;
  std::size_t sole_reader_ = track::all;
  std::size_t next_ = 0;  // the first reader not yet known to be far enough
  std::size_t end_ = readers_.size();
};

class track::room_wait final : public takers_wait {
public:
  room_wait(context& me, std::size_t track, std::uint64_t items, std::size_t readers,
            std::size_t sole_reader, std::byte* place) noexcept
      : takers_wait(me, track, items, readers, sole_reader), place_(place) {}
  room_wait(context& me, std::size_t track, std::uint64_t items, const neighbour_list& readers,
            std::byte* place) noexcept
      : takers_wait(me, track, items, readers), place_(place) {}
  std::byte* await_resume() {
    rethrow_interruption();
    return place_;
  }

private:
  std::byte* place_;
};

class track::return_wait final : public takers_wait {
public:
  using takers_wait::takers_wait;
  void await_resume() { rethrow_interruption(); }
};

class track::item_wait final : public collective_wait {
public:
  item_wait(context& me, track& on, std::size_t neighbour, std::size_t item) noexcept
      : collective_wait(me), track_(on), neighbour_(neighbour), item_(item) {}
  bool ready() noexcept override;
  bool await_ready() noexcept { return ready() || look_again(); }
  void await_resume();
  const void* watched() const noexcept override;

private:
  bool awaits(std::size_t rank) const noexcept override;

  track& track_;
  std::size_t neighbour_;
  std::size_t item_;
};

}  // namespace muster
