#include <muster/run/pipeline.hpp>

#include <algorithm>

#include <muster/progress/ticks.hpp>
#include <muster/run/context.hpp>

namespace muster {
namespace {

/// Whether a pipeline's line is of the operation and segment count of `value`. Not by distance: a
/// line that long operations alone use may be any number of operations old. Nor can it be of a
/// later operation, which waits for this one.
bool has_segments(const wire::counter& word, std::uint64_t value) noexcept {
  // acquire: pairs with the release in `node_memory::announce`.
  const std::uint64_t seen = word.load(std::memory_order_acquire);
  return ((seen ^ value) >> 32) == 0 && seen >= value;
}

}  // namespace

pipeline::pipeline(context& me, std::size_t index, const segments& cut, std::size_t sole_reader)
    : me_(me), op_(me.state()), index_(index), cut_(cut), sole_reader_(sole_reader) {
  if (op_.is_checked()) [[unlikely]]
    op_.checks().use_pipeline(index);
  // Until something is lent; an earlier operation on this stage may have.
  pipeline_head(me.node_index()).from = {};
}

pipeline::~pipeline() {
  if (!lent_foreign_.empty()) op_.lenders().remove(*this);
  if (trial_.of == nullptr) return;
  const auto ticks = static_cast<double>(count_ticks() - trial_.began);
  trial_.of->learn(trial_.how, ticks / static_cast<double>(trial_.bytes));
}

wire::pipeline_head& pipeline::pipeline_head(std::size_t local_peer) const noexcept {
  return op_.board().pipeline_head(op_.ticket().stage, index_, local_peer);
}

wire::pipeline_tail& pipeline::pipeline_tail(std::size_t local_peer) const noexcept {
  return op_.board().pipeline_tail(op_.ticket().stage, index_, local_peer);
}

std::byte* pipeline::stage(std::size_t local_peer, std::size_t segment) const noexcept {
  return op_.board().long_stage(op_.ticket().stage, index_, local_peer) +
         segment % cut_.ahead * wire::segment_bytes;
}

std::byte* pipeline::bounce_buffer(std::size_t local_peer) const noexcept {
  constexpr std::size_t last_segment = wire::staged_segments - 1;  // notes stand in the first
  return op_.board().long_stage(op_.ticket().stage, index_, local_peer) +
         last_segment * wire::segment_bytes;
}

bool pipeline::lend(std::span<const std::byte> contribution, lending how) noexcept {
  const bool foreign =
      how == lending::for_copies && choose_foreign(contribution.size(), cut_.block_bytes);
  if (!offer(contribution, foreign, cut_.count())) return false;
  if (cut_.count() != 0) post(cut_.count() - 1);
  return true;
}

bool pipeline::offer(std::span<const std::byte> memory, bool foreign,
                     std::size_t segments_to_take) noexcept {
  const wire::origin from = op_.memory().lend(memory, foreign && op_.books().foreign.is_allowed());
  pipeline_head(op_.node_index()).from = from;  // published by the first post
  if (from.where == wire::origin::kind::foreign) {
    lent_foreign_ = memory;
    op_.lenders().add(*this);
  }
  lent_ = from.where != wire::origin::kind::staged;
  lent_segments_ = lent_ ? segments_to_take : 0;
  if (lent_ && op_.is_checked()) op_.note_lent();
  return lent_;
}

bool pipeline::choose_foreign(std::size_t bytes, std::size_t block_bytes) noexcept {
  const std::size_t others = me_.node().size() - 1;
  // One block for all, or one for each.
  const std::size_t readers = cut_.blocks == 1 && sole_reader_ == all ? others : 1;
  const machine& seen = op_.machine();
  const std::size_t footprint = 2 * bytes * me_.node().size();
  const bool as_measured = block_bytes >= seen.foreign_from(readers, footprint);
  if (op_.time() != nullptr || block_bytes < machine::least_unstaged_bytes) return as_measured;
  if (!seen.foreign_allowed || seen.foreign_by_hand != 0) return as_measured;
  const bool usual = as_measured || (readers == 1 && is_exchange_beyond_caches(footprint));
  if (readers == 1 && is_tried(bytes)) {
    using way = timed_lending::way;
    timed_lending& known = op_.books().lendings.of(op_.call().what, block_bytes);
    const timed_lending::choice now = known.next(usual ? way::lent : way::staged);
    if (now.is_trial) trial_ = {&known, now.how, bytes, count_ticks()};
    if (now.is_trial || known.knows_both()) return now.how == way::lent;
  }
  return usual || is_stage_too_new(bytes, readers);
}

bool pipeline::is_tried(std::size_t bytes) const noexcept {
  constexpr std::size_t outlasts_turns = 4 * 1024 * 1024;
  const bool shares_cores = op_.machine().processors < me_.node().size();
  if (!has_root(op_.call().what)) return !shares_cores;
  return me_.rank() == op_.call().root && (!shares_cores || bytes >= outlasts_turns);
}

bool pipeline::is_exchange_beyond_caches(std::size_t footprint) const noexcept {
  constexpr std::size_t far_beyond = 4;
  return !has_root(op_.call().what) && footprint / far_beyond >= op_.machine().cache_bytes;
}

bool pipeline::is_stage_too_new(std::size_t bytes, std::size_t readers) const noexcept {
  constexpr std::size_t most_readers = 3;  // each takes a copy of the kernel's
  if (readers > most_readers) return false;
  if (op_.books().foreign.is_refused()) return true;  // nothing will be lent, nor counted as lent
  const std::size_t staged = std::min(bytes, cut_.ahead * wire::segment_bytes);
  return op_.books().stage_pages.are_too_new(op_.call().what, op_.ticket().stage, index_, bytes,
                                             staged);
}

pipeline::slot_wait pipeline::slot(std::size_t segment, std::size_t readers) noexcept {
  const std::size_t taken = segment < cut_.ahead ? 0 : segment + 1 - cut_.ahead;
  return {op_, index_, taken, readers, sole_reader_, stage(op_.node_index(), segment)};
}

pipeline::slot_wait pipeline::slot(std::size_t segment,
                                   std::span<const std::size_t> readers) noexcept {
  const std::size_t taken = segment < cut_.ahead ? 0 : segment + 1 - cut_.ahead;
  return {op_, index_, taken, local_peer_list(readers), stage(op_.node_index(), segment)};
}

void pipeline::post(std::size_t segment) noexcept {
  posted_ = segment + 1;
  op_.memory().announce(pipeline_head(op_.node_index()).posted, op_.ticket().segments(segment + 1));
}

bool pipeline::is_here(std::size_t local_peer, std::size_t segment) const noexcept {
  // What this rank says itself it knows: it need not hear it back.
  if (local_peer == op_.node_index()) return segment < posted_;
  // The arrival comes first: only it says whether the local peer is in the same operation.
  if (!op_.has_arrived(local_peer)) return false;
  if (op_.differs(local_peer)) return true;  // to be thrown
  return has_segments(pipeline_head(local_peer).posted, op_.ticket().segments(segment + 1));
}

const void* pipeline::watched_of(std::size_t local_peer) const noexcept {
  if (!op_.has_arrived(local_peer)) return &op_.arrival(local_peer).word;
  return &pipeline_head(local_peer).posted;
}

pipeline::segment_wait pipeline::arrived(std::size_t local_peer, std::size_t segment) noexcept {
  return {op_, *this, local_peer, segment};
}

everybody pipeline::all_here(std::size_t segment) noexcept {
  return {op_, local_peer_list(op_.node().size()), this, segment};
}

local_peer_arrivals pipeline::here(std::size_t segment) noexcept { return {op_, *this, segment}; }

bool pipeline::lends(std::size_t local_peer) const noexcept {
  return pipeline_head(local_peer).from.where != wire::origin::kind::staged;
}

std::size_t pipeline::segments_of(std::size_t local_peer) const noexcept {
  if (lends(local_peer)) return 1;
  return takes_.empty() ? cut_.count() : takes_[local_peer];
}

const std::byte* pipeline::piece(std::size_t local_peer, std::size_t segment,
                                 std::size_t block) noexcept {
  const auto& from = pipeline_head(local_peer).from;
  if (from.where == wire::origin::kind::staged)
    return stage(local_peer, segment) + block * cut_.piece;
  const std::byte* lent = op_.memory().borrow(from);
  return lent == nullptr ? nullptr : lent + block * cut_.block_bytes + cut_.offset(segment);
}

pipeline::copying pipeline::copy(std::size_t local_peer, std::size_t segment, std::size_t block,
                                 std::span<std::byte> whole) {
  const auto& from = pipeline_head(local_peer).from;
  switch (from.where) {
    case wire::origin::kind::staged:
      return copying(me_.copy_result(whole.subspan(cut_.offset(segment), cut_.length(segment)),
                                     piece(local_peer, segment, block)));
    case wire::origin::kind::foreign:
      return fetch(local_peer, from, block * cut_.block_bytes, whole);
    default:
      return copying(me_.copy_result(whole, piece(local_peer, 0, block)));
  }
}

pipeline::copying pipeline::fetch(std::size_t local_peer, const wire::origin& from,
                                  std::size_t offset, std::span<std::byte> to) {
  int refused = 0;
  op_.read_local_peers([&] { refused = op_.memory().fetch(local_peer, from, offset, to); });
  if (refused != 0) return copying(copy_bounced(local_peer, offset, to));
  return copying(op_.work());
}

// ---- where the kernel refuses a copy

class pipeline::bounce_wait final : public collective_wait {
public:
  bounce_wait(operation_state& me, const pipeline& on, std::size_t local_peer) noexcept
      : collective_wait(me), pipeline_(on), local_peer_(local_peer) {}
  bool ready() noexcept override { return pipeline_.is_given(); }
  bool await_ready() noexcept { return ready() || poll_again(); }
  void await_resume() { rethrow_interruption(); }

private:
  std::span<const std::size_t> candidates() const noexcept override {
    return me_.node().subspan(local_peer_, 1);
  }
  bool awaits(std::size_t) const noexcept override { return true; }

