#include "transports/tcp/socket_connection.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <new>
#include <string>
#include <thread>

#include "transports/stream/links.hpp"
#include "transports/tcp/endpoint.hpp"
#include "transports/tcp/socket.hpp"

namespace muster::tcp {
namespace {

/// Of a body, between which other frames may go.
constexpr std::size_t longest_piece = std::size_t{256} << 10;

/// From so many bytes on what a frame brings goes to the system from where it is, if nothing waits.
constexpr std::size_t shortest_not_gathered = std::size_t{1} << 10;

iovec part_of(std::span<const std::byte> bytes) noexcept {
  return {const_cast<std::byte*>(bytes.data()), bytes.size()};
}

}  // namespace

struct socket_connection::batch {
  std::array<iovec, 4> parts{};
  std::size_t count = 0;
  more_to_send more = more_to_send::no;

  void add(const iovec& part) noexcept {
    if (part.iov_len != 0) parts[count++] = part;
  }
};

socket_connection::socket_connection(stream::connections& of, std::size_t peer, endpoint& by,
                                     std::size_t window)
    : peer_connection(of, peer), by_(by), window_(window), socket_(2 * window), out_(2 * window) {}

// ---- for the endpoint

void socket_connection::open(std::size_t, descriptor socket, registration watch) noexcept {
  socket_.open(std::move(socket), std::move(watch), by_.zero_copy_from());
  flush();
}

void socket_connection::close() noexcept {
  // What the peer had before it left has left.
  socket_.read_reports();
  note_left();
  socket_.close();
  is_closed_ = true;
}

void socket_connection::note(std::size_t, bool readable, bool writable, bool ends) noexcept {
  socket_.note(readable, writable, ends);
  note_left();
  if (writable) flush();
}

bool socket_connection::has_delivered() noexcept {
  return !is_open() || tcp::has_delivered(socket_.get());
}

// ---- to the peer

bool socket_connection::has_room(std::size_t bytes) noexcept {
  if (!is_open() && !is_closed_) by_.begin_connecting(*this, 0);
  const std::size_t needed = sizeof(stream::frame) + bytes;
  if (out_.room() < needed) flush();
  return !is_closed_ && out_.room() >= needed;
}

void socket_connection::send(const stream::frame& what, std::span<const std::byte> head,
                             std::span<const std::byte> body) noexcept {
  if (what.what == stream::frame::kind::invitation) {
    socket_.expect_long();
    ++bodies_to_come_;
  }
  std::array<std::span<const std::byte>, 3> parts{std::as_bytes(std::span(&what, 1)), head, body};
  if (body.size() >= shortest_not_gathered && has_sent_frames()) send_at_once(parts);
  for (const std::span<const std::byte> part : parts) out_.write(part);
  flush();
}

bool socket_connection::has_sent_frames() const noexcept {
  return out_.size() == 0 && bodies_.empty() && socket_.is_writable();
}

void socket_connection::send_at_once(std::span<std::span<const std::byte>> parts) noexcept {
  batch all;
  for (const std::span<const std::byte> part : parts) all.add(part_of(part));
  const moved sent = socket_.send(std::span(all.parts).first(all.count));
  if (sent.ended == moved::how::over) {
    std::ranges::fill(parts, std::span<const std::byte>());
    return stop_sending();
  }
  std::size_t gone = sent.bytes;
  for (std::span<const std::byte>& part : parts) {
    const std::size_t of_part = std::min(gone, part.size());
    part = part.subspan(of_part);
    gone -= of_part;
  }
}

std::size_t socket_connection::put(stream::link& by, stream::frame what,
                                   std::span<const std::byte> head,
                                   std::span<const std::byte> body) noexcept {
  const std::uint32_t length = what.bytes;
  out_.write(std::as_bytes(std::span(&what, 1)));
  out_.write(head);
  what.what = stream::frame::kind::body;
  bodies_.push_back({&by, what, body});
  flush();
  return length;
}

void socket_connection::withdraw(stream::link& by) noexcept {
  if (piece_has_begun() && bodies_.front().by == &by) keep_piece(bodies_.front());
  for (outgoing_body& each : bodies_) {
    if (each.by == &by) each.by = nullptr;
  }
  await_left(by);
  bodies_to_come_ = 0;
  const auto first_to_go = bodies_.begin() + (piece_has_begun() ? 1 : 0);
  bodies_.erase(std::remove_if(first_to_go, bodies_.end(),
                               [](const outgoing_body& each) { return each.by == nullptr; }),
                bodies_.end());
}

// What has begun has to go on, as it is: the peer may need no more than that to go on itself. But
// its memory is not ours any more.
void socket_connection::keep_piece(outgoing_body& body) noexcept {
  try {
    kept_.assign(body.left.begin(), body.left.begin() + static_cast<std::ptrdiff_t>(piece_left_));
    body.left = kept_;
  } catch (const std::bad_alloc&) {
    by_.lose(*this, "there is no memory for what it was being sent");
    stop_sending();
  }
}

bool socket_connection::flush() noexcept {
  while (out_.size() != 0 || !bodies_.empty()) {
    if (!socket_.is_writable()) return is_closed_;
    const bool is_body = head_left_ == 0 && piece_left_ != 0 && piece_is_zero_copy();
    const moved sent = is_body ? send_piece_zero_copy() : send_batch();
    if (sent.ended != moved::how::over) continue;
    stop_sending();
    return true;
  }
  return true;
}

moved socket_connection::send_batch() noexcept {
  batch all;
  const bool in_piece = piece_has_begun();
  if (in_piece) add_piece(all);
  if (all.more == more_to_send::no) {
    for (const iovec& part : out_.parts()) all.add(part);
  }
  if (!in_piece && !bodies_.empty()) {
    begin_piece();
    add_piece(all);
  }
  const moved sent = socket_.send(std::span(all.parts).first(all.count), all.more);
  if (sent.ended != moved::how::over) count_sent(sent.bytes, in_piece);
  return sent;
}

bool socket_connection::piece_is_zero_copy() const noexcept {
  return bodies_.front().by != nullptr && socket_.sends_zero_copy(piece_left_);
}

moved socket_connection::send_piece_zero_copy() noexcept {
  outgoing_body& body = bodies_.front();
  const moved sent = socket_.send_zero_copy(body.left.first(piece_left_));
  body.zero_copy_sends = socket_.zero_copy_sends();
  if (sent.ended != moved::how::over) count_piece_sent(sent.bytes);
  return sent;
}

// The system reads what is leaving where it is, and its owner may put it to another use as soon as
// it has it back: the peer would take that for what was sent. Most of it is acknowledged in a
// moment; where it is not, the peer has to notice.
void socket_connection::await_left(const stream::link& by) noexcept {
  const auto is_of = [&by](const leaving_body& each) { return each.by == &by; };
  const bool has_begun = !bodies_.empty() && bodies_.front().by == nullptr &&
                         !socket_.have_left(bodies_.front().zero_copy_sends);
  const auto still_reads = [&] {
    return std::ranges::any_of(leaving_, is_of) ||
           (has_begun && !socket_.have_left(bodies_.front().zero_copy_sends));
  };
  constexpr int patience = 1000;  // looks, a tenth of a millisecond apart
  for (int look = 0; still_reads() && look < patience; ++look) {
    if (look != 0) std::this_thread::sleep_for(std::chrono::microseconds(100));
    socket_.read_reports();
    note_left();
  }
  if (!still_reads()) return;
  std::erase_if(leaving_, is_of);
  by_.lose(*this, "it did not take what it was sent before that was taken back");
}

void socket_connection::note_left() noexcept {
  while (!leaving_.empty() && socket_.have_left(leaving_.front().zero_copy_sends)) {
    leaving_.front().by->body_has_left();
    leaving_.pop_front();
  }
}

// The peer is gone.
void socket_connection::stop_sending() noexcept {
  out_.skip(out_.size());
  head_left_ = piece_left_ = 0;
  bodies_.clear();
  leaving_.clear();
  by_.list(*this);
}

void socket_connection::begin_piece() noexcept {
  const outgoing_body& body = bodies_.front();
  piece_left_ = std::min(body.left.size(), longest_piece);
  head_left_ = sizeof piece_;
  piece_ = body.what;
  piece_.bytes = static_cast<std::uint32_t>(piece_left_);
}

void socket_connection::add_piece(batch& all) const noexcept {
  all.add(part_of(std::as_bytes(std::span(&piece_, 1)).last(head_left_)));
  if (piece_is_zero_copy()) {
    all.more = more_to_send::yes;  // the piece goes by itself
  } else {
    all.add(part_of(bodies_.front().left.first(piece_left_)));
  }
}

void socket_connection::count_sent(std::size_t bytes, bool piece_was_first) noexcept {
  if (piece_was_first) {
    const std::size_t of_piece = std::min(bytes, head_left_ + piece_left_);
    count_piece_sent(of_piece);
    out_.skip(bytes - of_piece);
    return;
  }
  const std::size_t of_frames = std::min(bytes, out_.size());
  out_.skip(of_frames);
  if (bytes != of_frames) {
    count_piece_sent(bytes - of_frames);
  } else {
    head_left_ = piece_left_ = 0;  // it has not begun: frames before it may have to go on
  }
}

void socket_connection::count_piece_sent(std::size_t bytes) noexcept {
  const std::size_t of_head = std::min(bytes, head_left_);
  head_left_ -= of_head;
  outgoing_body& body = bodies_.front();
  body.left = body.left.subspan(bytes - of_head);
  piece_left_ -= bytes - of_head;
  if (piece_has_begun() || (body.by != nullptr && !body.left.empty())) return;
  if (body.by != nullptr && body.zero_copy_sends != 0) {
    leaving_.push_back({body.by, body.zero_copy_sends});
  } else if (body.by != nullptr) {
    body.by->body_has_left();
  }
  bodies_.pop_front();
  note_left();
}

// ---- from the peer

// What comes of a body with the frame before it is copied once more.
std::size_t socket_connection::most_behind() const noexcept {
  constexpr std::size_t some_frames = std::size_t{1} << 10;
  if (bodies_to_come_ == 0) return buffered_socket::all;
  stream::frame first;
  if (socket_.in().size() < sizeof first) return some_frames;
  peek(std::as_writable_bytes(std::span(&first, 1)));
  return first.what == stream::frame::kind::body ? some_frames : first.bytes + some_frames;
}

std::size_t socket_connection::unread() noexcept {
  if (socket_.is_readable() && socket_.in().room() != 0) socket_.read({}, most_behind());
  return socket_.in().size();
}

void socket_connection::refuse(const stream::frame& next) noexcept {
  by_.lose(*this, "it sent what cannot be: a frame of kind " +
                      std::to_string(static_cast<std::uint32_t>(next.what)) + ", " +
                      std::to_string(next.bytes) + " bytes");
  skip(socket_.in().size());
}

}  // namespace muster::tcp
