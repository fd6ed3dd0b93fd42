#include "transports/stream/connections.hpp"

#include <algorithm>
#include <utility>

#include <muster/base/copy_bytes.hpp>

#include "transports/stream/links.hpp"

namespace muster::stream {

connections::connections(std::size_t ranks, std::vector<endpoint*> ways, newsreader* reader)
    : ways_(std::move(ways)), reader_(reader), by_rank_(ranks) {}

connection& connections::to(std::size_t rank) {
  std::unique_ptr<connection>& one = by_rank_[rank];
  if (one == nullptr) {
    const auto reaches = [rank](const endpoint* way) { return way->reaches(rank); };
    endpoint& way = **std::ranges::find_if(ways_, reaches);
    one = way.connect(*this, rank);
    one->count_in(way.links_open);
  }
  return *one;
}

void connections::enroll(std::uint64_t team, links& all) {
  teams_.emplace(team, &all);
  const auto withdrawn = withdrawn_early_.extract(team);
  if (!withdrawn.empty()) {
    for (const auto& [peer, name] : withdrawn.mapped()) {
      if (all.are_of(name, peer)) all.at(name.lane, name.from).refuse_invitations();
    }
  }
  const auto early = early_.extract(team);
  if (early.empty()) return;
  for (const early_frame& each : early.mapped()) {
    if (!all.are_of(each.head, each.peer)) continue;
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
  withdrawn_early_.erase(team);
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
void connections::set_aside(std::size_t peer, const frame& head, std::vector<std::byte> bytes) {
  const bool begins = head.what == frame::kind::message || head.what == frame::kind::invitation;
  if (!begins || ended_.contains(head.team)) return;
  early_[head.team].push_back({peer, head, std::move(bytes)});
}

void connections::refuse_early_invitations(std::size_t peer, const frame& name) {
  if (!ended_.contains(name.team)) withdrawn_early_[name.team].push_back({peer, name});
}

bool connections::hear(std::size_t rank) noexcept {
  connection& from = to(rank);
  from.take_in();
  return from.all_heard();
}

bool connections::progress() noexcept {
  bool any = false;
  for (endpoint* const way : ways_) any |= way->progress(*this);
  return any;
}

int connections::descriptor() const noexcept {
  int found = -1;
  for (const endpoint* const way : ways_) found = std::max(found, way->descriptor());
  return found;
}

void connections::arm() noexcept {
  for (endpoint* const way : ways_) way->arm();
}

void connections::disarm() noexcept {
  for (endpoint* const way : ways_) way->disarm();
}

clock_time connections::most_sleep() const noexcept {
  clock_time least = clock_time::max();
  for (const endpoint* const way : ways_) least = std::min(least, way->most_sleep());
  return least;
}

}  // namespace muster::stream
