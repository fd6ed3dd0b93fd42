#include <muster/run/messages.hpp>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstring>
#include <string>
#include <utility>

#include <muster/progress/within.hpp>
#include <muster/run/diagnosis.hpp>

namespace muster {
namespace {

using purpose = wire::links::purpose;

static_assert(sizeof(message_header) + messages::most_note <= wire::link::most_head);

std::span<std::byte> bytes_of(message_header& header) noexcept {
  return std::as_writable_bytes(std::span(&header, 1));
}

}  // namespace

bool messages::is_zero_copy(std::size_t bytes) const noexcept {
  return bytes >= machine().zero_copy_from;
}

task<> messages::send(std::size_t to, std::span<const std::byte> bytes) {
  if (is_checked()) [[unlikely]]
    checks().exchange("sends to", to, size());
  return is_zero_copy(bytes.size()) ? send_zero_copy(to, bytes) : send_short(to, bytes);
}

task<> messages::send_short(std::size_t to, std::span<const std::byte> bytes) {
  // Virtual time passes where it is awaited.
  if (time() != nullptr || bytes.size() > machine().message_piece) return send_pieces(to, bytes);
  const message_header header{ticket_.word, bytes.size()};
  const wire::open_link out = link(to, purpose::send);
  if (!out->has_room(sizeof header + bytes.size())) return send_pieces(to, bytes);
  out->send(std::as_bytes(std::span(&header, 1)), bytes);
  return out->has_left() ? task<>(sent_) : wait_until_left(to);
}

task<> messages::wait_until_left(std::size_t to) {
  const wire::open_link out = link(to, purpose::send);
  co_await link_wait(*this, *out, link_wait::until::has_left, 0, to);
}

task<> messages::send_pieces(std::size_t to, std::span<const std::byte> bytes) {
  using until = link_wait::until;
  const wire::open_link out = link(to, purpose::send);
  const message_header header{ticket_.word, bytes.size()};
  auto head = std::as_bytes(std::span(&header, 1));
  do {
    const auto body = bytes.first(std::min(bytes.size(), machine().message_piece));
    co_await link_wait(*this, *out, until::has_room, head.size() + body.size(), to);
    out->send(head, body);
    co_await work();
    head = {};
    bytes = bytes.subspan(body.size());
  } while (!bytes.empty());
  co_await link_wait(*this, *out, until::has_left, 0, to);
}

task<> messages::send_zero_copy(std::size_t to, std::span<const std::byte> bytes) {
  using until = link_wait::until;
  const wire::open_link out = link(to, purpose::send);
  const message_header header{ticket_.word, bytes.size()};
  co_await invitation_wait(*this, *out, header, to);
  message_header invitation{};
  out->take_invitation(bytes_of(invitation));
  if (!is_expected(invitation, bytes.size())) [[unlikely]] {
    co_await refuse_head(*out, invitation, to, bytes.size());
  }
  co_await link_wait(*this, *out, until::can_put, 0, to);
  out->put(std::as_bytes(std::span(&header, 1)), bytes);
  co_await work();
  co_await link_wait(*this, *out, until::has_left, 0, to);
  if (out->was_refused()) co_await send_pieces(to, bytes);
}

task<> messages::invite(std::size_t from, std::span<std::byte> place) {
  if (is_checked()) [[unlikely]]
    checks().exchange("invites", from, size());
  if (!is_zero_copy(place.size())) co_return;
  if (is_checked()) [[unlikely]]
    posted_.add(scratch_, from, place);
  const wire::open_link out = link(from, purpose::invite);
  const message_header header{ticket_.word, place.size()};
  co_await link_wait(*this, *out, link_wait::until::can_post, 0, from);
  out->post(std::as_bytes(std::span(&header, 1)), place);
  co_await work();
}

task<> messages::receive(std::size_t from, std::span<std::byte> bytes) {
  if (is_checked()) [[unlikely]] {
    checks().exchange("receives from", from, size());
    if (is_zero_copy(bytes.size())) checks().receive(from, bytes, posted_.take(from));
  }
  using until = link_wait::until;
  const wire::open_link in = link(from, purpose::receive);
  message_header header{};
  do {
    co_await link_wait(*this, *in, until::holds, sizeof(message_header), from);
    in->take(bytes_of(header));
    if (!is_expected(header, bytes.size())) [[unlikely]] {
      co_await refuse_head(*in, header, from, bytes.size());
    }
  } while (header.bytes != bytes.size());
  if (is_zero_copy(bytes.size())) {
    read_lent([&] { in->begin_taking(bytes); });
    co_await work();
    co_await link_wait(*this, *in, until::has_body, 0, from);
    if (in->body() == wire::link::body_state::in_place) co_return;
    // The sender finds out, and sends it once more, in pieces.
    co_await link_wait(*this, *in, until::holds, sizeof(message_header), from);
    in->take(bytes_of(header));
    if (!is_expected(header, bytes.size())) [[unlikely]] {
      co_await refuse_head(*in, header, from, bytes.size());
    }
  }
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), machine().message_piece));
    co_await link_wait(*this, *in, until::holds, piece.size(), from);
    in->take(piece);
    co_await work();
    bytes = bytes.subspan(piece.size());
  }
}

