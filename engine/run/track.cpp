// Tracks: streams of items from each rank of a node to its neighbours.

#include <muster/run/context.hpp>

#include <algorithm>

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

items::items(std::size_t block_bytes, std::size_t blocks, std::size_t ahead,
             std::size_t grain) noexcept
    : block_bytes(block_bytes), blocks(blocks), ahead(ahead) {
  piece = std::max(wire::item_bytes / blocks / grain * grain, grain);
}

items items::followed(std::size_t block_bytes, std::size_t blocks) noexcept {
  constexpr std::size_t least = 16 * 1024;  // more than a notice costs
  items cut(block_bytes, blocks, far);
  const std::size_t wanted = std::max((block_bytes + far - 1) / far, least / blocks);
  constexpr std::size_t grain = wire::cache_line;
  cut.piece = std::min(cut.piece, (wanted + grain - 1) / grain * grain);
  return cut;
}

track::track(context& me, std::size_t index, const items& cut, std::size_t sole_reader) noexcept
    : me_(me), index_(index), cut_(cut), sole_reader_(sole_reader) {
  // Until something is lent; an earlier operation on this stage may have.
  posting(me.index_).from = {};
}

track::~track() {
  if (!lent_foreign_.empty()) me_.forget_lender(*this);
}

wire::posting& track::posting(std::size_t neighbour) const noexcept {
  return me_.board().posting(me_.ticket_.stage, index_, neighbour);
}

wire::taking& track::taking(std::size_t neighbour) const noexcept {
  return me_.board().taking(me_.ticket_.stage, index_, neighbour);
}

std::byte* track::stage(std::size_t neighbour, std::size_t item) const noexcept {
  return me_.board().long_stage(me_.ticket_.stage, index_, neighbour) +
         item % cut_.ahead * wire::item_bytes;
}

std::byte* track::bounce_buffer(std::size_t neighbour) const noexcept {
  constexpr std::size_t last_item = wire::staged_items - 1;  // notes stand in the first
  return me_.board().long_stage(me_.ticket_.stage, index_, neighbour) +
         last_item * wire::item_bytes;
}

bool track::lend(std::span<const std::byte> contribution, lending how) noexcept {
  const bool foreign =
      how == lending::for_copies && is_better_foreign(contribution.size(), cut_.block_bytes);
  if (!offer(contribution, foreign, cut_.count())) return false;
  if (cut_.count() != 0) post(cut_.count() - 1);
  return true;
}

bool track::offer(std::span<const std::byte> memory, bool foreign,
                  std::size_t items_to_take) noexcept {
  const wire::origin from = me_.fabric().lend(memory, foreign && me_.team_.may_lend_foreign());
  posting(me_.index_).from = from;  // published by the first post
  if (from.where == wire::origin::kind::foreign) {
    lent_foreign_ = memory;
    me_.add_lender(*this);
  }
  lent_ = from.where != wire::origin::kind::staged;
  lent_items_ = lent_ ? items_to_take : 0;
  return lent_;
}

bool track::is_better_foreign(std::size_t bytes, std::size_t block_bytes) const noexcept {
  const std::size_t others = me_.node().size() - 1;
  // One block for all, or one for each.
  const std::size_t readers = cut_.blocks == 1 && sole_reader_ == all ? others : 1;
  const machine& seen = me_.team_.machine();
  const std::size_t footprint = 2 * bytes * me_.node().size();
  if (block_bytes >= seen.foreign_from(readers, footprint)) return true;
  if (me_.fabric().time() != nullptr || block_bytes < machine::least_without_staging) return false;
  if (!seen.foreign_allowed || seen.foreign_by_hand != 0) return false;
  return (readers == 1 && is_exchange_beyond_caches(footprint)) || is_stage_too_new(bytes, readers);
}

bool track::is_exchange_beyond_caches(std::size_t footprint) const noexcept {
  constexpr std::size_t far_beyond = 4;
  return !has_root(me_.call_.what) && footprint / far_beyond >= me_.team_.machine().cache_bytes;
}

bool track::is_stage_too_new(std::size_t bytes, std::size_t readers) const noexcept {
  constexpr std::size_t most_readers = 3;  // each takes a copy of the kernel's
  if (readers > most_readers) return false;
  if (me_.team_.is_refused_foreign()) return true;  // nothing will be lent, nor counted as lent
  const std::size_t staged = std::min(bytes, cut_.ahead * wire::item_bytes);
  return me_.team_.stage_pages_.are_too_new(me_.call_.what, me_.ticket_.stage, index_, bytes,
                                            staged);
}

track::room_wait track::room(std::size_t item, std::size_t readers) noexcept {
  const std::size_t taken = item < cut_.ahead ? 0 : item + 1 - cut_.ahead;
  return {me_, index_, taken, readers, sole_reader_, stage(me_.index_, item)};
}

