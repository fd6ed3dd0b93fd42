#pragma once

#include <valgrind/callgrind.h>

namespace muster::testing {

/// Calls of a kind: the first are not counted, as memory comes to where it stays.
inline constexpr int warm_up_calls = 100;
inline constexpr int counted_calls = 21;
inline constexpr int calls_of_a_kind = warm_up_calls + counted_calls;

/// Where callgrind runs, what this thread does while it lives goes to a dump of its own.
class counted {
public:
  /// \param name of the dump
  counted(const char* name, int call) noexcept : name_(name), counts_(call >= warm_up_calls) {
    if (counts_) CALLGRIND_TOGGLE_COLLECT;
  }
  ~counted() {
    if (!counts_) return;
    CALLGRIND_TOGGLE_COLLECT;
    CALLGRIND_DUMP_STATS_AT(name_);
  }
  counted(const counted&) = delete;
  counted& operator=(const counted&) = delete;

private:
  const char* name_;
  bool counts_;
};

}  // namespace muster::testing