  const pipeline& pipeline_;
  std::size_t local_peer_;
};

task<> pipeline::copy_bounced(std::size_t local_peer, std::size_t offset, std::span<std::byte> to) {
  while (!to.empty()) {
    const auto piece = to.first(std::min(to.size(), wire::segment_bytes));
    ask(local_peer, offset, piece.size());
    co_await bounce_wait(op_, *this, local_peer);
    co_await me_.copy_result(piece, bounce_buffer(local_peer));
    op_.memory().announce(pipeline_tail(op_.node_index()).used, request_);
    offset += piece.size();
    to = to.subspan(piece.size());
  }
}

void pipeline::ask(std::size_t local_peer, std::size_t offset, std::size_t bytes) noexcept {
  wire::pipeline_tail& mine = pipeline_tail(op_.node_index());
  mine.offset = offset;
  mine.bytes = bytes;
  request_ = op_.ticket().segments(wire::copy_request::of(local_peer, ++request_count_));
  op_.memory().announce(mine.asked, request_);
}

bool pipeline::is_given() const noexcept {
  // acquire: pairs with the release in `node_memory::announce`.
  return pipeline_tail(op_.node_index()).given.load(std::memory_order_acquire) == request_;
}

bool pipeline::has_asked(std::size_t local_peer) const noexcept {
  const wire::pipeline_tail& theirs = pipeline_tail(local_peer);
  // acquire: pairs with the release in `node_memory::announce`; what is asked for stands still
  // until it is given. relaxed: only whoever is asked writes `given`.
  const std::uint64_t asked = theirs.asked.load(std::memory_order_acquire);
  const std::uint64_t mine = op_.ticket().segments(wire::copy_request::of(op_.node_index(), 0));
  return ((asked ^ mine) >> wire::copy_request::count_bits) == 0 &&
         theirs.given.load(std::memory_order_relaxed) != asked;
}

void pipeline::answer(std::size_t local_peer) noexcept {
  wire::pipeline_tail& theirs = pipeline_tail(local_peer);
  const std::size_t offset = std::min<std::size_t>(theirs.offset, lent_foreign_.size());
  const std::size_t bytes = std::min<std::size_t>(theirs.bytes, wire::segment_bytes);
  const auto piece = lent_foreign_.subspan(offset, std::min(bytes, lent_foreign_.size() - offset));
  copy_bytes(bounce_buffer(op_.node_index()), piece.data(), piece.size());
  answered_ = local_peer;
  answer_ = theirs.asked.load(std::memory_order_relaxed);  // `has_asked` has synchronised
  op_.memory().announce(theirs.given, answer_);
}

// It may have used others' since.
bool pipeline::has_used_answer() const noexcept {
  // acquire: the reader has copied the answer out.
  const std::uint64_t used = pipeline_tail(answered_).used.load(std::memory_order_acquire);
  return ((used ^ answer_) >> 32) == 0 &&
         wire::copy_request::count(used) >= wire::copy_request::count(answer_);
}

void pipeline::answer_readers() noexcept {
  if (answered_ != all && !has_used_answer()) return;
  answered_ = all;
  for (std::size_t i = 0; i < me_.node().size() && answered_ == all; ++i) {
    if (i == op_.node_index() || !has_asked(i)) continue;
    op_.books().foreign.refuse();
    answer(i);
  }
}

void pipeline::take(std::size_t segment) noexcept {
  op_.memory().announce(pipeline_tail(op_.node_index()).taken, op_.ticket().segments(segment + 1));
}

void pipeline::take_of(std::size_t local_peer, std::size_t segment) noexcept {
  // The local peer's own line: it reads nothing on this pipeline, so nobody else writes there.
  op_.memory().announce(pipeline_tail(local_peer).taken, op_.ticket().segments(segment + 1));
}

pipeline::return_wait pipeline::returned(std::size_t readers) noexcept {
  if (lent_ && op_.is_checked()) op_.note_returned();
  return {op_, index_, lent_segments_, readers, sole_reader_};
}

pipeline::return_wait pipeline::taken(std::size_t segment, std::size_t readers) noexcept {
  return {op_, index_, segment + 1, readers, sole_reader_};
}

void pipeline::segment_wait::await_resume() {
  rethrow_interruption();
  if (local_peer_ == me_.node_index()) return;
  me_.have_read(watched());
  me_.check_fingerprint(local_peer_);
}

const void* pipeline::segment_wait::watched() const noexcept {
  return pipeline_.watched_of(local_peer_);
}

bool pipeline::segment_wait::ready() noexcept { return pipeline_.is_here(local_peer_, segment_); }

std::span<const std::size_t> pipeline::segment_wait::candidates() const noexcept {
  return me_.node().subspan(local_peer_, 1);
}

takers_wait::takers_wait(operation_state& me, std::size_t pipeline, std::uint64_t segments,
                         std::size_t readers, std::size_t sole_reader) noexcept
    : takers_wait(me, pipeline, segments, local_peer_list(me.node().size())) {
  sole_reader_ = sole_reader;
  if (readers == pipeline::all) return;
  next_ = readers;
  end_ = readers + 1;
}

const wire::counter& takers_wait::taken_by(std::size_t line) const noexcept {
  return me_.board().pipeline_tail(me_.ticket().stage, pipeline_, line).taken;
}

bool takers_wait::is_taken(std::size_t line) const noexcept {
  return has_segments(taken_by(line), me_.ticket().segments(segments_));
}

bool takers_wait::ready() noexcept {
  if (segments_ == 0) return true;
  if (sole_reader_ != pipeline::all) return is_taken(me_.node_index());
  for (; next_ < end_; ++next_) {
    const std::size_t reader = readers_[next_];
    if (reader != me_.node_index() && !is_taken(reader)) return false;
  }
  return true;
}

const void* takers_wait::watched() const noexcept {
  if (sole_reader_ != pipeline::all) return &taken_by(me_.node_index());
  return next_ == end_ ? nullptr : &taken_by(readers_[next_]);
}

// One at a time: all are needed.
std::span<const std::size_t> takers_wait::candidates() const noexcept {
  if (sole_reader_ != pipeline::all) return me_.node().subspan(sole_reader_, 1);
  return next_ < end_ ? me_.node().subspan(readers_[next_], 1) : std::span<const std::size_t>{};
}

bool takers_wait::awaits(std::size_t) const noexcept {
  return sole_reader_ == pipeline::all || !is_taken(me_.node_index());
}

}  // namespace muster
