#include "tests/fuzz/rank.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <muster/select/recorded_call.hpp>

#include "tests/fuzz/require.hpp"
#include "tests/fuzz/sockets.hpp"
#include "transports/tcp/packet.hpp"

namespace muster::fuzz {
namespace {

constexpr std::size_t peer = 1;
constexpr std::size_t window = 4096;
constexpr std::size_t most_acts = 1000;

/// Where nobody listens: a subflow that was lost is not made anew unless the input says so.
tcp::paths ways_to_peer(std::size_t subflows) {
  constexpr std::array<std::uint8_t, 4> loopback = {127, 0, 0, 1};
  return {subflows, {0, tcp::address::of_bytes(loopback, 1)}};
}

}  // namespace

void rank::reader::read(std::size_t, const stream::frame&, std::span<const std::byte> bytes) {
  wire::recorded_call told;
  if (bytes.size() != sizeof told) return;
  std::memcpy(&told, bytes.data(), sizeof told);
  require(!describe(told).empty(), "every call has a description");
}

rank::rank(std::size_t subflows)
    : reach_({.rank = 0, .key = {}, .window = window, .reactor = tcp::reactor::kind::epoll}, {},
             {{}, ways_to_peer(subflows)}),
      all_(2, {&reach_}, &reader_),
      connection_(static_cast<tcp::peer_connection&>(all_.to(peer))),
      ends_(subflows),
      has_ended_(subflows) {
  for (std::size_t i = 0; i < subflows; ++i) open(i);
  begin_team();
}

void rank::live(input& in) {
  for (std::size_t i = 0; i < most_acts && !in.empty(); ++i) {
    do_next(in);
    progress();
  }
  let_peer_go();
}

void rank::do_next(input& in) {
  constexpr auto acts = static_cast<std::uint8_t>(act::count);
  constexpr std::size_t piece = 16;
  switch (static_cast<act>(in.take<std::uint8_t>() % acts)) {
    case act::bytes:
      return say_bytes(in);
    case act::frames:
      return say_frames(in);
    case act::consumed:
      consumed_ += in.take<std::uint16_t>();
      return;
    case act::turn:
      return talk_->turn();
    case act::receive:
      return talk_->receive(in.take<std::uint16_t>());
    case act::send:
      return talk_->send(in.take<std::uint16_t>());
    case act::post:
      return talk_->post(in.take<std::uint16_t>());
    case act::take:
      return talk_->take();
    case act::put:
      return talk_->put(piece * in.take<std::uint16_t>());
    case act::next_team:
      return begin_team();
    case act::end:
      return end(in.take<std::uint8_t>());
    case act::open:
      return open(subflow_of(in.take<std::uint8_t>()));
    case act::hear:
      all_.hear(peer);
      return;
    case act::count:
      return;
  }
}

// ---- the peer's acts

void rank::say_bytes(input& in) {
  const std::size_t by = subflow_of(in.take<std::uint8_t>());
  const auto bytes = in.take_bytes(in.take<std::uint16_t>());
  say(ends_[by].get(), bytes);
}

void rank::say_frames(input& in) {
  const std::size_t by = subflow_of(in.take<std::uint8_t>());
  const auto bytes = in.take_bytes(in.take<std::uint16_t>());
  if (ends_.size() == 1) return say(ends_[by].get(), bytes);
  const tcp::packet head{.what = tcp::packet::kind::frames,
                         .bytes = static_cast<std::uint32_t>(bytes.size()),
                         .at = said_,
                         .consumed = consumed_,
                         .team = 0,
                         .from = 0,
                         .lane = 0,
                         .body = 0};
  say(ends_[by].get(), std::as_bytes(std::span(&head, 1)));
  say(ends_[by].get(), bytes);
  said_ += bytes.size();
}

void rank::end(std::uint8_t how) {
  constexpr std::uint8_t half = 128;
  const std::size_t which = subflow_of(how % half);
  has_ended_[which] = true;
  if (how < half) {
    ::shutdown(ends_[which].get(), SHUT_WR);
  } else {
    ends_[which] = descriptor();
  }
}

// As an endpoint does with a connection that was admitted.
void rank::open(std::size_t subflow) {
  const bool is_replaced = connection_.is_open(subflow);
  if (reach_.state(peer) != wire::liveness::alive || (is_replaced && ends_.size() == 1)) return;
  auto [ours, theirs] = connected_pair();
  ends_[subflow] = std::move(theirs);
  has_ended_[subflow] = false;
  tcp::registration watch = reach_.watch(ours.get(), peer, subflow);
  connection_.open(subflow, std::move(ours), std::move(watch));
  reach_.list(connection_);
}

// ---- the rank's

void rank::begin_team() {
  talk_.reset();
  talk_.emplace(all_, team_++, members_);
}

// The system tells an endpoint of changes at its sockets; here they are all looked at.
void rank::progress() {
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    if (!connection_.is_open(i)) continue;
    connection_.note(i, true, true, has_ended_[i]);
    reach_.list(connection_);
  }
  all_.progress();
  if (talk_) talk_->look();
  for (const descriptor& each : ends_) {
    if (each) hear(each.get());
  }
}

void rank::let_peer_go() {
  constexpr int rounds = 100;
  talk_.reset();
  for (std::size_t i = 0; i < ends_.size(); ++i) end(static_cast<std::uint8_t>(i));
  for (int i = 0; i < rounds && reach_.state(peer) == wire::liveness::alive; ++i) progress();
  require(reach_.state(peer) != wire::liveness::alive, "a rank notices that its peer has gone");
}

}  // namespace muster::fuzz
