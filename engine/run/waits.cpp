#include <muster/run/waits.hpp>

#include <utility>

#include <muster/run/diagnosis.hpp>
#include <muster/run/operation_state.hpp>
#include <muster/run/pipeline.hpp>

namespace muster {

muster::engine& collective_wait::engine_of(operation_state& me) noexcept { return me.engine(); }

bool collective_wait::interrupted(clock_time now, bool thorough) noexcept {
  if (thorough) note_whom();
  if (interrupted_by_scope(now, [this] { return me_.describe() + ": "; }, me_.rank())) return true;
  me_.lenders().answer_readers();  // one of them may have to be answered before this wait can end
  if (me_.members().broken()) {
    if (auto why = breakage(me_)) {
      interrupt(std::move(why));
      return true;
    }
  }
  if (!thorough) return false;
  const std::span<const std::size_t> ranks = candidates();
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (!awaits_other(i)) continue;
    auto why = in_vain(ranks[i]);
    if (why == nullptr || !awaits(i)) continue;
    // It, or one that stands for it, may have done its part just before it left: then this wait may
    // be for another one.
    hear_the_gone();
    if (ready() || candidates().data() != ranks.data() || !awaits(i)) continue;
    // A rank that breaks the team may leave right after: the first of the two is the reason.
    if (me_.members().broken()) {
      if (auto first = breakage_once_written(me_)) why = std::move(first);
    }
    interrupt(std::move(why));
    return true;
  }
  return false;
}

// What such a rank sent may lie behind what another operation has not taken yet.
void collective_wait::hear_the_gone() const noexcept {
  for (const std::size_t rank : candidates()) {
    if (me_.members().state(rank) != wire::liveness::alive) me_.members().all_heard(rank);
  }
}

void collective_wait::note_whom() const noexcept {
  if (me_.team().flight() == nullptr) return;
  std::size_t first = 0;
  std::size_t count = 0;
  const std::span<const std::size_t> ranks = candidates();
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (!awaits_other(i)) continue;
    if (count == 0) first = ranks[i];
    ++count;
  }
  me_.note_wait(first, count);
}

bool collective_wait::awaits_other(std::size_t candidate) const noexcept {
  return candidates()[candidate] != me_.rank() && awaits(candidate);
}

std::size_t collective_wait::first_awaited() const noexcept {
  std::size_t i = 0;
  while (i < candidates().size() && !awaits_other(i)) ++i;
  return i;
}

// One that lends may be asked by any reader to copy for it, whomever it waits for.
void collective_wait::watch() noexcept {
  if (!me_.lenders().empty()) {
    for (const std::size_t rank : me_.node()) me_.members().watch(rank);
  }
  const std::span<const std::size_t> ranks = candidates();
  const std::size_t first = first_awaited();
  watched_candidate_ = first;
  const std::size_t end = needs_all() ? std::min(first + 1, ranks.size()) : ranks.size();
  for (std::size_t i = first; i < end; ++i) {
    if (awaits_other(i)) me_.members().watch(ranks[i]);
  }
}

bool collective_wait::still_watches() const noexcept {
  return !needs_all() || first_awaited() == watched_candidate_;
}

std::exception_ptr collective_wait::in_vain(std::size_t rank) const noexcept {
  return find_loss(me_, rank);
}

std::string collective_wait::describe() const {
  constexpr std::size_t most_named = 8;
  std::string text = me_.describe() + " waits for";
  std::size_t count = 0;
  const std::span<const std::size_t> ranks = candidates();
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    if (!awaits_other(i) || ++count > most_named) continue;
    text += (count == 1 ? " rank " : ", ") + std::to_string(ranks[i]);
  }
  if (count > most_named) text += " and " + std::to_string(count - most_named) + " more";
  return count == 0 ? text + " itself" : text;
}

bool collective_wait::awaits_other_cores_only() const noexcept {
  const muster::shape& shape = me_.shape();
  const std::uint32_t core = shape.place_of(me_.rank()).core;
  if (core == place::unknown) return false;
  if (me_.team().on_this_core().empty()) return true;
  const std::span<const std::size_t> ranks = candidates();
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const bool may_be_here = shape.place_of(ranks[i]).core == core &&
                             shape.node_of(ranks[i]) == shape.node_of(me_.rank());
    if (may_be_here && awaits_other(i)) return false;
  }
  return true;
}