track::room_wait track::room(std::size_t item, std::span<const std::size_t> readers) noexcept {
  const std::size_t taken = item < cut_.ahead ? 0 : item + 1 - cut_.ahead;
  return {me_, index_, taken, neighbour_list(readers), stage(me_.index_, item)};
}

void track::post(std::size_t item) noexcept {
  posted_ = item + 1;
  me_.fabric().announce(posting(me_.index_).posted, me_.ticket_.items(item + 1));
}

bool track::is_here(std::size_t neighbour, std::size_t item) const noexcept {
  // What this rank says itself it knows: it need not hear it back.
  if (neighbour == me_.index_) return item < posted_;
  // The arrival comes first: only it says whether the neighbour is in the same operation.
  if (!me_.has_arrived(neighbour)) return false;
  if (me_.differs(neighbour)) return true;  // to be thrown
  return has_items(posting(neighbour).posted, me_.ticket_.items(item + 1));
}

const void* track::watched_of(std::size_t neighbour) const noexcept {
  if (!me_.has_arrived(neighbour)) return &me_.arrival(neighbour).word;
  return &posting(neighbour).posted;
}

track::item_wait track::arrived(std::size_t neighbour, std::size_t item) noexcept {
  return {me_, *this, neighbour, item};
}

neighbour_arrivals track::here(std::size_t item) noexcept { return {me_, *this, item}; }

bool track::lends(std::size_t neighbour) const noexcept {
  return posting(neighbour).from.where != wire::origin::kind::staged;
}

std::size_t track::items_of(std::size_t neighbour) const noexcept {
  if (lends(neighbour)) return 1;
  return takes_.empty() ? cut_.count() : takes_[neighbour];
}

const std::byte* track::piece(std::size_t neighbour, std::size_t item, std::size_t block) noexcept {
  const auto& from = posting(neighbour).from;
  if (from.where == wire::origin::kind::staged) return stage(neighbour, item) + block * cut_.piece;
  const std::byte* lent = me_.fabric().borrow(from);
  return lent == nullptr ? nullptr : lent + block * cut_.block_bytes + cut_.offset(item);
}

track::copying track::copy(std::size_t neighbour, std::size_t item, std::size_t block,
                           std::span<std::byte> whole) {
  const auto& from = posting(neighbour).from;
  switch (from.where) {
    case wire::origin::kind::staged:
      return copying(me_.copy_result(whole.subspan(cut_.offset(item), cut_.length(item)),
                                     piece(neighbour, item, block)));
    case wire::origin::kind::foreign:
      return fetch(neighbour, from, block * cut_.block_bytes, whole);
    default:
      return copying(me_.copy_result(whole, piece(neighbour, 0, block)));
  }
}

track::copying track::fetch(std::size_t neighbour, const wire::origin& from, std::size_t offset,
                            std::span<std::byte> to) {
  const std::size_t rank = me_.rank_of(neighbour);
  int refused = 0;
  me_.read_neighbours([&] { refused = me_.fabric().fetch(rank, from, offset, to); });
  if (refused != 0) return copying(copy_bounced(neighbour, offset, to));
  return copying(me_.work());
}

// ---- where the kernel refuses a copy

class track::bounce_wait final : public collective_wait {
public:
  bounce_wait(context& me, const track& on, std::size_t neighbour) noexcept
      : collective_wait(me), track_(on), neighbour_(neighbour) {}
  bool ready() noexcept override { return track_.is_given(); }
  bool await_ready() noexcept { return ready() || look_again(); }
  void await_resume() { rethrow_interruption(); }

private:
  bool awaits(std::size_t rank) const noexcept override { return rank == me_.rank_of(neighbour_); }

  const track& track_;
  std::size_t neighbour_;
};

task<> track::copy_bounced(std::size_t neighbour, std::size_t offset, std::span<std::byte> to) {
  while (!to.empty()) {
    const auto piece = to.first(std::min(to.size(), wire::item_bytes));
    ask(neighbour, offset, piece.size());
    co_await bounce_wait(me_, *this, neighbour);
    co_await me_.copy_result(piece, bounce_buffer(neighbour));
    me_.fabric().announce(taking(me_.index_).used, request_);
    offset += piece.size();
    to = to.subspan(piece.size());
  }
}

void track::ask(std::size_t neighbour, std::size_t offset, std::size_t bytes) noexcept {
  wire::taking& mine = taking(me_.index_);
  mine.offset = offset;
  mine.bytes = bytes;
  request_ = me_.ticket_.items(wire::copy_request::of(neighbour, ++request_count_));
  me_.fabric().announce(mine.asked, request_);
}

