#include "tests/rdma/meeting.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include "transports/verbs/port_choice.hpp"
#include "transports/verbs/port_list.hpp"
#include "transports/verbs/rails.hpp"

namespace muster::testing {
namespace {

using clock = std::chrono::steady_clock;
using purpose = wire::links::purpose;

/// Longer than anything takes where cores are emulated.
constexpr std::chrono::seconds patience(60);
constexpr std::size_t head_bytes = 16;

/// Of the first or second node, as tools/rdma-rails names them.
verbs::found_ports ports_of_node(std::size_t node, std::size_t rails) {
  std::string names;
  for (std::size_t rail = 0; rail < rails; ++rail) {
    names +=
        (names.empty() ? "" : ",") + std::string(node == 0 ? "rxe" : "rxep") + std::to_string(rail);
  }
  return verbs::ports_named(verbs::parse_port_list(names), verbs::read_ports());
}

std::vector<tcp::listener> only(tcp::listener one) {
  std::vector<tcp::listener> all;
  all.push_back(std::move(one));
  return all;
}

std::vector<std::size_t> everybody(std::size_t ranks) {
  std::vector<std::size_t> all(ranks);
  std::iota(all.begin(), all.end(), std::size_t{0});
  return all;
}

bool drive_until(const std::function<void()>& once, const std::function<bool()>& so) {
  const auto end = clock::now() + patience;
  while (!so()) {
    if (clock::now() > end) return false;
    once();
  }
  return true;
}

}  // namespace

party::party(const tcp::endpoint::settings& how, std::unique_ptr<verbs::adapter> by,
             tcp::listener door, std::vector<tcp::paths> peers, std::size_t lanes)
    : card(*by),
      reach(how, only(std::move(door)), peers, std::move(by)),
      all(peers.size(), {&reach}),
      members(everybody(peers.size())),
      links(all, 0, members, how.rank, lanes) {}

meeting::meeting(const meeting_options& how)
    : ports_{ports_of_node(0, how.rails), ports_of_node(1, how.rails)} {
  std::vector<tcp::listener> doors = listen(how.ranks);
  for (std::size_t rank = 0; rank < how.ranks; ++rank) add(rank, std::move(doors[rank]), how);
}

std::vector<tcp::listener> meeting::listen(std::size_t ranks) {
  std::vector<tcp::listener> doors;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    doors.push_back(tcp::listen_at(tcp::address::resolve("127.0.0.1", 0)));
    addresses_.push_back(doors.back().at);
  }
  return doors;
}

void meeting::add(std::size_t rank, tcp::listener door, const meeting_options& how) {
  const std::size_t ranks = addresses_.size();
  std::vector<tcp::paths> by_sockets(ranks);
  std::vector<verbs::paths> by_rdma(ranks);
  for (std::size_t peer = 0; peer < ranks; ++peer) {
    if ((peer == 0) == (rank == 0)) continue;
    by_sockets[peer] = {{0, addresses_[peer]}};
    by_rdma[peer] = verbs::paths_between(ports_of(rank).told, ports_of(peer).told, rank < peer);
  }
  const bool is_limited = rank == 0;
  const verbs::adapter::settings how_by_rdma{
      .rank = rank,
      .window = how.window,
      .most_queue_pairs = is_limited ? how.most_queue_pairs : 0};
  const tcp::endpoint::settings how_all{
      .rank = rank, .key = key_, .window = how.window, .timeout = how.timeout};
  parties_.push_back(std::make_unique<party>(
      how_all, std::make_unique<verbs::adapter>(how_by_rdma, ports_of(rank), std::move(by_rdma)),
      std::move(door), std::move(by_sockets), lanes + (is_limited ? 0 : how.more_lanes)));
}

bool meeting::until(const std::function<bool()>& so) {
  return drive_until(
      [this] {
        for (const auto& each : parties_) each->all.progress();
      },
      so);
}

bool meeting::until_alone(std::size_t rank, const std::function<bool()>& so) {
  return drive_until([&] { parties_[rank]->all.progress(); }, so);
}

void meeting::drive(std::size_t rank, std::chrono::milliseconds time) {
  const auto end = clock::now() + time;
  until_alone(rank, [end] { return clock::now() >= end; });
}

bool meeting::open_all() {
  bool is_done = true;
  for (std::size_t peer = 1; peer < parties_.size(); ++peer) {
    const auto word = bytes_of(peer, 8);
    is_done = is_done && send(*this, 0, lanes - 1, peer, word) &&
              receive(*this, peer, lanes - 1, 0, word) && send(*this, peer, lanes - 1, 0, word) &&
              receive(*this, 0, lanes - 1, peer, word);
  }
  return is_done;
}

// ---- messages

std::vector<std::byte> bytes_of(std::size_t seed, std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(seed * 37 + i * 11);
  return bytes;
}

bool send_now(party& from, std::size_t lane, std::size_t to, std::span<const std::byte> bytes) {
  const wire::open_link out(from.links, lane, to, purpose::send);
  if (!out->has_room(bytes.size())) return false;
  out->send({}, bytes);
  return true;
}

bool send(meeting& all, std::size_t from, std::size_t lane, std::size_t to,
          std::span<const std::byte> bytes) {
  return all.until([&] { return send_now(all[from], lane, to, bytes); });
}

bool receive(meeting& all, std::size_t at, std::size_t lane, std::size_t from,
             std::span<const std::byte> expected) {
  const wire::open_link in(all[at].links, lane, from, purpose::receive);
  if (!all.until([&] { return in->holds(expected.size()); })) return false;
  std::vector<std::byte> got(expected.size());
  in->take(got);
  return std::ranges::equal(got, expected);
}

// ---- a long one

long_message::long_message(meeting& all, std::size_t to, std::size_t bytes, std::size_t lane)
    : body(bytes_of(5, bytes)),
      place(bytes),
      sent_(body),
      out_(all[0].links, lane, to, purpose::send),
      in_(all[to].links, lane, 0, purpose::receive) {
  std::array<std::byte, head_bytes> invitation{};
  is_invited = all.until([&] { return in_->can_post(); });
  if (!is_invited) return;
  in_->post(invitation, place);
  is_invited = all.until([&] { return out_->is_invited() && out_->can_put(); });
  if (is_invited) out_->take_invitation(invitation);
}

void long_message::put() { out_->put(bytes_of(6, head_bytes), body); }

bool long_message::take_head() {
  std::array<std::byte, head_bytes> head;
  if (!in_->holds(head.size())) return false;
  in_->take(head);
  in_->begin_taking(place);
  return true;
}

bool long_message::is_in_place() { return in_->body() == wire::link::body_state::in_place; }

}  // namespace muster::testing
