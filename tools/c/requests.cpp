#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <muster/muster.h>
#include <muster/coro/stop.hpp>
#include <muster/progress/engine.hpp>

#include "tools/c/errors.hpp"
#include "tools/c/job.hpp"
#include "tools/c/operation.hpp"
#include "tools/c/team.hpp"

namespace {

using muster::c::guarded;
using muster::c::job;
using muster::c::required;
using muster::c::visit;

/// Frees a request whose operation has ended, or waits for that; how it ended.
int finish(muster_request& request) {
  const std::unique_ptr<muster_operation> own(std::exchange(request, nullptr));
  return own->conclude();
}

/// Sleeps until something may have happened, at most so long.
void sleep_at_most(muster::engine& by, muster::clock_time left) {
  if (!by.prepare_to_sleep()) return;
  const muster::clock_time limit = by.sleep_limit().value_or(muster::clock_time::max());
  muster::doorbell::sleep_on(by.wakeup_descriptor(), std::min(limit, left));
}

/// Whether it ended in time.
bool wait_until(const muster_operation& pending, muster::clock_time deadline) {
  job& in = pending.on()->in();
  muster::engine& by = in.engine();
  std::optional<muster::clock_time> idle_since;
  while (!pending.ended()) {
    if (in.look_for_a_moment()) {
      idle_since.reset();
      continue;
    }
    const muster::clock_time now = by.now();
    if (now >= deadline) return false;
    if (!idle_since) idle_since = now;
    if (now - *idle_since >= by.waiting().yield_for) sleep_at_most(by, deadline - now);
  }
  return true;
}

/// The end of time where there is no limit.
muster::clock_time deadline_after(const muster::engine& by, int64_t nanoseconds) {
  const muster::clock_time now = by.now();
  const muster::clock_time limit(nanoseconds);
  const bool has_end = nanoseconds >= 0 && limit < muster::clock_time::max() - now;
  return has_end ? now + limit : muster::clock_time::max();
}

bool is_complete(const muster_operation* each) { return each->ended(); }

/// The first of them that is complete; `pending.size()`: none.
std::size_t find_complete(std::span<const muster_request> pending) {
  const auto found = std::ranges::find_if(
      pending, [](muster_request each) { return each != nullptr && is_complete(each); });
  return static_cast<std::size_t>(found - pending.begin());
}

/// Drives until one is complete, where any is pending.
std::size_t wait_for_any(std::span<const muster_request> pending) {
  const auto first = std::ranges::find_if(pending, [](auto each) { return each != nullptr; });
  std::size_t which = find_complete(pending);
  if (first == pending.end() || which != pending.size()) return which;
  job& in = (*first)->on()->in();
  const visit alone(in, "waitany");
  in.engine().drive_until([&] {
    which = find_complete(pending);
    return which != pending.size();
  });
  return which;
}

int wait_one(const char* call, muster_request& request) {
  if (request == nullptr) return MUSTER_SUCCESS;
  if (request->on() == nullptr) return finish(request);
  const visit alone(request->on()->in(), call);
  return finish(request);
}

}  // namespace

int muster_test(muster_request* request, int* done) {
  return guarded("test", [&] {
    muster_request& mine = required("test", "request", request);
    int& is_done = required("test", "done", done);
    is_done = mine == nullptr ? 1 : 0;
    if (mine == nullptr) return static_cast<int>(MUSTER_SUCCESS);
    if (mine->on() == nullptr) {
      is_done = 1;
      return finish(mine);
    }
    job& in = mine->on()->in();
    const visit alone(in, "test");
    if (!mine->ended()) in.look();
    if (!mine->ended()) return static_cast<int>(MUSTER_SUCCESS);
    is_done = 1;
    return finish(mine);
  });
}

int muster_wait(muster_request* request) {
  return guarded("wait", [&] { return wait_one("wait", required("wait", "request", request)); });
}

int muster_timedwait(muster_request* request, int64_t nanoseconds, int* done) {
  return guarded("timedwait", [&] {
    muster_request& mine = required("timedwait", "request", request);
    int& is_done = required("timedwait", "done", done);
    is_done = 0;
    if (mine != nullptr && mine->on() != nullptr) {
      job& in = mine->on()->in();
      const visit alone(in, "timedwait");
      if (!wait_until(*mine, deadline_after(in.engine(), nanoseconds))) {
        return static_cast<int>(MUSTER_SUCCESS);
      }
      is_done = 1;
      return finish(mine);
    }
    is_done = 1;
    return mine == nullptr ? static_cast<int>(MUSTER_SUCCESS) : finish(mine);
  });
}

int muster_waitall(size_t count, muster_request* requests) {
  return guarded("waitall", [&] {
    if (count == 0) return static_cast<int>(MUSTER_SUCCESS);
    std::optional<muster::c::failure> first;
    for (muster_request& each : std::span(&required("waitall", "requests", requests), count)) {
      const int code = wait_one("waitall", each);
      if (code == MUSTER_SUCCESS || first) continue;
      first = {.code = code, .rank = muster_error_rank(), .text = muster_error_text()};
    }
    return muster::c::report(first.value_or(muster::c::failure{}));
  });
}

int muster_waitany(size_t count, muster_request* requests, size_t* which) {
  return guarded("waitany", [&] {
    size_t& found = required("waitany", "which", which);
    found = count;
    if (count == 0) return static_cast<int>(MUSTER_SUCCESS);
    const std::span all(&required("waitany", "requests", requests), count);
    found = wait_for_any(all);
    return found == count ? static_cast<int>(MUSTER_SUCCESS) : wait_one("waitany", all[found]);
  });
}

int muster_cancel(muster_request request) {
  return guarded("cancel", [request] {
    if (request == nullptr || request->on() == nullptr) return;
    job& in = request->on()->in();
    const visit alone(in, "cancel");
    request->ask_to_stop();
    in.engine().resume_interrupted_until([request] { return request->ended(); });
  });
}

int muster_request_free(muster_request* request) {
  return guarded("request_free", [&] {
    muster_request& mine = required("request_free", "request", request);
    if (mine == nullptr || mine->on() == nullptr) {
      const std::unique_ptr<muster_operation> last(std::exchange(mine, nullptr));
      return;
    }
    muster_team& on = *mine->on();
    const visit alone(on.in(), "request_free");
    std::unique_ptr<muster_operation> own(std::exchange(mine, nullptr));
    own->leave_list();
    if (!own->ended()) on.keep_until_end(std::move(own));
  });
}
