#include "transports/shm/endpoint.hpp"

#include <algorithm>

namespace muster::shm {

endpoint::endpoint(const job& of, std::size_t rank, std::span<const std::size_t> known)
    : job_(of), rank_(rank), known_(known), mine_(of.line(rank)), parking_(of, rank) {}

bool endpoint::reaches(std::size_t rank) const noexcept {
  return std::ranges::find(known_, rank) != known_.end();
}

std::unique_ptr<stream::connection> endpoint::connect(stream::connections& of, std::size_t rank) {
  const auto peer = static_cast<std::size_t>(std::ranges::find(known_, rank) - known_.begin());
  auto made = std::make_unique<ring_connection>(
      of, rank, ring_connection::ends{.of = job_, .rank = rank_, .peer = peer}, parking_);
  all_.push_back(made.get());
  return made;
}

bool endpoint::progress(stream::connections& of) noexcept {
  // acquire: who they are.
  const std::uint32_t now = mine_.connections.load(std::memory_order_acquire);
  if (now != heard_of_) find_new(of);
  heard_of_ = now;
  bool any = false;
  for (stream::connection* const each : heard_) any |= each->pull();
  return any;
}

void endpoint::find_new(stream::connections& of) {
  heard_.clear();
  for (std::size_t peer = 0; peer < known_.size(); ++peer) {
    if (job_.is_connected(peer, rank_)) heard_.push_back(&of.to(known_[peer]));
  }
}

// A peer that finds no room for me waits until I look; one that I find no room at may be asleep.
void endpoint::arm() noexcept {
  for (const ring_connection* const each : all_) {
    if (each->owes()) parking_.watch(each->local_peer());
  }
  parking_.arm();
  for (ring_connection* const each : all_) {
    if (each->was_crowded()) parking_.wake(each->local_peer());
  }
}

}  // namespace muster::shm
