// What ranks say to each other through channels, in order.

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include <muster/run/context.hpp>

namespace muster {
namespace {

using wire::stream;

static_assert(sizeof(message_header) + context::most_note <= wire::channel::most_head);

/// A channel of this rank, for as long as it is used.
class open_channel {
public:
  open_channel(wire::fabric& on, std::size_t lane, std::size_t from, std::size_t to, stream what)
      : fabric_(on), channel_(on.open(lane, from, to, what)) {}
  ~open_channel() { fabric_.close(channel_); }
  open_channel(const open_channel&) = delete;
  open_channel& operator=(const open_channel&) = delete;

  wire::channel& operator*() const noexcept { return channel_; }
  wire::channel* operator->() const noexcept { return &channel_; }

private:
  wire::fabric& fabric_;
  wire::channel& channel_;
};

/// What comes next in a channel that holds one; it stays there.
message_header next_header(const wire::channel& in) noexcept {
  message_header next;
  in.peek(std::as_writable_bytes(std::span(&next, 1)));
  return next;
}

// Pieces half as long as the channel keep both ends busy at once.
constexpr std::size_t channel_piece = wire::channel::capacity / 2;

}  // namespace

bool channel_wait::ready() noexcept {
  switch (what_) {
    case until::has_room:
      return channel_.has_room(bytes_);
    case until::has_left:
      return channel_.has_left();
    default:
      return channel_.holds(bytes_);
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
  using until = channel_wait::until;
  const open_channel out(fabric(), ticket_.channel_lane, rank(), to, stream::messages);
  const message_header header{ticket_.word, bytes.size()};
  auto head = std::as_bytes(std::span(&header, 1));
  do {
    const auto body = bytes.first(std::min(bytes.size(), channel_piece));
    co_await channel_wait(*this, *out, until::has_room, head.size() + body.size(), to);
    out->put(head, body);
    co_await work();
    head = {};
    bytes = bytes.subspan(body.size());
  } while (!bytes.empty());
  co_await channel_wait(*this, *out, until::has_left, 0, to);
}

task<> context::send_zero_copy(std::size_t to, std::span<const std::byte> bytes) {
  using until = channel_wait::until;
  const open_channel in(fabric(), ticket_.channel_lane, to, rank(), stream::invitations);
  const open_channel out(fabric(), ticket_.channel_lane, rank(), to, stream::messages);
  const message_header header{ticket_.word, bytes.size()};
  co_await invitation_wait(*this, *in, *out, header, to);
  take_header(*in, to, bytes.size());
  co_await channel_wait(*this, *out, until::has_room, wire::channel::zero_copy_room, to);
  out->put_zero_copy(std::as_bytes(std::span(&header, 1)), bytes);
  co_await work();
  co_await channel_wait(*this, *out, until::has_left, 0, to);
  if (out->was_refused()) co_await send_pieces(to, bytes);
}

task<> context::invite(std::size_t from, std::size_t bytes) {
  if (is_checked()) [[unlikely]]
    checks().exchange("invites", from, size());
  if (!is_zero_copy(bytes)) co_return;
  using until = channel_wait::until;
  const open_channel out(fabric(), ticket_.channel_lane, rank(), from, stream::invitations);
  const message_header header{ticket_.word, bytes};
  co_await channel_wait(*this, *out, until::has_room, sizeof header, from);
  out->put(std::as_bytes(std::span(&header, 1)), {});
  co_await work();
}

task<> context::receive(std::size_t from, std::span<std::byte> bytes) {
  if (is_checked()) [[unlikely]]
    checks().exchange("receives from", from, size());
  using until = channel_wait::until;
  const open_channel in(fabric(), ticket_.channel_lane, from, rank(), stream::messages);
  do {
    co_await channel_wait(*this, *in, until::holds, sizeof(message_header), from);
  } while (take_header(*in, from, bytes.size()).bytes != bytes.size());
  if (is_zero_copy(bytes.size())) {
    bool taken = false;
    read_lent([&] { taken = in->take_zero_copy(bytes); });
    co_await work();
    if (taken) co_return;
    // The sender finds out, and sends it once more, in pieces.
    co_await channel_wait(*this, *in, until::holds, sizeof(message_header), from);
    take_header(*in, from, bytes.size());
  }
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), channel_piece));
    co_await channel_wait(*this, *in, until::holds, piece.size(), from);
    in->take(piece);
    co_await work();
    bytes = bytes.subspan(piece.size());
  }
}

task<> context::expect(std::size_t from, std::span<std::byte> bytes) {
  co_await invite(from, bytes.size());
  co_await receive(from, bytes);
}

task<> context::send_note(std::size_t to, std::span<const std::byte> note) {
  if (is_checked()) [[unlikely]] {
    checks().exchange("sends a note to", to, size());
    checks().note("sends", note.size(), most_note);
  }
  const open_channel out(fabric(), ticket_.channel_lane, rank(), to, stream::messages);
  std::array<std::byte, wire::channel::most_head> head;
  const message_header header{ticket_.word, note.size()};
  std::memcpy(head.data(), &header, sizeof header);
  std::ranges::copy(note, head.begin() + sizeof header);
  const std::size_t bytes = sizeof header + note.size();
  co_await channel_wait(*this, *out, channel_wait::until::has_room, bytes, to);
  out->put(std::span(head).first(bytes), {});
  co_await work();
}