bool collective_wait::awaits_another_node() const noexcept {
  const muster::shape& shape = me_.shape();
  const std::size_t first = first_awaited();
  return first < candidates().size() &&
         shape.node_of(candidates()[first]) != shape.node_of(me_.rank());
}

bool collective_wait::poll_again() noexcept {
  muster::engine& engine = engine_of(me_);
  if (!engine.nothing_else_waits()) return false;
  // What another node sends is found by the fabric, which the engine asks.
  if (me_.shape().nodes() > 1 && awaits_another_node()) return false;
  unsigned looks = engine.looks_before_suspending();
  // On a shared core a turn lost is a whole round of its ranks. What another core is about to
  // announce is worth waiting for, up to about that turn's price.
  if (looks == 0 && awaits_other_cores_only()) looks = engine.looks_at_other_cores();
  return look_on(looks, [this] { return ready(); });
}

// Whoever waits for a lane is many operations ahead of somebody, whom every look holds up: looks
// far apart let him go on, and then find several lanes free at once. Where cores are shared there
// is none: that somebody may need this core.
bool turn_wait::poll_later() noexcept {
  constexpr unsigned pauses = 32;
  muster::engine& engine = engine_of(me_);
  if (!engine.nothing_else_waits()) return false;
  for (unsigned paused = 0; paused < engine.looks_before_suspending(); paused += pauses) {
    for (unsigned i = 0; i < pauses; ++i) spin_pause();
    if (ready()) return true;
  }
  return false;
}

bool turn_wait::ready() noexcept { return me_.lane_is_free(); }

bool turn_wait::await_ready() noexcept {
  const bool is_far_ahead = me_.ticket().kind <= stage_kind::one_way;
  return is_far_ahead ? poll_later() : poll_again();
}

turn_wait*& turn_wait::last() const noexcept {
  return me_.books().last_turns[static_cast<std::size_t>(me_.ticket().kind)];
}

void turn_wait::await_suspend(const coroutine_place& place, std::coroutine_handle<> self) noexcept {
  // One that was reserved may begin after those that come after it.
  ahead_ = last();
  while (ahead_ != nullptr && ahead_->me_.ticket().sequence > me_.ticket().sequence) {
    behind_ = ahead_;
    ahead_ = ahead_->ahead_;
  }
  (behind_ != nullptr ? behind_->ahead_ : last()) = this;
  if (ahead_ == nullptr) return suspend(place, self);
  ahead_->behind_ = this;
  suspend_behind_another(place, self);
}

turn_wait::~turn_wait() {
  if (ahead_ != nullptr) ahead_->behind_ = behind_;
  if (behind_ != nullptr) {
    behind_->ahead_ = ahead_;
    if (ahead_ == nullptr) behind_->be_asked(engine_of(me_));
  } else if (last() == this) {
    last() = ahead_;
  }
}

std::span<const std::size_t> turn_wait::candidates() const noexcept {
  return me_.ticket().kind == stage_kind::apart ? std::span<const std::size_t>{} : me_.node();
}

bool turn_wait::awaits(std::size_t local_peer) const noexcept {
  return me_.books().known_complete[local_peer] < me_.ticket().after;
}

// ---- counting in

wire::counter& count_in_wait::count() const noexcept {
  return me_.board().arrival_counter(me_.ticket().lane).counted_in;
}

bool count_in_wait::await_ready() const noexcept {
  wire::virtual_time* const time = me_.time();
  return time == nullptr || !time->take_line(&count());
}

void count_in_wait::await_suspend(std::coroutine_handle<> self) const noexcept {
  me_.time()->resume_when_done(self);
}

bool count_in_wait::await_resume() const {
  // release: what this rank wrote is seen by whoever is last, since additions that follow each
  // other pass on what each released. acquire: this rank may be that one.
  const std::uint64_t counted = count().fetch_add(1, std::memory_order_acq_rel) + 1;
  const std::size_t local_peers = me_.node().size();
  if (counted % local_peers != 0) return false;
  for (std::size_t i = 0; i < local_peers; ++i) {
    if (i == me_.node_index()) continue;
    me_.have_read(&me_.arrival(i).word);
    me_.check_fingerprint(i);
  }
  return true;
}

bool read_wait::ready() noexcept { return me_.has_arrived(local_peer_); }

bool read_wait::found_there() const noexcept {
  me_.look_ahead(local_peer_, bytes_);
  return true;
}

const void* read_wait::watched() const noexcept { return &me_.arrival(local_peer_).word; }

