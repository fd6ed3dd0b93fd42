// Tracks: streams of items from each rank of a node to its neighbours.

#include "engine/collective/context.hpp"

#include <algorithm>
#include <cstring>
#include <string>

namespace muster {
namespace {

/// Whether a track's line is of the operation and item count of `value`. Not by distance: a line
/// that long operations alone use may be any number of operations old. Nor can it be of a later
/// operation, which waits for this one.
bool has_items(const wire::counter& word, std::uint64_t value) noexcept {
  // acquire: pairs with the release in `fabric::announce`.
  const std::uint64_t seen = word.load(std::memory_order_acquire);
  return ((seen ^ value) >> 32) == 0 && seen >= value;
}

}  // namespace

items::items(std::size_t block_bytes, std::size_t blocks, std::size_t ahead) noexcept
    : block_bytes(block_bytes), blocks(blocks), ahead(ahead) {
  const std::size_t fitting = wire::item_bytes / blocks / wire::cache_line * wire::cache_line;
  piece = std::max(fitting, wire::cache_line);
}

track::track(context& me, std::size_t index, const items& cut) noexcept
    : me_(me), index_(index), cut_(cut) {
  // Until something is lent; an earlier operation on this stage may have.
  me.board().posting(me.ticket_.stage, index, me.index_).from = {};
}

std::byte* track::stage(std::size_t neighbour, std::size_t item) const noexcept {
  return me_.board().long_stage(me_.ticket_.stage, index_, neighbour) +
         item % cut_.ahead * wire::item_bytes;
}

bool track::lend(std::span<const std::byte> contribution, lending how) noexcept {
  const bool foreign = how == lending::for_copies && is_better_foreign(contribution.size());
  const wire::origin from = me_.fabric().lend(contribution, foreign);
  wire::posting& mine = me_.board().posting(me_.ticket_.stage, index_, me_.index_);
  mine.from = from;  // published by the first post
  lent_ = from.where != wire::origin::kind::staged;
  if (lent_) me_.fabric().announce(mine.posted, me_.ticket_.items(cut_.count()));
  return lent_;
}

bool track::is_better_foreign(std::size_t bytes) const noexcept {
  const std::size_t others = me_.node().size() - 1;
  // One block for all, or one for each.
  const std::size_t readers = cut_.blocks == 1 ? others : 1;
  const std::size_t footprint = 2 * bytes * me_.node().size();
  return cut_.block_bytes >= me_.team_.machine().foreign_from(readers, footprint);
}

track::room_wait track::room(std::size_t item, std::size_t readers) noexcept {
  const std::size_t taken = item < cut_.ahead ? 0 : item + 1 - cut_.ahead;
  return {me_, index_, taken, readers, stage(me_.index_, item)};
}

track::room_wait track::room(std::size_t item, std::span<const std::size_t> readers) noexcept {
  const std::size_t taken = item < cut_.ahead ? 0 : item + 1 - cut_.ahead;
  return {me_, index_, taken, neighbour_list(readers), stage(me_.index_, item)};
}

void track::post(std::size_t item) noexcept {
  wire::posting& mine = me_.board().posting(me_.ticket_.stage, index_, me_.index_);
  me_.fabric().announce(mine.posted, me_.ticket_.items(item + 1));
}

bool track::is_here(std::size_t neighbour, std::size_t item) const noexcept {
  // The arrival comes first: only it says whether the neighbour is in the same operation.
  if (!me_.has_arrived(neighbour)) return false;
  if (me_.differs(neighbour)) return true;  // to be thrown
  const auto& posting = me_.board().posting(me_.ticket_.stage, index_, neighbour);
  return has_items(posting.posted, me_.ticket_.items(item + 1));
}

const void* track::watched_of(std::size_t neighbour) const noexcept {
  if (!me_.has_arrived(neighbour)) return &me_.arrival(neighbour).word;
  return &me_.board().posting(me_.ticket_.stage, index_, neighbour).posted;
}

track::item_wait track::arrived(std::size_t neighbour, std::size_t item) noexcept {
  return {me_, *this, neighbour, item};
}

arrivals track::here(std::size_t item) noexcept { return {me_, *this, item}; }

std::size_t track::items_of(std::size_t neighbour) const noexcept {
  const auto& posting = me_.board().posting(me_.ticket_.stage, index_, neighbour);
  return posting.from.where == wire::origin::kind::staged ? cut_.count() : 1;
}

const std::byte* track::piece(std::size_t neighbour, std::size_t item, std::size_t block) noexcept {
  const auto& from = me_.board().posting(me_.ticket_.stage, index_, neighbour).from;
  if (from.where == wire::origin::kind::staged) return stage(neighbour, item) + block * cut_.piece;
  const std::byte* lent = me_.fabric().borrow(from);
  return lent == nullptr ? nullptr : lent + block * cut_.block_bytes + cut_.offset(item);
}

wire::work_wait track::copy(std::size_t neighbour, std::size_t item, std::size_t block,
                            std::span<std::byte> whole) {
  const auto& from = me_.board().posting(me_.ticket_.stage, index_, neighbour).from;
  switch (from.where) {
    case wire::origin::kind::staged:
      return me_.copy_result(whole.subspan(cut_.offset(item), cut_.length(item)),
                             piece(neighbour, item, block));
    case wire::origin::kind::foreign:
      fetch(neighbour, from, block * cut_.block_bytes, whole);
      return me_.work();
    default:
      return me_.copy_result(whole, piece(neighbour, 0, block));
  }
}

void track::fetch(std::size_t neighbour, const wire::origin& from, std::size_t offset,
                  std::span<std::byte> to) {
  const std::size_t rank = me_.rank_of(neighbour);
  int refused = 0;
  me_.read_neighbours([&] { refused = me_.fabric().fetch(rank, from, offset, to); });
  if (refused == 0) return;
  throw error(errc::resource,
              me_.describe() + ": cannot copy from the memory of rank " + std::to_string(rank) +
                  ": " + std::strerror(refused),
              rank);
}

void track::take(std::size_t item) noexcept {
  auto& mine = me_.board().taking(me_.ticket_.stage, index_, me_.index_);
  me_.fabric().announce(mine.taken, me_.ticket_.items(item + 1));
}

track::return_wait track::returned(std::size_t readers) noexcept {
  return {me_, index_, lent_ ? cut_.count() : 0, readers};
}

void track::item_wait::await_resume() {
  rethrow_interruption();
  me_.have_fetched(watched());
  me_.check_fingerprint(neighbour_);
}

const void* track::item_wait::watched() const noexcept { return track_.watched_of(neighbour_); }

bool track::item_wait::ready() noexcept { return track_.is_here(neighbour_, item_); }

bool track::item_wait::awaits(std::size_t rank) const noexcept {
  return rank == me_.rank_of(neighbour_);
}

takers_wait::takers_wait(context& me, std::size_t track, std::uint64_t items,
                         std::size_t readers) noexcept
    : takers_wait(me, track, items, neighbour_list(me.node().size())) {
  if (readers == track::all) return;
  next_ = readers;
  end_ = readers + 1;
}

bool takers_wait::ready() noexcept {
  if (items_ == 0) return true;
  for (; next_ < end_; ++next_) {
    const std::size_t reader = readers_[next_];
    if (reader == me_.index_) continue;
    const auto& taking = me_.board().taking(me_.ticket_.stage, track_, reader);
    if (!has_items(taking.taken, me_.ticket_.items(items_))) return false;
  }
  return true;
}

const void* takers_wait::watched() const noexcept {
  if (next_ == end_) return nullptr;
  return &me_.board().taking(me_.ticket_.stage, track_, readers_[next_]).taken;
}

bool takers_wait::awaits(std::size_t rank) const noexcept {
  return next_ < end_ && rank == me_.rank_of(readers_[next_]);
}

}  // namespace muster
