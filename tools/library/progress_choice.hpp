#pragma once

#include <string_view>

#include <muster/world.hpp>

namespace muster {

/// Who drives an engine, as a user says it: `caller`, `thread`, `thread:core=3`, `thread:spare`,
/// `thread:numa`, or `auto`: a thread where a core is to spare.
struct progress_choice {
  enum class by { caller, thread, automatic };
  by who = by::caller;
  int processor = -1;  ///< for the thread; negative: as `place` says
  thread_place place = thread_place::any;
};

/// \throws error `errc::invalid_argument` naming MUSTER_PROGRESS and what was expected
progress_choice parse_progress(std::string_view text);

/// What a program asked for, unless MUSTER_PROGRESS says otherwise; an event loop that drives an
/// engine goes on to. \throws as `parse_progress`
world_options with_progress_asked_for(world_options options);

/// How a choice is called, for messages: "a thread on a spare core".
std::string_view name_of(thread_place place) noexcept;

}  // namespace muster
