#include "tools/c/errors.hpp"

#include <new>
#include <system_error>
#include <utility>

#include <muster/base/error.hpp>
#include <muster/base/version.hpp>

namespace muster::c {
namespace {

static_assert(static_cast<int>(errc::invalid_argument) == MUSTER_INVALID_ARGUMENT);
static_assert(static_cast<int>(errc::mismatched_call) == MUSTER_MISMATCHED_CALL);
static_assert(static_cast<int>(errc::rank_died) == MUSTER_RANK_DIED);
static_assert(static_cast<int>(errc::rank_left) == MUSTER_RANK_LEFT);
static_assert(static_cast<int>(errc::stopped) == MUSTER_STOPPED);
static_assert(static_cast<int>(errc::deadline_exceeded) == MUSTER_DEADLINE_EXCEEDED);
static_assert(static_cast<int>(errc::bootstrap) == MUSTER_BOOTSTRAP);
static_assert(static_cast<int>(errc::resource) == MUSTER_RESOURCE);

/// A thread's last one.
failure& last() {
  static thread_local failure kept;
  return kept;
}

}  // namespace

failure failure_of(const std::exception_ptr& why, std::string_view call) {
  try {
    std::rethrow_exception(why);
  } catch (const error& known) {
    const int rank = known.rank() == no_rank ? -1 : static_cast<int>(known.rank());
    return {.code = known.code().value(), .rank = rank, .text = known.text()};
  } catch (const std::bad_alloc&) {
    return {.code = MUSTER_RESOURCE, .text = std::string(call) + ": there is no memory"};
  } catch (const std::exception& other) {  // as from a reduction of the program's own, in C++
    return {.code = MUSTER_RESOURCE, .text = std::string(call) + ": " + other.what()};
  } catch (...) {
    return {.code = MUSTER_RESOURCE, .text = std::string(call) + ": an exception of unknown type"};
  }
}

int report(failure what) noexcept {
  const int code = what.code;
  if (code != MUSTER_SUCCESS) last() = std::move(what);
  return code;
}

int report_current(std::string_view call) noexcept {
  try {
    return report(failure_of(std::current_exception(), call));
  } catch (...) {  // there is no memory for the text
    return report({.code = MUSTER_RESOURCE});
  }
}

void reject(std::string_view call, const std::string& why) {
  throw error(errc::invalid_argument, std::string(call) + ": " + why);
}

}  // namespace muster::c

const char* muster_strerror(int code) {
  switch (code) {
    case MUSTER_SUCCESS:
      return "success";
    case MUSTER_INVALID_ARGUMENT:
      return "invalid argument";
    case MUSTER_MISMATCHED_CALL:
      return "ranks called different collectives";
    case MUSTER_RANK_DIED:
      return "a rank died";
    case MUSTER_RANK_LEFT:
      return "a rank left the job";
    case MUSTER_STOPPED:
      return "stopped";
    case MUSTER_DEADLINE_EXCEEDED:
      return "deadline exceeded";
    case MUSTER_BOOTSTRAP:
      return "cannot join the job";
    case MUSTER_RESOURCE:
      return "out of resources";
    default:
      return "unknown error";
  }
}

const char* muster_error_text() {
  const muster::c::failure& what = muster::c::last();
  return what.text.empty() ? muster_strerror(what.code) : what.text.c_str();
}
int muster_error_rank() { return muster::c::last().rank; }
const char* muster_version() { return MUSTER_VERSION; }
