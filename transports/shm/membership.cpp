#include "transports/shm/membership.hpp"

namespace muster::shm {

wire::liveness membership::state(std::size_t rank) const noexcept {
  job_.note_missed(members_[rank]);  // who asks waits for it
  return job_.state(members_[rank]);
}

std::optional<wire::failure> membership::failed() const {
  auto why = shared_.failure().read();
  return why || !fails_with_job() ? why : job_.failed();
}

void membership::fail(const wire::failure& why) noexcept {
  // What a broken job ends is no failure of its own. relaxed: nothing of it is read.
  if (fails_with_job() &&
      job_.failure_state().load(std::memory_order_relaxed) != failure_record::whole) {
    return;
  }
  if (!shared_.failure().write(why)) return;
  for (const std::size_t rank : members_) doorbell::ring(job_.bell(rank));
}

}  // namespace muster::shm
