#include "engine/collective/context.hpp"

#include <algorithm>

#include "engine/collective/describe.hpp"

namespace muster {

// ---- context

context::context(team& of, const arguments& call, const algorithm& chosen) noexcept
    : team_(of),
      call_(call),
      node_(of.node_),
      index_(of.node_index_),
      kind_(pack_kind(call, static_cast<std::size_t>(&chosen - of.catalog_.data()))) {
  // Odd multipliers spread the parts over the word; `begin` mixes it.
  const std::uint64_t fingerprint =
      call.count * 0x9e37'79b9'7f4a'7c15U + call.root * 0xc2b2'ae3d'27d4'eb4fU + kind_;
  ticket_ = of.order_.begin(fingerprint, chosen.length(of.shape_, of.machine_, call));
  write_record();
  // Short results are written as they are, whatever their number.
  results_exceed_cache_ =
      ticket_.length >= message_length::lengthy && received_in_node() > of.machine_.cache_bytes / 4;
}

context::~context() {
  // Its coroutine was destroyed while it was suspended.
  if (!ended_) abandon(error(errc::stopped, describe() + ": destroyed before it ended", rank()));
}

std::size_t context::received_in_node() const noexcept {
  const bool block_a_rank =
      call_.what == collective::allgather || call_.what == collective::alltoall;
  return call_.bytes() * node_.size() * (block_a_rank ? size() : 1);
}

void context::write_record() noexcept {
  wire::call_record& record = fabric().record(ticket_.lane, rank());
  // Relaxed: a reader orders itself by the arrival word, or takes what it sees as a hint.
  record.sequence.store(ticket_.sequence, std::memory_order_relaxed);
  record.kind.store(kind_, std::memory_order_relaxed);
  record.count.store(call_.count, std::memory_order_relaxed);
  record.root.store(call_.root, std::memory_order_relaxed);
}

bool context::lane_is_free() noexcept {
  const std::uint64_t after = ticket_.after;
  if (after <= team_.known_complete_by_all_) return true;
  if (team_.order_.completed() < after) return false;
  std::uint64_t by_all = team_.order_.completed();
  for (std::size_t i = 0; i < node_.size(); ++i) {
    if (i == index_) continue;
    std::uint64_t& known = team_.known_complete_[i];
    // acquire: what they read is read before this rank overwrites it.
    if (known < after) known = board().completion(i).upto.load(std::memory_order_acquire);
    if (known < after) return false;
    by_all = std::min(by_all, known);
  }
  team_.known_complete_by_all_ = by_all;
  return true;
}

void context::arrive() noexcept {
  wire::arrival& mine = arrival(index_);
  // relaxed: published by the announcement.
  mine.completed.store(team_.order_.completed(), std::memory_order_relaxed);
  fabric().announce(mine.word, ticket_.word);
}

void context::publish(std::span<const std::byte> bytes) noexcept {
  if (!bytes.empty()) {
    std::memcpy(publication(index_, bytes.size()), bytes.data(), bytes.size());
  }
  arrive();
}

std::byte* context::publication(std::size_t neighbour, std::size_t bytes) const noexcept {
  if (bytes <= wire::inline_bytes) return arrival(neighbour).payload.data();
  return ticket_.length == message_length::tiny ? board().tiny_stage(ticket_.stage, neighbour)
                                                : board().short_stage(ticket_.stage, neighbour);
}

void context::complete() noexcept {
  ended_ = true;
  fabric().announce(board().completion(index_).upto, team_.order_.complete(ticket_.sequence));
}

void context::abandon(const error& why) noexcept {
  ended_ = true;
  fabric().fail({.code = static_cast<errc>(why.code().value()),
                 .rank = why.rank(),
                 .text = "rank " + std::to_string(rank()) + ": " + why.text()});
  fabric().settle();
}

void context::throw_breakage() const {
  if (auto why = breakage()) std::rethrow_exception(why);
  throw error(errc::stopped, describe() + ": the team is being broken by another rank");
}

std::string context::describe() const {
  return muster::describe(call_) + ", operation " + std::to_string(ticket_.sequence);
}

void context::check_fingerprint(std::size_t neighbour) {
  const wire::arrival& line = arrival(neighbour);
  // relaxed: whoever comes here has seen the word with acquire.
  if (line.word.load(std::memory_order_relaxed) != ticket_.word) [[unlikely]] {
    if (auto why = mismatch(node_[neighbour])) throw *why;
    throw error(errc::mismatched_call,
                "rank " + std::to_string(node_[neighbour]) + " and rank " + std::to_string(rank()) +
                    " called different collectives before " + describe(),
                node_[neighbour]);
  }
  std::uint64_t& known = team_.known_complete_[neighbour];
  known = std::max(known, line.completed.load(std::memory_order_relaxed));
}

std::optional<error> context::mismatch(std::size_t other) const {
  const std::uint64_t last = ticket_.sequence;
  const std::uint64_t first = last > wire::lanes ? last - wire::lanes + 1 : 1;
  for (std::uint64_t sequence = first; sequence <= last; ++sequence) {
    const std::size_t lane = sequence % wire::lanes;
    const auto mine = read_record(fabric().record(lane, rank()));
    const auto theirs = read_record(fabric().record(lane, other));
    if (mine.sequence != sequence || theirs.sequence != sequence || mine == theirs) continue;
    return error(errc::mismatched_call,
                 "operation " + std::to_string(sequence) + " is " + muster::describe(theirs) +
                     " on rank " + std::to_string(other) + " but " + muster::describe(mine) +
                     " on rank " + std::to_string(rank()),
                 other);
  }
  return std::nullopt;
}

std::exception_ptr context::lost(std::size_t rank) const noexcept {
  if (const auto why = mismatch(rank)) return std::make_exception_ptr(*why);
  if (fabric().state(rank) == wire::liveness::alive) return nullptr;
  return std::make_exception_ptr(
      error(errc::rank_left, "rank " + std::to_string(rank) + " left before " + describe(), rank));
}

std::exception_ptr context::breakage() const noexcept {
  const auto why = fabric().failed();
  if (!why) return nullptr;
  return std::make_exception_ptr(error(why->code, describe() + ": " + why->text, why->rank));
}

// ---- channels between nodes

namespace {

/// What goes before each message: who sends it, by fingerprint, and how long it is.
struct message_header {
  std::uint64_t word;
  std::uint64_t bytes;
};

void copy_in(wire::ring& to, std::uint64_t at, std::span<const std::byte> bytes) noexcept {
  const std::size_t start = at % wire::ring::capacity;
  const std::size_t first = std::min(bytes.size(), wire::ring::capacity - start);
  std::memcpy(to.data.data() + start, bytes.data(), first);
  std::memcpy(to.data.data(), bytes.data() + first, bytes.size() - first);
}

void copy_out(const wire::ring& from, std::uint64_t at, std::span<std::byte> bytes) noexcept {
  const std::size_t start = at % wire::ring::capacity;
  const std::size_t first = std::min(bytes.size(), wire::ring::capacity - start);
  std::memcpy(bytes.data(), from.data.data() + start, first);
  std::memcpy(bytes.data() + first, from.data.data(), bytes.size() - first);
}

// Pieces half as long as the ring keep both ends busy at once.
constexpr std::size_t ring_piece = wire::ring::capacity / 2;

}  // namespace

task<> context::deliver(std::size_t to, std::span<const std::byte> bytes) {
  wire::ring& ring = fabric().channel(ticket_.lane, rank(), to);
  // relaxed: only this rank writes it.
  std::uint64_t at = ring.written.load(std::memory_order_relaxed);
  const message_header header{ticket_.word, bytes.size()};
  co_await counter_wait(*this, ring.read, at + sizeof header - wire::ring::capacity, to);
  copy_in(ring, at, std::as_bytes(std::span(&header, 1)));
  at += sizeof header;
  if (bytes.empty()) fabric().announce(ring.written, at);
  while (!bytes.empty()) {
    const std::size_t now = std::min(bytes.size(), ring_piece);
    co_await counter_wait(*this, ring.read, at + now - wire::ring::capacity, to);
    copy_in(ring, at, bytes.first(now));
    at += now;
    fabric().announce(ring.written, at);
    bytes = bytes.subspan(now);
  }
}

task<> context::expect(std::size_t from, std::span<std::byte> bytes) {
  wire::ring& ring = fabric().channel(ticket_.lane, from, rank());
  // relaxed: only this rank writes it.
  std::uint64_t at = ring.read.load(std::memory_order_relaxed);
  message_header header;
  co_await counter_wait(*this, ring.written, at + sizeof header, from);
  copy_out(ring, at, std::as_writable_bytes(std::span(&header, 1)));
  at += sizeof header;
  if (header.word != ticket_.word || header.bytes != bytes.size()) {
    if (auto why = mismatch(from)) throw *why;
    throw error(errc::mismatched_call,
                "rank " + std::to_string(from) + " sent " + std::to_string(header.bytes) +
                    " bytes where rank " + std::to_string(rank()) + " expected " +
                    std::to_string(bytes.size()) + " in " + describe(),
                from);
  }
  if (bytes.empty()) fabric().announce(ring.read, at);
  while (!bytes.empty()) {
    const std::size_t now = std::min(bytes.size(), ring_piece);
    co_await counter_wait(*this, ring.written, at + now, from);
    copy_out(ring, at, bytes.first(now));
    at += now;
    fabric().announce(ring.read, at);
    bytes = bytes.subspan(now);
  }
}

// ---- waits

muster::engine& collective_wait::engine_of(context& me) noexcept { return me.team_.engine(); }

bool collective_wait::interrupted(clock_time now, bool thorough) noexcept {
  if (interrupted_by_scope(now, [this] { return me_.describe() + ": "; }, me_.rank())) return true;
  if (me_.fabric().broken()) {
    if (auto why = me_.breakage()) {
      interrupt(std::move(why));
      return true;
    }
  }
  if (!thorough) return false;
  for (std::size_t rank = 0; rank < me_.size(); ++rank) {
    if (rank == me_.rank() || !awaits(rank)) continue;
    auto why = me_.lost(rank);
    // It may have done its part just before it left.
    if (why == nullptr || ready()) continue;
    interrupt(std::move(why));
    return true;
  }
  return false;
}

bool collective_wait::look_again() noexcept {
  muster::engine& engine = engine_of(me_);
  if (!engine.nothing_else_waits()) return false;
  // The first looks are close together: a peer on its own core is a cache-line trip away.
  constexpr unsigned close_looks = 16;
  for (unsigned i = 0; i < engine.looks_before_suspending(); ++i) {
    if (i >= close_looks) spin_pause();
    if (ready()) return true;
  }
  return false;
}

bool context::turn_wait::awaits(std::size_t rank) const noexcept {
  if (me_.shape().node_of(rank) != me_.shape().node_of(me_.rank())) return false;
  return me_.team_.known_complete_[me_.shape().index_of(rank)] < me_.ticket_.after;
}

bool read_wait::ready() noexcept { return me_.has_arrived(neighbour_); }

std::span<const std::byte> read_wait::await_resume() {
  rethrow_interruption();
  me_.check_fingerprint(neighbour_);
  return me_.published(neighbour_, bytes_);
}

bool read_wait::awaits(std::size_t rank) const noexcept { return rank == me_.rank_of(neighbour_); }

arrivals::arrivals(context& me) noexcept : collective_wait(me) {
  const std::size_t count = me.node().size();
  for (std::size_t i = 0; i < count; ++i) {
    if (i != me.node_index()) pending_.insert(i);
  }
  left_ = count - 1;
  cursor_ = me.node_index();
}

arrivals::arrivals(context& me, track& on, std::size_t item) noexcept : arrivals(me) {
  track_ = &on;
  item_ = item;
  if (item == 0) return;
  for (std::size_t i = 0; i < me.node().size(); ++i) {
    if (!pending_.contains(i) || on.items_of(i) > item) continue;
    pending_.erase(i);
    --left_;
  }
}

bool arrivals::is_here(std::size_t neighbour) const noexcept {
  return track_ != nullptr ? track_->is_here(neighbour, item_) : me_.has_arrived(neighbour);
}

bool arrivals::ready() noexcept {
  const std::size_t count = me_.node().size();
  std::size_t i = cursor_;
  do {
    i = i + 1 == count ? 0 : i + 1;
    if (pending_.contains(i) && is_here(i)) {
      cursor_ = i;
      return true;
    }
  } while (i != cursor_);
  return false;
}

std::optional<std::size_t> arrivals::take_arrival() {
  rethrow_interruption();
  if (left_ == 0) return std::nullopt;
  me_.check_fingerprint(cursor_);
  pending_.erase(cursor_);
  --left_;
  return cursor_;
}

bool arrivals::awaits(std::size_t rank) const noexcept {
  if (me_.shape().node_of(rank) != me_.shape().node_of(me_.rank())) return false;
  const std::size_t i = me_.shape().index_of(rank);
  return pending_.contains(i) && !is_here(i);
}

// ---- tracks

items::items(std::size_t block_bytes, std::size_t blocks) noexcept
    : block_bytes(block_bytes), blocks(blocks) {
  const std::size_t fitting = wire::item_bytes / blocks / wire::cache_line * wire::cache_line;
  piece = std::max(fitting, wire::cache_line);
}

track::track(context& me, std::size_t index, const items& cut) noexcept
    : me_(me), index_(index), cut_(cut) {
  // Until something is lent; an earlier operation of this lane may have.
  me.board().posting(me.ticket_.stage, index, me.index_).from = {};
}

std::byte* track::stage(std::size_t neighbour, std::size_t item) const noexcept {
  return me_.board().long_stage(me_.ticket_.stage, index_, neighbour) +
         item % wire::staged_items * wire::item_bytes;
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
  const std::size_t taken = item < wire::staged_items ? 0 : item + 1 - wire::staged_items;
  return {me_, index_, taken, readers, stage(me_.index_, item)};
}

void track::post(std::size_t item) noexcept {
  wire::posting& mine = me_.board().posting(me_.ticket_.stage, index_, me_.index_);
  me_.fabric().announce(mine.posted, me_.ticket_.items(item + 1));
}

bool track::is_here(std::size_t neighbour, std::size_t item) const noexcept {
  // The arrival comes first: only it says whether the neighbour is in the same operation.
  if (!me_.has_arrived(neighbour)) return false;
  const wire::arrival& line = me_.arrival(neighbour);
  if (line.word.load(std::memory_order_relaxed) != me_.ticket_.word) return true;  // to be thrown
  const auto& posting = me_.board().posting(me_.ticket_.stage, index_, neighbour);
  return counter_wait::reached(posting.posted, me_.ticket_.items(item + 1));
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

void track::copy(std::size_t neighbour, std::size_t item, std::size_t block,
                 std::span<std::byte> whole) {
  const auto& from = me_.board().posting(me_.ticket_.stage, index_, neighbour).from;
  switch (from.where) {
    case wire::origin::kind::staged:
      me_.copy_result(whole.subspan(cut_.offset(item), cut_.length(item)),
                      piece(neighbour, item, block));
      break;
    case wire::origin::kind::foreign:
      fetch(neighbour, from, block * cut_.block_bytes, whole);
      break;
    default:
      me_.copy_result(whole, piece(neighbour, 0, block));
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
  me_.check_fingerprint(neighbour_);
}

bool track::item_wait::ready() noexcept { return track_.is_here(neighbour_, item_); }

bool track::item_wait::awaits(std::size_t rank) const noexcept {
  return rank == me_.rank_of(neighbour_);
}

takers_wait::takers_wait(context& me, std::size_t track, std::uint64_t items,
                         std::size_t readers) noexcept
    : collective_wait(me),
      track_(track),
      items_(items),
      next_(readers == track::all ? 0 : readers),
      end_(readers == track::all ? me.node().size() : readers + 1) {}

bool takers_wait::ready() noexcept {
  if (items_ == 0) return true;
  for (; next_ < end_; ++next_) {
    if (next_ == me_.index_) continue;
    const auto& taking = me_.board().taking(me_.ticket_.stage, track_, next_);
    if (!counter_wait::reached(taking.taken, me_.ticket_.items(items_))) return false;
  }
  return true;
}

bool takers_wait::awaits(std::size_t rank) const noexcept {
  return next_ < end_ && rank == me_.rank_of(next_);
}

}  // namespace muster