std::span<const std::byte> read_wait::await_resume() {
  rethrow_interruption();
  me_.have_read(watched());
  me_.check_fingerprint(local_peer_);
  return {me_.publication(local_peer_, bytes_), bytes_};
}

std::span<const std::size_t> read_wait::candidates() const noexcept {
  return me_.node().subspan(local_peer_, 1);
}

bool local_peers_wait::is_here(std::size_t local_peer) const noexcept {
  return pipeline_ != nullptr ? pipeline_->is_here(local_peer, segment_)
                              : me_.has_arrived(local_peer);
}

const void* local_peers_wait::watched_of(std::size_t local_peer) const noexcept {
  return pipeline_ != nullptr ? pipeline_->watched_of(local_peer) : &me_.arrival(local_peer).word;
}

bool everybody::ready() noexcept {
  for (; next_ < among_.size(); ++next_) {
    const std::size_t local_peer = among_[next_];
    if (local_peer == me_.node_index()) continue;
    if (!is_here(local_peer)) return false;
    if (me_.differs(local_peer)) return true;  // to be thrown
  }
  return true;
}

bool everybody::found_there() const noexcept {
  if (pipeline_ != nullptr) return true;
  for (std::size_t i = 0; i < among_.size(); ++i) {
    if (among_[i] != me_.node_index()) me_.look_ahead(among_[i], me_.call().bytes());
  }
  return true;
}

const void* everybody::watched() const noexcept {
  return next_ < among_.size() ? watched_of(among_[next_]) : nullptr;
}

void everybody::await_resume() {
  rethrow_interruption();
  for (std::size_t i = 0; i < among_.size(); ++i) {
    if (among_[i] == me_.node_index()) continue;
    me_.have_read(watched_of(among_[i]));
    me_.check_fingerprint(among_[i]);
  }
}

std::span<const std::size_t> everybody::candidates() const noexcept { return me_.node(); }

bool everybody::awaits(std::size_t local_peer) const noexcept {
  const std::size_t i = among_.find(local_peer);
  if (i < next_ || i == among_.size() || local_peer == me_.node_index()) return false;
  // One that turned out to differ is asked about again, so that it is reported before the last
  // local peer has come.
  return !is_here(local_peer) || me_.differs(local_peer);
}

local_peer_arrivals::local_peer_arrivals(operation_state& me) noexcept
    : local_peers_wait(me, nullptr, 0),
      pending_(me.node().size(), me.node_index()),
      found_(me.node().size()),
      pending_count_(me.node().size() - 1),
      cursor_(me.node_index()) {}

local_peer_arrivals::local_peer_arrivals(operation_state& me,
                                         std::span<const std::size_t> local_peers) noexcept
    : local_peers_wait(me, nullptr, 0),
      pending_(me.node().size()),
      found_(me.node().size()),
      pending_count_(0),
      cursor_(me.node_index()) {
  for (const std::size_t each : local_peers) {
    if (each == me.node_index()) continue;
    pending_.insert(each);
    ++pending_count_;
  }
}

local_peer_arrivals::local_peer_arrivals(operation_state& me, pipeline& on,
                                         std::size_t segment) noexcept
    : local_peer_arrivals(me) {
  pipeline_ = &on;
  segment_ = segment;
  if (segment == 0) return;
  local_peer_set done(me.node().size());
  pending_count_ -=
      pending_.move_if(done, [&](std::size_t i) { return on.segments_of(i) <= segment; });
}

bool local_peer_arrivals::ready() noexcept {
  const bool first_look = !std::exchange(looked_, true) && pipeline_ == nullptr;
  const std::size_t more = pending_.move_if(found_, [&](std::size_t i) {
    if (!is_here(i)) return false;
    if (first_look) me_.look_ahead(i, me_.call().bytes());
    return true;
  });
  pending_count_ -= more;
  found_count_ += more;
  return found_count_ != 0;
}

std::optional<std::size_t> local_peer_arrivals::take_arrival() {
  rethrow_interruption();
  if (found_count_ == 0) return std::nullopt;
  cursor_ = found_.first_from(cursor_);
  me_.have_read(watched_of(cursor_));
  me_.check_fingerprint(cursor_);
  found_.erase(cursor_);
  --found_count_;
  return cursor_;
}

std::span<const std::size_t> local_peer_arrivals::candidates() const noexcept { return me_.node(); }

bool local_peer_arrivals::awaits(std::size_t local_peer) const noexcept {
  return pending_.contains(local_peer) && !is_here(local_peer);
}

}  // namespace muster