bool track::is_given() const noexcept {
  // acquire: pairs with the release in `fabric::announce`.
  return taking(me_.index_).given.load(std::memory_order_acquire) == request_;
}

bool track::has_asked(std::size_t neighbour) const noexcept {
  const wire::taking& theirs = taking(neighbour);
  // acquire: pairs with the release in `fabric::announce`; what is asked for stands still until it
  // is given. relaxed: only whoever is asked writes `given`.
  const std::uint64_t asked = theirs.asked.load(std::memory_order_acquire);
  const std::uint64_t mine = me_.ticket_.items(wire::copy_request::of(me_.index_, 0));
  return ((asked ^ mine) >> wire::copy_request::count_bits) == 0 &&
         theirs.given.load(std::memory_order_relaxed) != asked;
}

void track::answer(std::size_t neighbour) noexcept {
  wire::taking& theirs = taking(neighbour);
  const std::size_t offset = std::min<std::size_t>(theirs.offset, lent_foreign_.size());
  const std::size_t bytes = std::min<std::size_t>(theirs.bytes, wire::item_bytes);
  const auto piece = lent_foreign_.subspan(offset, std::min(bytes, lent_foreign_.size() - offset));
  copy_bytes(bounce_buffer(me_.index_), piece.data(), piece.size());
  answered_ = neighbour;
  answer_ = theirs.asked.load(std::memory_order_relaxed);  // `has_asked` has synchronised
  me_.fabric().announce(theirs.given, answer_);
}

// It may have used others' since.
bool track::has_used_answer() const noexcept {
  // acquire: the reader has copied the answer out.
  const std::uint64_t used = taking(answered_).used.load(std::memory_order_acquire);
  return ((used ^ answer_) >> 32) == 0 &&
         wire::copy_request::count(used) >= wire::copy_request::count(answer_);
}

void track::answer_readers() noexcept {
  if (answered_ != all && !has_used_answer()) return;
  answered_ = all;
  for (std::size_t i = 0; i < me_.node().size() && answered_ == all; ++i) {
    if (i == me_.index_ || !has_asked(i)) continue;
    me_.team_.foreign_was_refused();
    answer(i);
  }
}

void track::take(std::size_t item) noexcept {
  me_.fabric().announce(taking(me_.index_).taken, me_.ticket_.items(item + 1));
}

void track::take_of(std::size_t neighbour, std::size_t item) noexcept {
  // The neighbour's own line: it reads nothing on this track, so nobody else writes there.
  me_.fabric().announce(taking(neighbour).taken, me_.ticket_.items(item + 1));
}

track::return_wait track::returned(std::size_t readers) noexcept {
  return {me_, index_, lent_items_, readers, sole_reader_};
}

track::return_wait track::taken(std::size_t item, std::size_t readers) noexcept {
  return {me_, index_, item + 1, readers, sole_reader_};
}

void track::item_wait::await_resume() {
  rethrow_interruption();
  if (neighbour_ == me_.index_) return;
  me_.have_fetched(watched());
  me_.check_fingerprint(neighbour_);
}

const void* track::item_wait::watched() const noexcept { return track_.watched_of(neighbour_); }

bool track::item_wait::ready() noexcept { return track_.is_here(neighbour_, item_); }

bool track::item_wait::awaits(std::size_t rank) const noexcept {
  return rank == me_.rank_of(neighbour_);
}

takers_wait::takers_wait(context& me, std::size_t track, std::uint64_t items, std::size_t readers,
                         std::size_t sole_reader) noexcept
    : takers_wait(me, track, items, neighbour_list(me.node().size())) {
  sole_reader_ = sole_reader;
  if (readers == track::all) return;
  next_ = readers;
  end_ = readers + 1;
}

const wire::counter& takers_wait::taken_by(std::size_t line) const noexcept {
  return me_.board().taking(me_.ticket_.stage, track_, line).taken;
}

bool takers_wait::is_taken(std::size_t line) const noexcept {
  return has_items(taken_by(line), me_.ticket_.items(items_));
}

bool takers_wait::ready() noexcept {
  if (items_ == 0) return true;
  if (sole_reader_ != track::all) return is_taken(me_.index_);
  for (; next_ < end_; ++next_) {
    const std::size_t reader = readers_[next_];
    if (reader != me_.index_ && !is_taken(reader)) return false;
  }
  return true;
}

const void* takers_wait::watched() const noexcept {
  if (sole_reader_ != track::all) return &taken_by(me_.index_);
  return next_ == end_ ? nullptr : &taken_by(readers_[next_]);
}

bool takers_wait::awaits(std::size_t rank) const noexcept {
  if (sole_reader_ != track::all) {
    return rank == me_.rank_of(sole_reader_) && !is_taken(me_.index_);
  }
  return next_ < end_ && rank == me_.rank_of(readers_[next_]);
}

}  // namespace muster