task<> context::receive_note(std::size_t from, std::span<std::byte> note) {
  if (is_checked()) [[unlikely]] {
    checks().exchange("receives a note from", from, size());
    checks().note("receives", note.size(), most_note);
  }
  const open_channel in(fabric(), ticket_.channel_lane, from, rank(), stream::messages);
  do {
    co_await channel_wait(*this, *in, channel_wait::until::holds, sizeof(message_header), from);
  } while (take_header(*in, from, note.size()).bytes != note.size());
  if (!note.empty()) in->take(note);  // came with its header
  co_await work();
}

message_header context::take_header(wire::channel& in, std::size_t from, std::size_t bytes) {
  message_header header;
  in.take(std::as_writable_bytes(std::span(&header, 1)));
  const std::uint64_t said = header.bytes & ~message_header::asks;
  if (header.word == ticket_.word && said == bytes) return header;
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

bool invitation_wait::ready() noexcept { return invitations_.holds(sizeof(message_header)); }

bool invitation_wait::interrupted(clock_time now, bool thorough) noexcept {
  if (collective_wait::interrupted(now, thorough)) return true;
  const auto question = std::as_bytes(std::span(&question_, 1));
  if (thorough && !asked_ && messages_.has_room(question.size())) {
    asked_ = true;
    messages_.put(question, {});
  }
  return false;
}

// ---- arrivals of peers

task<std::size_t> context::sender_among(std::span<const std::size_t> ranks) {
  pooled_list<std::size_t> all(ranks.begin(), ranks.end());
  peer_arrivals coming(*this, stream::messages, std::move(all), peer_arrivals::senders::any);
  const auto first = co_await coming.next();
  co_return *first;
}

peer_arrivals::peer_arrivals(context& me, stream what, pooled_list<std::size_t> ranks, senders who)
    : collective_wait(me), who_(who), pending_(std::move(ranks)) {
  channels_.reserve(pending_.size());
  for (const std::size_t rank : pending_) {
    channels_.push_back(&me.fabric().open(me.ticket_.channel_lane, rank, me.rank(), what));
  }
  open_ = channels_;
}

peer_arrivals::~peer_arrivals() {
  for (wire::channel* const each : open_) me_.fabric().close(*each);
}

bool peer_arrivals::ready() noexcept {
  for (std::size_t i = 0; i < pending_.size(); ++i) {
    if (!has_come_on(*channels_[i])) continue;
    found_ = i;
    return true;
  }
  return false;
}

// Where any may send, one to whom it did not fall may be ahead: what has come from it may be of a
// later operation in this lane.
bool peer_arrivals::has_come_on(const wire::channel& channel) const noexcept {
  if (!channel.holds(sizeof(message_header))) return false;
  if (who_ == senders::all) return true;
  return ((next_header(channel).word ^ me_.ticket_.word) >> 32) == 0;
}

// A node's ranks use a lane again when all of them are done with its last operation: where that has
// happened, and nothing is on its way, what they did there was another one.
std::exception_ptr peer_arrivals::in_vain(std::size_t rank) const noexcept {
  if (who_ == senders::any && all_heard()) {
    for (std::size_t i = 0; i < pending_.size(); ++i) {
      const wire::channel& from = *channels_[i];
      if (!from.holds(sizeof(message_header)) || has_come_on(from)) continue;
      return std::make_exception_ptr(me_.left_out(pending_[i], next_header(from).word >> 32));
    }
  }
  return collective_wait::in_vain(rank);
}

bool peer_arrivals::all_heard() const noexcept {
  return std::ranges::all_of(pending_,
                             [this](std::size_t rank) { return me_.fabric().all_heard(rank); });
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
  channels_.erase(channels_.begin() + static_cast<std::ptrdiff_t>(index));
}

void peer_arrivals::forget(std::span<const std::size_t> ranks) {
  for (const std::size_t rank : ranks) {
    const auto at = std::ranges::find(pending_, rank);
    if (at != pending_.end()) erase(static_cast<std::size_t>(at - pending_.begin()));
  }
}

bool peer_arrivals::awaits(std::size_t rank) const noexcept {
  const auto at = std::ranges::find(pending_, rank);
  if (at == pending_.end()) return false;
  if (has_come_on(*channels_[static_cast<std::size_t>(at - pending_.begin())])) return false;
  if (who_ == senders::all) return true;
  return me_.fabric().state(rank) != wire::liveness::left || node_has_left(rank);
}

// One that has left may have done all that fell to it, as long as others of its node are there.
bool peer_arrivals::node_has_left(std::size_t of) const noexcept {
  const std::size_t node = me_.shape().node_of(of);
  return std::ranges::all_of(pending_, [this, node](std::size_t rank) {
    return me_.shape().node_of(rank) != node || me_.fabric().state(rank) == wire::liveness::left;
  });
}

}  // namespace muster
