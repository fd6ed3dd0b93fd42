#include "transports/shm/connections.hpp"

#include <muster/base/copy_bytes.hpp>

#include "transports/shm/links.hpp"

namespace muster::shm {

connections::connections(const job& of, std::size_t rank)
    : job_(of), rank_(rank), mine_(of.line(rank)), parking_(of, rank), by_rank_(of.size()) {}

connection& connections::to(std::size_t rank) {
  std::unique_ptr<connection>& one = by_rank_[rank];
  if (one == nullptr) {
    one = std::make_unique<connection>(*this, rank);
    all_.push_back(one.get());
  }
  return *one;
}

void connections::enroll(std::uint64_t team, links& all) {
  teams_.emplace(team, &all);
  const auto early = early_.extract(team);
  if (early.empty()) return;
  for (const early_frame& each : early.mapped()) {
    link& one = all.at(each.head.lane, each.head.from);
    for (std::span<const std::byte> left = each.bytes; !left.empty();) {
      const std::span<std::byte> room = one.room_for(each.head, left.size());
      copy_bytes(room.data(), left.data(), room.size());
      left = left.subspan(room.size());
    }
    one.end_frame(each.head);
  }
}

void connections::dismiss(std::uint64_t team, bool expects_more) noexcept {
  teams_.erase(team);
  last_team_ = no_team;
  early_.erase(team);
  if (expects_more) ended_.insert(team);
}

links* connections::find(std::uint64_t team) noexcept {
  if (team == last_team_) return last_found_;
  const auto found = teams_.find(team);
  if (found == teams_.end()) return nullptr;
  last_team_ = team;
  return last_found_ = found->second;
}

// Nothing was sent from here yet in a team that does not exist yet: whoever acknowledges something
// speaks of a team that is no more.
void connections::set_aside(const frame& head, std::vector<std::byte> bytes) {
  const bool begins = head.what == frame::kind::message || head.what == frame::kind::invitation;
  if (!begins || ended_.contains(head.team)) return;
  early_[head.team].push_back({head, std::move(bytes)});
}

bool connections::hear(std::size_t rank) noexcept {
  connection& from = to(rank);
  from.pull();
  return from.all_heard();
}

bool connections::progress() noexcept {
  // acquire: who they are.
  const std::uint32_t now = mine_.connections.load(std::memory_order_acquire);
  if (now != known_) find_new();
  known_ = now;
  bool any = false;
  for (connection* const each : heard_) any |= each->pull();
  return any;
}

void connections::find_new() {
  heard_.clear();
  for (std::size_t rank = 0; rank < by_rank_.size(); ++rank) {
    if (job_.is_connected(rank, rank_)) heard_.push_back(&to(rank));
  }
}

// A peer that finds no room for me waits until I look; one that I find no room at may be asleep.
void connections::arm() noexcept {
  for (const connection* const each : all_) {
    if (each->owes()) parking_.watch(each->peer());
  }
  parking_.arm();
  for (connection* const each : all_) {
    if (each->was_crowded()) parking_.wake(each->peer());
  }
}

}  // namespace muster::shm
