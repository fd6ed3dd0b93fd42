#pragma once

#include <exception>
#include <string>
#include <string_view>

#include <muster/muster.h>

namespace muster::c {

/// What went wrong, as a C program is told of it.
struct failure {
  int code = MUSTER_SUCCESS;
  int rank = -1;
  std::string text = {};
};

/// \param call what is named where the exception does not say it itself
failure failure_of(const std::exception_ptr& why, std::string_view call);

/// Keeps it for `muster_error_text` on this thread; its code.
int report(failure what) noexcept;
/// The same of the exception that is being handled.
int report_current(std::string_view call) noexcept;

/// Throws `errc::invalid_argument`: "allreduce: send is NULL; expected …".
[[noreturn]] void reject(std::string_view call, const std::string& why);

/// Calls `act()`, which returns nothing or a code. No exception leaves it.
template <class Act>
int guarded(std::string_view call, Act act) noexcept {
  try {
    if constexpr (requires { int{act()}; }) {
      return act();
    } else {
      act();
      return MUSTER_SUCCESS;
    }
  } catch (...) {
    return report_current(call);
  }
}

/// \throws error `errc::invalid_argument` where a C program gave no such place
template <class T>
T& required(std::string_view call, std::string_view argument, T* given) {
  if (given == nullptr) reject(call, std::string(argument) + " is NULL; expected a place for it");
  return *given;
}

}  // namespace muster::c
