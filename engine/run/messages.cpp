// What ranks say to each other over links, in order.

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include <muster/run/context.hpp>

namespace muster {
namespace {

using sends = wire::links::sends;

static_assert(sizeof(message_header) + context::most_note <= wire::link::most_head);

std::span<std::byte> bytes_of(message_header& header) noexcept {
  return std::as_writable_bytes(std::span(&header, 1));
}

/// What comes next on a link that holds one; it stays there.
message_header next_header(const wire::link& on, peer_arrivals::what what) noexcept {
  message_header next;
  if (what == peer_arrivals::what::messages) {
    on.peek(bytes_of(next));
  } else {
    on.peek_invitation(bytes_of(next));
  }
  return next;
}

// Pieces half as long as what may be on its way keep both ends busy at once.
constexpr std::size_t link_piece = wire::link::capacity / 2;

}  // namespace

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

bool context::is_zero_copy(std::size_t bytes) const noexcept {
  return bytes >= team_.machine_.zero_copy_from;
}

task<> context::send(std::size_t to, std::span<const std::byte> bytes) {
  if (is_checked()) [[unlikely]]
    checks().exchange("sends to", to, size());
  return is_zero_copy(bytes.size()) ? send_zero_copy(to, bytes) : send_pieces(to, bytes);
}

task<> context::send_pieces(std::size_t to, std::span<const std::byte> bytes) {
  using until = link_wait::until;
  const wire::open_link out = link(to, sends::messages);
  const message_header header{ticket_.word, bytes.size()};
  auto head = std::as_bytes(std::span(&header, 1));
  do {
    const auto body = bytes.first(std::min(bytes.size(), link_piece));
    co_await link_wait(*this, *out, until::has_room, head.size() + body.size(), to);
    out->send(head, body);
    co_await work();
    head = {};
    bytes = bytes.subspan(body.size());
  } while (!bytes.empty());
  co_await link_wait(*this, *out, until::has_left, 0, to);
}

task<> context::send_zero_copy(std::size_t to, std::span<const std::byte> bytes) {
  using until = link_wait::until;
  const wire::open_link out = link(to, sends::messages);
  const message_header header{ticket_.word, bytes.size()};
  co_await invitation_wait(*this, *out, header, to);
  take_invitation(*out, to, bytes.size());
  co_await link_wait(*this, *out, until::can_put, 0, to);
  out->put(std::as_bytes(std::span(&header, 1)), bytes);
  co_await work();
  co_await link_wait(*this, *out, until::has_left, 0, to);
  if (out->was_refused()) co_await send_pieces(to, bytes);
}

task<> context::invite(std::size_t from, std::span<std::byte> place) {
  if (is_checked()) [[unlikely]]
    checks().exchange("invites", from, size());
  if (!is_zero_copy(place.size())) co_return;
  if (is_checked()) [[unlikely]]
    posted_.add(from, place);
  const wire::open_link out = link(from, sends::invitations);
  const message_header header{ticket_.word, place.size()};
  co_await link_wait(*this, *out, link_wait::until::can_post, 0, from);
  out->post(std::as_bytes(std::span(&header, 1)), place);
  co_await work();
}

task<> context::receive(std::size_t from, std::span<std::byte> bytes) {
  if (is_checked()) [[unlikely]] {
    checks().exchange("receives from", from, size());
    if (is_zero_copy(bytes.size())) checks().receive(from, bytes, posted_.take(from));
  }
  using until = link_wait::until;
  const wire::open_link in = link(from);
  do {
    co_await link_wait(*this, *in, until::holds, sizeof(message_header), from);
  } while (take_header(*in, from, bytes.size()).bytes != bytes.size());
  if (is_zero_copy(bytes.size())) {
    read_lent([&] { in->begin_taking(bytes); });
    co_await work();
    co_await link_wait(*this, *in, until::has_body, 0, from);
    if (in->body() == wire::link::body_state::in_place) co_return;
    // The sender finds out, and sends it once more, in pieces.
    co_await link_wait(*this, *in, until::holds, sizeof(message_header), from);
    take_header(*in, from, bytes.size());
  }
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), link_piece));
    co_await link_wait(*this, *in, until::holds, piece.size(), from);
    in->take(piece);
    co_await work();
    bytes = bytes.subspan(piece.size());
  }
}