task<> messages::expect(std::size_t from, std::span<std::byte> bytes) {
  co_await invite(from, bytes);
  co_await receive(from, bytes);
}

task<> messages::send_note(std::size_t to, std::span<const std::byte> note) {
  if (is_checked()) [[unlikely]] {
    checks().exchange("sends a note to", to, size());
    checks().note("sends", note.size(), most_note);
  }
  const wire::open_link out = link(to, purpose::send);
  std::array<std::byte, wire::link::most_head> head;
  const message_header header{ticket_.word, note.size()};
  std::memcpy(head.data(), &header, sizeof header);
  std::ranges::copy(note, head.begin() + sizeof header);
  const std::size_t bytes = sizeof header + note.size();
  co_await link_wait(*this, *out, link_wait::until::has_room, bytes, to);
  out->send(std::span(head).first(bytes), {});
  co_await work();
}

task<> messages::receive_note(std::size_t from, std::span<std::byte> note) {
  if (is_checked()) [[unlikely]] {
    checks().exchange("receives a note from", from, size());
    checks().note("receives", note.size(), most_note);
  }
  const wire::open_link in = link(from, purpose::receive);
  message_header header{};
  do {
    co_await link_wait(*this, *in, link_wait::until::holds, sizeof(message_header), from);
    in->take(bytes_of(header));
    if (!is_expected(header, note.size())) [[unlikely]] {
      co_await refuse_head(*in, header, from, note.size());
    }
  } while (header.bytes != note.size());
  if (!note.empty()) {  // came with its header, but from a sender that is not what it says
    co_await link_wait(*this, *in, link_wait::until::holds, note.size(), from);
    in->take(note);
  }
  co_await work();
}

bool messages::is_expected(const message_header& header, std::size_t bytes) const noexcept {
  return header.word == ticket_.word && (header.bytes & ~message_header::asks) == bytes;
}

task<> messages::refuse_head(const wire::link& on, message_header header, std::size_t from,
                             std::size_t bytes) {
  if (auto why = find_mismatch(*this, from)) throw *why;
  if (has_neighbors(call_.what) && (header.word ^ ticket_.word) >> 32 != 0) {
    throw not_mutual(*this, from, header.word >> 32);
  }
  const bool is_other_call = header.word != ticket_.word;
  if (is_other_call && members().asks_for_calls_of(from)) {
    constexpr std::chrono::seconds patience(1);
    try {
      co_await with_timeout(patience, hear_call(on, from));
    } catch (const error& why) {
      if (why.code() != errc::deadline_exceeded) throw;
    }
  }
  throw error(errc::mismatched_call,
              "rank " + std::to_string(from) + " speaks of " +
                  std::to_string(header.bytes & ~message_header::asks) + " bytes where rank " +
                  std::to_string(rank()) + " expected " + std::to_string(bytes) + " in " +
                  describe() + (is_other_call ? "; that rank is in another call" : ""),
              from);
}

task<> messages::hear_call(const wire::link& on, std::size_t from) {
  co_await answer_wait(*this, on, from);
}

void messages::check_length(std::size_t from, std::size_t sent, std::size_t expected) const {
  if (sent == expected) return;
  throw error(errc::mismatched_call,
              "rank " + std::to_string(from) + " sent " + std::to_string(sent) +
                  " bytes where rank " + std::to_string(rank()) + " expected " +
                  std::to_string(expected) + " in " + describe(),
              from);
}

task<std::size_t> messages::sender_among(std::span<const std::size_t> ranks) {
  pooled_list<std::size_t> all(ranks.begin(), ranks.end());
  peer_arrivals coming(*this, wire::coming::message, std::move(all), peer_arrivals::senders::any);
  const auto first = co_await coming.next();
  co_return *first;
}

}  // namespace muster
