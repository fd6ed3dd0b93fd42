#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>

#include "engine/collective/items.hpp"
#include "engine/collective/waits.hpp"
#include "engine/wire/board.hpp"
#include "engine/wire/virtual_time.hpp"

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
  wire::work_wait copy(std::size_t neighbour, std::size_t item, std::size_t block,
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
  void fetch(std::size_t neighbour, const wire::origin& from, std::size_t offset,
             std::span<std::byte> to);

  context& me_;
  std::size_t index_;
  items cut_;
  // Of a track whose writers have different numbers of items: how many this rank takes of each.
  std::span<const std::size_t> takes_ = {};

private:
  friend class neighbours_wait;
  bool is_here(std::size_t neighbour, std::size_t item) const noexcept;
  const void* watched_of(std::size_t neighbour) const noexcept;

  std::size_t sole_reader_;
  std::size_t posted_ = 0;  // items of this rank
  bool lent_ = false;
  std::size_t lent_items_ = 0;  // that readers take before what was lent is returned
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
