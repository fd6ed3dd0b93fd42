#include "transports/mpi/arrival_ring.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace muster::mpi {

arrival_ring::arrival_ring(messenger& by, std::uint32_t tag, std::size_t receives,
                           std::size_t longest)
    : by_(by), tag_(tag), longest_(longest), places_(receives) {
  for (place& each : places_) post(each);
}

arrival_ring::~arrival_ring() { close(); }

void arrival_ring::post(place& one) {
  if (spare_.empty()) {
    one.message.bytes = std::make_unique_for_overwrite<std::byte[]>(longest_);
  } else {
    one.message.bytes = std::move(spare_.back());
    spare_.pop_back();
  }
  one.has_come = false;
  one.request = by_.receive(messenger::anybody, tag_, {one.message.bytes.get(), longest_});
}

bool arrival_ring::note(const messenger::ended& one) noexcept {
  const auto found = std::ranges::find_if(
      places_, [&](const place& each) { return !each.has_come && each.request == one.which; });
  if (found == places_.end()) return false;
  found->has_come = true;
  found->message.length = one.bytes;
  found->message.from = one.from;
  return true;
}

arrived_message arrival_ring::take() {
  place& one = places_[next_];
  if (++next_ == places_.size()) next_ = 0;
  arrived_message taken = std::move(one.message);
  post(one);
  return taken;
}

void arrival_ring::close() noexcept {
  if (std::exchange(is_closed_, true)) return;
  for (place& each : places_) {
    if (each.has_come || by_.take_back(each.request)) continue;
    while (!each.has_come) {
      for (const messenger::ended& one : by_.look()) note(one);
    }
  }
}

}  // namespace muster::mpi
