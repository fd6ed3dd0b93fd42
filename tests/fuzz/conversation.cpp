#include "tests/fuzz/conversation.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "tests/fuzz/require.hpp"

namespace muster::fuzz {
namespace {

using purpose = wire::links::purpose;

constexpr std::size_t peer = 1;
constexpr std::size_t lanes = 4;
constexpr std::size_t short_lane = 0;
constexpr std::size_t long_lane = 1;
constexpr std::size_t outgoing_lane = 2;
/// Of places, and of bodies.
constexpr std::size_t most_at_once = 4;
constexpr std::size_t most_kept = 16;

/// What goes before a long message, and with an invitation.
using head = std::array<std::byte, 8>;

}  // namespace

conversation::conversation(stream::connections& of, std::uint64_t team,
                           std::span<const std::size_t> members)
    : links_(of, team, members, 0, lanes),
      posts_(links_, long_lane, peer, purpose::invite),
      sends_(links_, outgoing_lane, peer, purpose::send) {}

conversation::~conversation() {
  look();
  waits_.reset();
  if (posted_.empty() && bodies_.empty()) return;
  links_.expect_more();
  links_.withdraw();
}

void conversation::turn() {
  if (waits_) return waits_.reset();
  waits_.emplace(links_, short_lane, peer, purpose::receive);
}

void conversation::receive(std::size_t bytes) {
  const wire::open_link in(links_, short_lane, peer, purpose::receive);
  if (!in->holds(bytes)) return;
  std::vector<std::byte> taken(bytes);
  in->take(taken);
}

void conversation::send(std::size_t bytes) {
  if (!sends_->has_room(bytes)) return;
  const std::vector<std::byte> said(bytes);
  const auto first = std::span(said).first(std::min(bytes, wire::link::most_head));
  sends_->send(first, std::span(said).subspan(first.size()));
}

void conversation::post(std::size_t bytes) {
  if (posted_.size() == most_at_once || !posts_->can_post()) return;
  posted_.emplace_back(bytes);
  posts_->post(head{}, posted_.back().place());
}

void conversation::take() {
  if (posted_.empty()) return;
  const wire::open_link in(links_, long_lane, peer, purpose::receive);
  if (!is_taking_) {
    head first;
    if (!in->holds(first.size())) return;
    in->take(first);
    in->begin_taking(posted_.front().place());
    is_taking_ = true;
  }
  if (in->body() == wire::link::body_state::under_way) return;
  is_taking_ = false;
  const std::vector<std::byte> expected = posted_.front().bytes();
  kept_.push_back({std::move(posted_.front()), expected});
  posted_.pop_front();
  if (kept_.size() > most_kept) kept_.pop_front();
}

void conversation::put(std::size_t bytes) {
  if (bodies_.size() == most_at_once || !sends_->is_invited() || !sends_->can_put()) return;
  head first{};
  sends_->take_invitation(first);
  bodies_.emplace_back(bytes);
  sends_->put(first, bodies_.back());
}

void conversation::look() {
  if (!bodies_.empty() && sends_->has_left()) bodies_.clear();
  require(std::ranges::all_of(posted_, &guarded_place::is_intact),
          "nothing is written beside a place");
  require(std::ranges::all_of(
              kept_, [](const kept_place& one) { return one.memory.bytes() == one.expected; }),
          "nothing is written to a place whose message has come");
}

}  // namespace muster::fuzz