task<> context::expect(std::size_t from, std::span<std::byte> bytes) {
  co_await invite(from, bytes);
  co_await receive(from, bytes);
}

task<> context::send_note(std::size_t to, std::span<const std::byte> note) {
  if (is_checked()) [[unlikely]] {
    checks().exchange("sends a note to", to, size());
    checks().note("sends", note.size(), most_note);
  }
  const wire::open_link out = link(to, sends::messages);
  std::array<std::byte, wire::link::most_head> head;
  const message_header header{ticket_.word, note.size()};
  std::memcpy(head.data(), &header, sizeof header);
  std::ranges::copy(note, head.begin() + sizeof header);
  const std::size_t bytes = sizeof header + note.size();
  co_await link_wait(*this, *out, link_wait::until::has_room, bytes, to);
  out->send(std::span(head).first(bytes), {});
  co_await work();
}

task<> context::receive_note(std::size_t from, std::span<std::byte> note) {
  if (is_checked()) [[unlikely]] {
    checks().exchange("receives a note from", from, size());
    checks().note("receives", note.size(), most_note);
  }
  const wire::open_link in = link(from);
  do {
    co_await link_wait(*this, *in, link_wait::until::holds, sizeof(message_header), from);
  } while (take_header(*in, from, note.size()).bytes != note.size());
  if (!note.empty()) in->take(note);  // came with its header
  co_await work();
}

message_header context::take_header(wire::link& on, std::size_t from, std::size_t bytes) {
  message_header header;
  on.take(bytes_of(header));
  require_expected(header, from, bytes);
  return header;
}

void context::take_invitation(wire::link& on, std::size_t from, std::size_t bytes) {
  message_header header;
  on.take_invitation(bytes_of(header));
  require_expected(header, from, bytes);
}

void context::require_expected(const message_header& header, std::size_t from,
                               std::size_t bytes) const {
  const std::uint64_t said = header.bytes & ~message_header::asks;
  if (header.word == ticket_.word && said == bytes) return;
  if (auto why = mismatch(from)) throw *why;
  if (has_neighbors(call_.what) && (header.word ^ ticket_.word) >> 32 != 0) {
    throw not_mutual(from, header.word >> 32);
  }
  throw error(errc::mismatched_call,
              "rank " + std::to_string(from) + " speaks of " + std::to_string(said) +
                  " bytes where rank " + std::to_string(rank()) + " expected " +
                  std::to_string(bytes) + " in " + describe(),
              from);
}

void context::check_length(std::size_t from, std::size_t sent, std::size_t expected) const {
  if (sent == expected) return;
  throw error(errc::mismatched_call,
              "rank " + std::to_string(from) + " sent " + std::to_string(sent) +
                  " bytes where rank " + std::to_string(rank()) + " expected " +
                  std::to_string(expected) + " in " + describe(),
              from);
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

task<std::size_t> context::sender_among(std::span<const std::size_t> ranks) {
  pooled_list<std::size_t> all(ranks.begin(), ranks.end());
  peer_arrivals coming(*this, peer_arrivals::what::messages, std::move(all),
                       peer_arrivals::senders::any);
  const auto first = co_await coming.next();
  co_return *first;
}

peer_arrivals::peer_arrivals(context& me, what of, pooled_list<std::size_t> ranks, senders who)
    : collective_wait(me), what_(of), who_(who), pending_(std::move(ranks)) {
  links_.reserve(pending_.size());
  for (const std::size_t rank : pending_) {
    links_.push_back(&me.links().open(me.ticket_.channel_lane, rank, sends::nothing));
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
  return ((next_header(on, what_).word ^ me_.ticket_.word) >> 32) == 0;
}

// A node's ranks use a lane again when all of them are done with its last operation: where that has
// happened, and nothing is on its way, what they did there was another one.
std::exception_ptr peer_arrivals::in_vain(std::size_t rank) const noexcept {
  if (who_ == senders::any && all_heard()) {
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      const wire::link& from = *links_[i];
      if (!has_come(from) || is_expected(from)) continue;
      return std::make_exception_ptr(
          me_.left_out(pending_[i], next_header(from, what_).word >> 32));
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
