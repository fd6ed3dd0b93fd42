#include <muster/run/link_waits.hpp>

#include <algorithm>
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

// ---- arrivals of peers

namespace {

/// What comes next on a link that holds one; it stays there.
message_header next_header(const wire::link& on, peer_arrivals::what what) noexcept {
  message_header next;
  if (what == peer_arrivals::what::messages) {
    on.peek(std::as_writable_bytes(std::span(&next, 1)));
  } else {
    on.peek_invitation(std::as_writable_bytes(std::span(&next, 1)));
  }
  return next;
}

}  // namespace

peer_arrivals::peer_arrivals(operation_state& me, what of, pooled_list<std::size_t> ranks,
                             senders who)
    : collective_wait(me), what_(of), who_(who), pending_(std::move(ranks)) {
  links_.reserve(pending_.size());
  for (const std::size_t rank : pending_) {
    links_.push_back(&me.links().open(me.ticket().link_lane, rank, wire::links::sends::nothing));
  }
  open_ = links_;
}

peer_arrivals::~peer_arrivals() {
  for (wire::link* const each : open_) me_.links().close(*each);
}

bool peer_arrivals::has_come(const wire::link& on) const noexcept {
  return what_ == what::messages ? on.holds(sizeof(message_header)) : on.is_invited();
}

bool peer_arrivals::ready() noexcept {
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    if (!is_expected(*links_[i])) continue;
    found_ = i;
    return true;
  }
  return false;
}

// Where any may send, one to whom it did not fall may be ahead: what has come from it may be of a
// later operation in this lane.
bool peer_arrivals::is_expected(const wire::link& on) const noexcept {
  if (!has_come(on)) return false;
  if (who_ == senders::all) return true;
  return ((next_header(on, what_).word ^ me_.ticket().word) >> 32) == 0;
}

// A node's ranks use a lane again when all of them are done with its last operation: where that has
// happened, and nothing is on its way, what they did there was another one.
std::exception_ptr peer_arrivals::in_vain(std::size_t rank) const noexcept {
  if (who_ == senders::any && all_heard()) {
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      const wire::link& from = *links_[i];
      if (!has_come(from) || is_expected(from)) continue;
      return std::make_exception_ptr(
          left_out(me_, pending_[i], next_header(from, what_).word >> 32));
    }
  }
  return collective_wait::in_vain(rank);
}

bool peer_arrivals::all_heard() const noexcept {
  return std::ranges::all_of(pending_,
                             [this](std::size_t rank) { return me_.members().all_heard(rank); });
}

std::optional<std::size_t> peer_arrivals::take_arrival() {
  rethrow_interruption();
  if (pending_.empty()) return std::nullopt;
  const std::size_t rank = pending_[found_];
  erase(found_);
  return rank;
}

void peer_arrivals::erase(std::size_t index) {
  pending_.erase(pending_.begin() + static_cast<std::ptrdiff_t>(index));
  links_.erase(links_.begin() + static_cast<std::ptrdiff_t>(index));
}

void peer_arrivals::forget(std::span<const std::size_t> ranks) {
  for (const std::size_t rank : ranks) {
    const auto at = std::ranges::find(pending_, rank);
    if (at != pending_.end()) erase(static_cast<std::size_t>(at - pending_.begin()));
  }
}

bool peer_arrivals::awaits(std::size_t candidate) const noexcept {
  if (is_expected(*links_[candidate])) return false;
  if (who_ == senders::all) return true;
  const std::size_t rank = pending_[candidate];
  return me_.members().state(rank) != wire::liveness::left || node_has_left(rank);
}

// One that has left may have done all that fell to it, as long as others of its node are there.
bool peer_arrivals::node_has_left(std::size_t of) const noexcept {
  const std::size_t node = me_.shape().node_of(of);
  return std::ranges::all_of(pending_, [this, node](std::size_t rank) {
    return me_.shape().node_of(rank) != node || me_.members().state(rank) == wire::liveness::left;
  });
}

}  // namespace muster
