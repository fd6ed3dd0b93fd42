#include <muster/run/link_waits.hpp>

#include <algorithm>
#include <exception>
#include <limits>
#include <utility>

#include <muster/run/diagnosis.hpp>
#include <muster/run/operation_state.hpp>

namespace muster {

bool link_wait::ready() noexcept {
  switch (what_) {
    case until::has_room:
      return link_.has_room(bytes_);
    case until::can_put:
      return link_.can_put();
    case until::has_left:
      return link_.has_left();
    case until::can_post:
      return link_.can_post();
    case until::has_body:
      return link_.body() != wire::link::body_state::under_way;
    default:
      return link_.holds(bytes_);
  }
}

bool invitation_wait::ready() noexcept { return link_.is_invited(); }

bool invitation_wait::interrupted(clock_time now, bool thorough) noexcept {
  if (collective_wait::interrupted(now, thorough)) return true;
  const auto question = std::as_bytes(std::span(&question_, 1));
  if (thorough && !asked_ && link_.has_room(question.size())) {
    asked_ = true;
    link_.send(question, {});
  }
  return false;
}

// ---- answers

// The answer comes behind what nobody will take any more.
bool answer_wait::ready() noexcept {
  static_cast<void>(link_.holds(std::numeric_limits<std::size_t>::max()));
  return is_over_;
}

bool answer_wait::interrupted(clock_time now, bool thorough) noexcept {
  is_over_ = thorough && me_.members().state(peer_) != wire::liveness::alive;
  return collective_wait::interrupted(now, thorough);
}

std::exception_ptr answer_wait::in_vain(std::size_t rank) const noexcept {
  const auto why = find_mismatch(me_, rank);
  return why ? std::make_exception_ptr(*why) : nullptr;
}

// ---- arrivals of peers

namespace {

/// What comes next on a link that holds one; it stays there.
message_header next_header(const wire::link& on, wire::coming what) noexcept {
  message_header next;
  if (what == wire::coming::message) {
    on.peek(std::as_writable_bytes(std::span(&next, 1)));
  } else {
    on.peek_invitation(std::as_writable_bytes(std::span(&next, 1)));
  }
  return next;
}

}  // namespace

peer_arrivals::peer_arrivals(operation_state& me, wire::coming what, pooled_list<std::size_t> ranks,
                             senders who)
    : collective_wait(me),
      what_(what),
      who_(who),
      ranks_(std::move(ranks)),
      pending_(ranks_.size()),
      pending_count_(ranks_.size()),
      heard_(ranks_.size()) {
  links_.reserve(ranks_.size());
  listeners_.resize(ranks_.size());
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    wire::link& one =
        me.links().open(me.ticket().link_lane, ranks_[i], wire::links::purpose::listen);
    links_.push_back(&one);
    pending_.insert(i);
    listeners_[i] = {.in = &heard_, .number = i};
    one.listen(what, listeners_[i]);
    if (is_here(one)) heard_.insert(i);
  }
}

peer_arrivals::~peer_arrivals() {
  for (std::size_t i = 0; i < links_.size(); ++i) {
    links_[i]->ignore(what_, listeners_[i]);
    me_.links().close(*links_[i], wire::links::purpose::listen);
  }
}

bool peer_arrivals::is_here(const wire::link& on) const noexcept {
  return what_ == wire::coming::message ? on.holds(sizeof(message_header)) : on.is_invited();
}

bool peer_arrivals::ready() noexcept {
  while (!heard_.empty()) {
    const std::size_t first = heard_.first();
    if (pending_.contains(first) && is_expected(*links_[first])) return true;
    heard_.erase(first);  // until something else comes
  }
  return false;
}

// Where any may send, one to whom it did not fall may be ahead: what has come from it may be of a
// later operation in this lane.
bool peer_arrivals::is_expected(const wire::link& on) const noexcept {
  if (!is_here(on)) return false;
  if (who_ == senders::all) return true;
  return ((next_header(on, what_).word ^ me_.ticket().word) >> 32) == 0;
}

// A node's ranks use a lane again when all of them are done with its last operation: where that has
// happened, and nothing is on its way, what they did there was another one.
std::exception_ptr peer_arrivals::in_vain(std::size_t rank) const noexcept {
  if (who_ == senders::any && all_heard()) {
    for (std::size_t i = 0; i < ranks_.size(); ++i) {
      const wire::link& from = *links_[i];
      if (!pending_.contains(i) || !is_here(from) || is_expected(from)) continue;
      return std::make_exception_ptr(left_out(me_, ranks_[i], next_header(from, what_).word >> 32));
    }
  }
  return collective_wait::in_vain(rank);
}

bool peer_arrivals::all_heard() const noexcept {
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (pending_.contains(i) && !me_.members().all_heard(ranks_[i])) return false;
  }
  return true;
}

std::optional<std::size_t> peer_arrivals::take_arrival() {
  rethrow_interruption();
  if (pending_count_ == 0) return std::nullopt;
  const std::size_t found = heard_.first();
  erase(found);
  return ranks_[found];
}

void peer_arrivals::erase(std::size_t candidate) noexcept {
  pending_.erase(candidate);
  heard_.erase(candidate);
  --pending_count_;
}

void peer_arrivals::forget(std::span<const std::size_t> ranks) {
  for (const std::size_t rank : ranks) {
    const auto at = static_cast<std::size_t>(std::ranges::find(ranks_, rank) - ranks_.begin());
    if (at != ranks_.size() && pending_.contains(at)) erase(at);
  }
}

pooled_list<std::size_t> peer_arrivals::still_to_come() const {
  pooled_list<std::size_t> all;
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (pending_.contains(i)) all.push_back(ranks_[i]);
  }
  return all;
}

bool peer_arrivals::awaits(std::size_t candidate) const noexcept {
  if (!pending_.contains(candidate) || is_expected(*links_[candidate])) return false;
  return who_ == senders::all || me_.members().state(ranks_[candidate]) != wire::liveness::left ||
         node_has_left(ranks_[candidate]);
}

// One that has left may have done all that fell to it, as long as others of its node are there.
bool peer_arrivals::node_has_left(std::size_t of) const noexcept {
  const std::size_t node = me_.shape().node_of(of);
  for (std::size_t i = 0; i < ranks_.size(); ++i) {
    if (!pending_.contains(i) || me_.shape().node_of(ranks_[i]) != node) continue;
    if (me_.members().state(ranks_[i]) != wire::liveness::left) return false;
  }
  return true;
}

}  // namespace muster
