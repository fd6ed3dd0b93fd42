#include "tools/library/launcher/reunion.hpp"

#include <cstdint>

#include <muster/base/error.hpp>
#include <muster/team/bootstrap.hpp>

namespace muster {

/// Of this rank at a meeting.
class reunion_attempt::presence {
public:
  presence(reunion_attempt& by, cluster::rendezvous& among) : by_(by) {
    const std::scoped_lock lock(by_.guard_);
    if (by_.is_abandoned_) among.abandon();
    by_.among_ = &among;
  }
  ~presence() {
    const std::scoped_lock lock(by_.guard_);
    by_.among_ = nullptr;
    by_.is_bound_ = false;
  }
  presence(const presence&) = delete;
  presence& operator=(const presence&) = delete;

  /// All are there.
  void bind() {
    const std::scoped_lock lock(by_.guard_);
    if (by_.is_abandoned_) throw error(errc::bootstrap, "rendezvous: abandoned");
    by_.is_bound_ = true;
  }

private:
  reunion_attempt& by_;
};

// A rank that fails while the job is made breaks the meeting for all, who come again, as it does.
cluster::bootstrapped reunion_attempt::run() {
  constexpr int most_failures = 100;  // of a cause that stays, one is as good
  for (int failures = 0;;) {
    try {
      return meet();
    } catch (const error& why) {
      const std::scoped_lock lock(guard_);
      const bool for_good = why.code() != errc::bootstrap || is_abandoned_;
      if (for_good || ++failures == most_failures) throw;
    }
  }
}

cluster::bootstrapped reunion_attempt::meet() {
  cluster::rendezvous among(at_.place, at_.rank, at_.size);
  presence here(*this, among);
  among.come_again();
  tell_all(among, std::uint8_t{0});
  here.bind();
  return cluster::make_job(among, at_.place.key, cluster::told_machine{.lowest = *at_.machine});
}

void reunion_attempt::abandon() {
  const std::scoped_lock lock(guard_);
  is_abandoned_ = true;
  if (among_ != nullptr && !is_bound_) among_->abandon();
}

bool reunion_attempt::is_bound() {
  const std::scoped_lock lock(guard_);
  return is_bound_;
}

}  // namespace muster
