#include "transports/mpi/connection.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <string>
#include <utility>

#include <muster/base/copy_bytes.hpp>

#include "transports/mpi/endpoint.hpp"
#include "transports/stream/connections.hpp"
#include "transports/stream/links.hpp"

namespace muster::mpi {
namespace {

/// Packets that the MPI has at once: others wait, and are filled meanwhile.
constexpr std::size_t most_under_way = 8;
/// And packets at all, but for what the peer has to hear.
constexpr std::size_t most_packets = 16;

std::span<const std::byte> bytes_of(const stream::frame& one) {
  return std::as_bytes(std::span(&one, 1));
}

/// `use(part, number)` for each part of a long message that an MPI sends at once.
template <class Bytes, class Use>
void each_part(Bytes all, Use use) {
  std::uint32_t number = 0;
  do {
    const Bytes part = all.first(std::min(all.size(), messenger::most_bytes));
    all = all.subspan(part.size());
    use(part, number++);
  } while (!all.empty());
}

void append(std::vector<std::byte>& to, std::span<const std::byte> bytes) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

}  // namespace

connection::connection(stream::connections& of, std::size_t peer, endpoint& at, std::size_t window)
    : stream::connection(of, peer), at_(at), window_(window), last_tag_(endpoint::control_tag) {}

// What nobody wants may still be expected.
connection::~connection() {
  for (const transfer& each : incoming_) at_.take_back(each.request);
  at_.forget(*this);
}

// Half a window, and what else a frame may bring.
std::size_t connection::longest_packet(std::size_t window) noexcept {
  return std::max(window / 2, most_news) + sizeof(stream::frame) + wire::link::most_head +
         most_token;
}

// ---- to the peer

bool connection::has_room(std::size_t bytes) noexcept {
  if (is_closed_ || packets_.size() < most_packets) return true;
  const bool is_filled =
      packets_.back().bytes.size() + sizeof(stream::frame) + bytes > longest_packet(window_);
  return under_way_ < packets_.size() && !is_filled;
}

void connection::send(const stream::frame& what, std::span<const std::byte> head,
                      std::span<const std::byte> body) noexcept {
  if (is_closed_) return;
  const std::size_t bytes = sizeof what + head.size() + body.size();
  if (under_way_ == packets_.size() ||
      packets_.back().bytes.size() + bytes > longest_packet(window_)) {
    packets_.emplace_back();
    if (!spare_.empty()) {
      packets_.back().bytes = std::move(spare_.back());
      spare_.pop_back();
    }
  }
  std::vector<std::byte>& to = packets_.back().bytes;
  append(to, bytes_of(what));
  append(to, head);
  append(to, body);
  flush();
}

void connection::flush() noexcept {
  while (under_way_ < packets_.size() && under_way_ < most_under_way) {
    packet& next = packets_[under_way_++];
    next.request = at_.send(*this, endpoint::packet_tag, next.bytes);
    next.has_left = next.request == messenger::over;
    forget_sent();
  }
}

void connection::forget_sent() noexcept {
  while (!packets_.empty() && packets_.front().has_left) {
    packets_.front().bytes.clear();
    spare_.push_back(std::move(packets_.front().bytes));
    packets_.pop_front();
    --under_way_;
  }
}

std::size_t connection::put(stream::link& by, stream::frame what, std::span<const std::byte> head,
                            std::span<const std::byte> body) noexcept {
  std::uint32_t tag = 0;
  by.take_token(std::as_writable_bytes(std::span(&tag, 1)));
  send(what, head, {});
  if (is_closed_ || tag == 0) {  // the peer takes it no more
    by.body_has_left();
    return head.size();
  }
  const std::uint64_t number = by.bodies_put() - 1;
  each_part(body, [&](std::span<const std::byte> part, std::uint32_t its_number) {
    outgoing_.push_back({.request = at_.put(*this, tag, part),
                         .of = &by,
                         .tag = tag,
                         .number = number,
                         .part = its_number,
                         .bytes = part.size()});
  });
  return head.size();
}

// A place has a part at least, so that this many leave a tag free.
bool connection::can_open_place() const noexcept {
  return incoming_.size() < at_.most_tag() - endpoint::control_tag;
}

// A message by a tag that is in use could come into the other's place.
std::uint32_t connection::free_tag() noexcept {
  const auto is_in_use = [&] {
    return std::ranges::any_of(incoming_,
                               [&](const transfer& each) { return each.tag == last_tag_; });
  };
  do {
    if (++last_tag_ > at_.most_tag()) last_tag_ = endpoint::control_tag + 1;
  } while (is_in_use());
  return last_tag_;
}

std::shared_ptr<void> connection::open_place(stream::link& of, std::uint64_t number,
                                             std::span<std::byte> place,
                                             std::span<std::byte> token) noexcept {
  const std::uint32_t tag = free_tag();
  std::memcpy(token.data(), &tag, sizeof tag);
  each_part(place, [&](std::span<std::byte> part, std::uint32_t its_number) {
    incoming_.push_back({.request = at_.receive(*this, tag, part),
                         .of = &of,
                         .tag = tag,
                         .number = number,
                         .part = its_number,
                         .bytes = part.size()});
  });
  return nullptr;
}

// ---- what has ended

void connection::note(const messenger::ended& one) noexcept {
  const auto is_this = [&](const auto& each) { return each.request == one.which; };
  const auto sent = packets_.begin() + static_cast<std::ptrdiff_t>(under_way_);
  const auto packet = std::find_if(
      packets_.begin(), sent, [&](const auto& each) { return !each.has_left && is_this(each); });
  if (packet != sent) return end_packet(*packet);
  if (const auto out = std::ranges::find_if(outgoing_, is_this); out != outgoing_.end()) {
    return end_part(out);
  }
  const auto in = std::ranges::find_if(incoming_, is_this);
  const transfer done = std::move(*in);
  incoming_.erase(in);
  if (done.of != nullptr && !done.of->land({.body = done.number, .bytes = one.bytes})) {
    at_.lose(*this, "it sent more than it was invited to");
  }
}

void connection::end_packet(packet& one) noexcept {
  one.has_left = true;
  forget_sent();
  flush();
  if (owes()) at_.list(*this);
}

/// A body has left when all of its parts have.
void connection::end_part(std::list<transfer>::iterator one) noexcept {
  stream::link* const of = one->of;
  const std::uint64_t number = one->number;
  outgoing_.erase(one);
  if (of != nullptr && !sends_body(*of, number)) of->body_has_left();
}

bool connection::sends_body(const stream::link& of, std::uint64_t number) const noexcept {
  return std::ranges::any_of(
      outgoing_, [&](const transfer& each) { return each.of == &of && each.number == number; });
}

// ---- what has come

void connection::bring(arrived_message packet) {
  unread_ += packet.length;
  arrived_.push_back(std::move(packet));
  pull();
}

void connection::peek(std::span<std::byte> to) const noexcept {
  std::size_t at = read_;
  for (std::size_t i = 0; !to.empty(); ++i, at = 0) {
    const arrived_message& from = arrived_[i];
    const std::size_t count = std::min(to.size(), from.length - at);
    copy_bytes(to.data(), from.bytes.get() + at, count);
    to = to.subspan(count);
  }
}

void connection::skip(std::size_t bytes) noexcept {
  unread_ -= bytes;
  read_ += bytes;
  while (!arrived_.empty() && read_ >= arrived_.front().length) {
    read_ -= arrived_.front().length;
    at_.give_back(std::move(arrived_.front().bytes));
    arrived_.pop_front();
  }
}

void connection::refuse(const stream::frame& next) noexcept {
  skip(unread_);
  at_.lose(*this, "it sent what cannot be: a frame of kind " +
                      std::to_string(static_cast<std::uint32_t>(next.what)) + ", " +
                      std::to_string(next.bytes) + " bytes");
}

void connection::expect_no_more() noexcept {
  std::erase_if(incoming_, [this](const transfer& each) { return at_.take_back(each.request); });
}

// ---- withdrawing

void connection::withdraw(stream::link& by) noexcept {
  stop_receiving(by);
  stop_sending(by);
}

// A receive of which nothing has come is taken back, and the peer told: what it may have sent
// meanwhile would never leave it.
void connection::stop_receiving(const stream::link& by) noexcept {
  std::uint32_t told = 0;
  for (auto one = incoming_.begin(); one != incoming_.end();) {
    const bool is_back = one->of == &by && at_.take_back(one->request);
    if (one->of == &by && one->tag != told && (is_back || is_last_part(one))) {
      told = one->tag;
      // Parts are taken in their order: those before this one have come, or are coming.
      const std::uint32_t came = is_back ? one->part : one->part + 1;
      at_.say(
          peer(),
          {.what = control::kind::withdrawn, .tag = one->tag, .link = by.name(), .bytes = came});
    }
    one = is_back ? incoming_.erase(one) : std::next(one);
  }
  at_.look_until(of(), [&] {
    return std::ranges::none_of(incoming_, [&](const transfer& each) { return each.of == &by; });
  });
}

bool connection::is_last_part(std::list<transfer>::const_iterator one) const noexcept {
  const auto next = std::next(one);
  return next == incoming_.end() || next->tag != one->tag;
}

// It has to be received: by its place, or by whoever has withdrawn that.
void connection::stop_sending(const stream::link& by) noexcept {
  at_.look_until(of(), [&] {
    return is_closed_ || at_.state(peer()) != wire::liveness::alive ||
           std::ranges::none_of(outgoing_, [&](const transfer& each) { return each.of == &by; });
  });
  for (transfer& each : outgoing_) {
    if (each.of == &by) each.of = nullptr;
  }
}

void connection::obey(const control& what) {
  if (what.what == control::kind::drain) return drain(what);
  if (what.what != control::kind::withdrawn) {
    return at_.lose(*this, "it sent a message of a kind that cannot be");
  }
  if (!refuse_invitations(what.link)) {
    return at_.lose(*this, "it sent word of a link that is not");
  }
  cut_off(what);
}

void connection::cut_off(const control& withdrawn) {
  for (const transfer& each : outgoing_) {
    if (each.tag != withdrawn.tag || each.part < withdrawn.bytes) continue;
    control answer = withdrawn;
    answer.what = control::kind::drain;
    answer.bytes = each.bytes;
    at_.say(peer(), answer);
  }
}

void connection::drain(const control& what) {
  auto nowhere = std::make_unique_for_overwrite<std::byte[]>(what.bytes);
  const auto request = at_.receive(*this, what.tag, {nowhere.get(), what.bytes});
  incoming_.push_back({.request = request,
                       .of = nullptr,
                       .tag = what.tag,
                       .number = 0,
                       .part = 0,
                       .bytes = what.bytes,
                       .nowhere = std::move(nowhere)});
}

}  // namespace muster::mpi
