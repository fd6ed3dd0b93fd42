#include <algorithm>
#include <chrono>
#include <limits>

#include <muster/muster.h>
#include <muster/progress/engine.hpp>

#include "tools/c/errors.hpp"
#include "tools/c/job.hpp"
#include "tools/c/team.hpp"

using muster::c::guarded;
using muster::c::job;
using muster::c::required;
using muster::c::visit;

int muster_descriptor(muster_team* team, int* descriptor) {
  return guarded("descriptor", [&] {
    int& to = required("descriptor", "descriptor", descriptor);
    to = -1;
    to = muster::c::required_team("descriptor", team).in().engine().wakeup_descriptor();
  });
}

int muster_arm(muster_team* team, int* timeout) {
  return guarded("arm", [&] {
    int& limit = required("arm", "timeout", timeout);
    limit = 0;
    job& in = muster::c::required_team("arm", team).in();
    const visit alone(in, "arm");
    muster::engine& by = in.engine();
    if (in.look_for_a_moment()) return;
    // While the program tested one request another may have ended.
    if (in.any_ended_unnoticed() || !by.prepare_to_sleep()) return;
    limit = -1;
    if (const auto most = by.sleep_limit()) {
      const auto ms = std::chrono::ceil<std::chrono::milliseconds>(*most).count();
      limit = static_cast<int>(std::clamp<long long>(ms, 0, std::numeric_limits<int>::max()));
    }
  });
}

int muster_progress(muster_team* team, int* moved) {
  return guarded("progress", [&] {
    job& in = muster::c::required_team("progress", team).in();
    const visit alone(in, "progress");
    const bool has_moved = in.look();
    if (moved != nullptr) *moved = has_moved ? 1 : 0;
  });
}
