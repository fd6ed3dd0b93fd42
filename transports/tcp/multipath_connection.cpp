#include "transports/tcp/multipath_connection.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

#include "transports/stream/connections.hpp"
#include "transports/stream/links.hpp"
#include "transports/tcp/endpoint.hpp"
#include "transports/tcp/socket.hpp"

namespace muster::tcp {
namespace {

/// Of a body. A shorter one is not cut.
constexpr std::size_t shortest_stripe = std::size_t{64} << 10;
constexpr std::size_t longest_stripe = std::size_t{128} << 10;

iovec part_of(std::span<const std::byte> bytes) noexcept {
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

/// As a connection of one subflow has it.
stream::frame frame_of(const packet& stripe) noexcept {
  stream::frame made{};
  made.team = stripe.team;
  made.from = stripe.from;
  made.lane = stripe.lane;
  made.what = stream::frame::kind::body;
  made.bytes = stripe.bytes;
  return made;
}

}  // namespace

multipath_connection::multipath_connection(stream::connections& of, std::size_t peer, endpoint& by,
                                           std::size_t window, std::size_t subflows)
    : peer_connection(of, peer),
      by_(by),
      window_(window),
      subflows_(subflows),
      out_(2 * window),
      in_(2 * window) {}

// ---- for the endpoint

bool multipath_connection::is_open() const noexcept {
  return std::ranges::any_of(subflows_, [](const subflow& one) { return one.is_open(); });
}

void multipath_connection::open(std::size_t which, descriptor socket, registration watch) noexcept {
  subflow& one = subflows_[which];
  if (one.is_open()) lose(one);
  one.open(std::move(socket), std::move(watch));
  has_ended_ = false;
  flush();
}

void multipath_connection::close() noexcept {
  for (subflow& each : subflows_) {
    if (each.is_open()) each.close();
  }
  is_closed_ = true;
  has_ended_ = false;
}

void multipath_connection::note(std::size_t which, bool readable, bool writable,
                                bool ends) noexcept {
  subflows_[which].note(readable, writable, ends);
  if (writable) flush();
}

bool multipath_connection::advance() noexcept {
  const bool any = pull();
  return std::exchange(has_heard_, false) || any;
}

bool multipath_connection::is_active() const noexcept {
  return owes() || has_ended_ || in_.size() > front() ||
         std::ranges::any_of(subflows_, [](const subflow& one) { return one.is_readable(); });
}

bool multipath_connection::has_delivered() noexcept {
  return std::ranges::all_of(subflows_, [](const subflow& one) {
    return !one.is_open() || tcp::has_delivered(one.socket());
  });
}

// ---- to the peer

bool multipath_connection::has_room(std::size_t bytes) noexcept {
  if (!is_closed_ && !is_open()) {
    for (std::size_t i = 0; i < subflows_.size() && !is_closed_; ++i)
      by_.begin_connecting(*this, i);
  }
  return !is_closed_ && out_.room() >= sizeof(stream::frame) + bytes;
}

void multipath_connection::send(const stream::frame& what, std::span<const std::byte> head,
                                std::span<const std::byte> body) noexcept {
  if (what.what == stream::frame::kind::invitation) {
    for (subflow& each : subflows_) each.expect_long();
  }
  out_.write(std::as_bytes(std::span(&what, 1)));
  out_.write(head);
  out_.write(body);
  flush();
}

std::size_t multipath_connection::put(stream::link& by, stream::frame what,
                                      std::span<const std::byte> head,
                                      std::span<const std::byte> body) noexcept {
  out_.write(std::as_bytes(std::span(&what, 1)));
  out_.write(head);
  bodies_.push_back(
      {.by = &by,
       .what = what,
       .number = by.bodies_put() - 1,
       .bytes = body,
       .left = {},
       .parts = std::clamp(body.size() / shortest_stripe, std::size_t{1}, subflows_.size())});
  bodies_.back().left.add({0, body.size()});
  flush();
  return what.bytes;
}

// The peer may need no more than the rest of this stripe to go on.
void multipath_connection::withdraw(stream::link& by) noexcept {
  drop_bodies([&](const stream::link* of, std::uint64_t) { return of == &by; },
              [](subflow& one) { return one.keep_rest(); });
  std::erase_if(coming_, [&](const incoming_body& one) { return one.to == &by; });
}

void multipath_connection::note_confirmed(stream::link& by) noexcept {
  const std::uint64_t left = by.bodies_left();
  drop_bodies([&](const stream::link* of, std::uint64_t body) { return of == &by && body < left; },
              [](subflow& one) {
                one.send_nothing();
                return true;
              });
}

// What has begun has to go on, but not with memory that is not ours any more.
template <class Which, class GoOn>
void multipath_connection::drop_bodies(Which which, GoOn go_on) noexcept {
  std::erase_if(bodies_, [&](const outgoing_body& one) { return which(one.by, one.number); });
  for (subflow& each : subflows_) {
    const auto is_meant = [&](const subflow::stripe& one) { return which(one.by, one.body); };
    const bool has_begun = each.is_sending_stripe() && !each.stripes_sent.empty() &&
                           is_meant(each.stripes_sent.back());
    const bool goes_on = !has_begun || go_on(each);
    std::erase_if(each.stripes_sent, is_meant);
    if (!goes_on) lose(each);
  }
}

// Packets take turns: whichever subflow's turn it is takes the next, if the system takes any of it.
bool multipath_connection::flush() noexcept {
  for (std::size_t idle = 0; idle < subflows_.size();) {
    subflow& one = subflows_[turn_];
    const bool sends = one.is_writable() && (one.is_sending() || begin_packet(one));
    idle = sends && one.push() ? 0 : idle + 1;
    if (++turn_ == subflows_.size()) turn_ = 0;
  }
  return is_closed_ || has_sent_all();
}

bool multipath_connection::has_sent_all() noexcept {
  const auto is_sent = [](const outgoing_body& one) { return one.left.empty(); };
  return is_closed_ || (stream_is_sent() && std::ranges::none_of(subflows_, &subflow::is_sending) &&
                        std::ranges::all_of(bodies_, is_sent));
}

bool multipath_connection::begin_packet(subflow& by) noexcept {
  if (!again_.empty()) {
    begin_frames(by, again_.take(out_.capacity()));
  } else if (next_ != out_.end()) {
    begin_frames(by, {next_, out_.end()});
    next_ = out_.end();
  } else if (!begin_stripe(by)) {
    if (!is_to_tell_) return false;
    by.begin(head_of(packet::kind::none, {}), {});
  }
  told_ = in_.begin();
  is_to_tell_ = false;
  return true;
}

packet multipath_connection::head_of(packet::kind what, interval bytes) const noexcept {
  return {.what = what,
          .bytes = static_cast<std::uint32_t>(bytes.size()),
          .at = bytes.begin,
          .consumed = in_.begin(),
          .team = 0,
          .from = 0,
          .lane = 0,
          .body = 0};
}

void multipath_connection::begin_frames(subflow& by, interval bytes) noexcept {
  by.frames_sent.add(bytes);
  by.begin(head_of(packet::kind::frames, bytes), out_.parts_of(bytes.begin, bytes.size()));
}

bool multipath_connection::begin_stripe(subflow& by) noexcept {
  const auto found =
      std::ranges::find_if(bodies_, [](const outgoing_body& one) { return !one.left.empty(); });
  if (found == bodies_.end()) return false;
  subflow::stripe& run = by.run;
  if (run.by != found->by || run.body != found->number || run.bytes.size() == 0 ||
      !found->left.holding(run.bytes.begin)) {
    run = {found->by, found->number, next_run(*found)};
  }
  const std::uint64_t free = found->left.holding(run.bytes.begin)->end;
  const interval stripe{run.bytes.begin,
                        std::min({run.bytes.end, free, run.bytes.begin + longest_stripe})};
  run.bytes.begin = stripe.end;
  found->left.remove(stripe);
  by.stripes_sent.push_back({found->by, found->number, stripe});
  packet head = head_of(packet::kind::stripe, stripe);
  head.team = found->what.team;
  head.from = found->what.from;
  head.lane = found->what.lane;
  head.body = found->number;
  by.begin(head, {part_of(found->bytes.subspan(stripe.begin, stripe.size())), iovec{}});
  return true;
}

// A part that nobody has begun; after those the further half of the longest interval that is left.
interval multipath_connection::next_run(outgoing_body& of) noexcept {
  const std::uint64_t all = of.bytes.size();
  while (of.begun < of.parts) {
    const std::uint64_t part = of.begun++;
    const interval run{all * part / of.parts, all * (part + 1) / of.parts};
    if (of.left.holding(run.begin)) return run;
  }
  const interval rest = of.left.longest();
  if (rest.size() < 2 * shortest_stripe) return rest;
  return {rest.begin + rest.size() / 2, rest.end};
}

// ---- from the peer

std::size_t multipath_connection::unread() noexcept {
  for (subflow& each : subflows_) {
    if (each.is_readable()) read_from(each);
    if (!each.has_ended()) continue;  // perhaps in the middle of a packet
    if (is_last(each)) {
      has_ended_ = true;
    } else {
      lose(each);
    }
  }
  return in_.size();
}

void multipath_connection::read_from(subflow& from) noexcept {
  while (true) {
    if (from.left == 0 && !(from.next(from.coming) && accept(from))) return;
    if (from.left == 0) continue;
    const std::size_t got = from.take(place_for(from));
    if (got == 0) return;
    note_taken(from, got);
  }
}

bool multipath_connection::accept(subflow& from) noexcept {
  const packet& head = from.coming;
  bool is_sane = note_consumed(head.consumed);
  switch (head.what) {
    case packet::kind::frames:
      is_sane = is_sane && head.bytes <= in_.capacity() &&
                head.at <= in_.begin() + in_.capacity() - head.bytes;
      break;
    case packet::kind::stripe: {
      const stream::links* const team = of().find(head.team);
      is_sane = is_sane && (team == nullptr || team->are_of(frame_of(head), peer()));
      break;
    }
    case packet::kind::none:
      is_sane = is_sane && head.bytes == 0;
      break;
    default:
      is_sane = false;
  }
  if (is_sane) {
    from.left = head.bytes;
    has_heard_ = true;
    return true;
  }
  by_.lose(*this, "it sent what cannot be: a packet of kind " +
                      std::to_string(static_cast<std::uint32_t>(head.what)) + ", " +
                      std::to_string(head.bytes) + " bytes");
  return false;
}

bool multipath_connection::note_consumed(std::uint64_t consumed) noexcept {
  if (consumed > next_) return false;
  if (consumed <= out_.begin()) return true;  // an old one
  out_.skip(consumed - out_.begin());
  again_.remove_below(consumed);
  for (subflow& each : subflows_) each.frames_sent.remove_below(consumed);
  return true;
}

std::span<std::byte> multipath_connection::place_for(const subflow& from) noexcept {
  const packet& head = from.coming;
  const std::uint64_t done = head.bytes - from.left;
  std::span<std::byte> place;
  if (head.what == packet::kind::frames) {
    place = place_in_stream(head.at + done, from.left);
  } else if (const auto whole = place_of(head); !whole.empty()) {
    place = whole.subspan(done);
  }
  if (place.empty()) place = by_.nowhere();
  return place.first(std::min(place.size(), from.left));
}

std::span<std::byte> multipath_connection::place_in_stream(std::uint64_t at,
                                                           std::size_t bytes) noexcept {
  // What came before goes nowhere.
  if (at < in_.end()) return by_.nowhere().first(std::min(by_.nowhere().size(), in_.end() - at));
  const iovec part = in_.parts_of(at, bytes)[0];
  return {static_cast<std::byte*>(part.iov_base), part.iov_len};
}

stream::link* multipath_connection::link_of(const packet& stripe) noexcept {
  stream::links* const team = of().find(stripe.team);
  // The team may have been made since the packet's head was looked at.
  const bool is_known = team != nullptr && team->are_of(frame_of(stripe), peer());
  return is_known ? &team->at(stripe.lane, stripe.from) : nullptr;
}

// Asked anew for each piece: what came otherwise meanwhile, or is wanted no more, is not written
// to.
std::span<std::byte> multipath_connection::place_of(const packet& stripe) noexcept {
  const stream::link* const to = link_of(stripe);
  if (to == nullptr) return {};
  const std::span<std::byte> whole = to->place_of_body(stripe.body);
  const bool fits = stripe.at <= whole.size() && stripe.bytes <= whole.size() - stripe.at;
  return fits ? whole.subspan(stripe.at, stripe.bytes) : std::span<std::byte>();
}

void multipath_connection::note_taken(subflow& from, std::size_t bytes) noexcept {
  const packet& head = from.coming;
  const std::uint64_t at = head.at + (head.bytes - from.left);
  from.left -= bytes;
  if (head.what == packet::kind::stripe) {
    if (from.left == 0) end_stripe(head);
    return;
  }
  if (at < in_.end()) return;  // it had come before
  ahead_.add({at, at + bytes});
  if (ahead_.begin()->begin == in_.end()) {
    in_.extend(ahead_.take(in_.capacity()).size());
  }
}

void multipath_connection::end_stripe(const packet& stripe) noexcept {
  if (place_of(stripe).empty()) return;
  stream::link& to = *link_of(stripe);
  const auto is_it = [&](const incoming_body& one) {
    return one.to == &to && one.number == stripe.body;
  };
  auto body = std::ranges::find_if(coming_, is_it);
  if (body == coming_.end()) body = coming_.insert(body, {&to, stripe.body, {}});
  body->came.add({stripe.at, stripe.at + stripe.bytes});
  end_bodies(to);
}

// A link's bodies end in their order.
void multipath_connection::end_bodies(stream::link& to) noexcept {
  while (true) {
    const auto is_next = [&](const incoming_body& one) {
      return one.to == &to && one.number == to.bodies_come();
    };
    const auto next = std::ranges::find_if(coming_, is_next);
    if (next == coming_.end()) return;
    if (!next->came.covers({0, to.place_of_body(next->number).size()})) return;
    coming_.erase(next);
    to.end_body();
  }
}

std::size_t multipath_connection::receive(std::span<std::byte> to) noexcept {
  const std::size_t count = std::min(to.size(), unread());
  in_.peek(to.first(count));
  in_.skip(count);
  return count;
}

void multipath_connection::refuse(const stream::frame& next) noexcept {
  by_.lose(*this, "it sent what cannot be: a frame of kind " +
                      std::to_string(static_cast<std::uint32_t>(next.what)) + ", " +
                      std::to_string(next.bytes) + " bytes");
  in_.skip(in_.size());
}

void multipath_connection::give_back() noexcept {
  if (in_.begin() - told_ < in_.capacity() / 4) return;
  is_to_tell_ = true;
  flush();
}

// ---- subflows that are lost

bool multipath_connection::is_last(const subflow& one) const noexcept {
  return std::ranges::none_of(
      subflows_, [&](const subflow& other) { return &other != &one && other.is_open(); });
}

void multipath_connection::lose(subflow& one) noexcept {
  for (const interval& each : one.frames_sent) again_.add(each);
  for (const subflow::stripe& each : one.stripes_sent) {
    if (outgoing_body* const body = find(each)) body->left.add(each.bytes);
  }
  one.close();
  is_to_tell_ = true;  // it may have carried what told it last
  flush();
}

multipath_connection::outgoing_body* multipath_connection::find(
    const subflow::stripe& of) noexcept {
  const auto found = std::ranges::find_if(
      bodies_, [&](const outgoing_body& one) { return one.by == of.by && one.number == of.body; });
  return found == bodies_.end() ? nullptr : &*found;
}

bool multipath_connection::tend() noexcept {
  if (is_closed_ || !is_open()) return false;
  bool watches = false;
  // While all are stalled nobody knows which one will come back.
  const auto any_lives = [&] {
    return std::ranges::any_of(subflows_, [](const subflow& one) {
      return one.is_open() && delivery_of(one.socket()) != delivery::stalled;
    });
  };
  for (std::size_t i = 0; i < subflows_.size(); ++i) {
    subflow& one = subflows_[i];
    if (!one.is_open()) {
      by_.begin_connecting(*this, i);
      watches = true;
      continue;
    }
    const delivery how = delivery_of(one.socket());
    if (how == delivery::stalled && any_lives()) lose(one);
    watches = watches || how != delivery::complete;
  }
  return watches;
}

}  // namespace muster::tcp
