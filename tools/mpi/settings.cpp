#include "tools/mpi/settings.hpp"

#include <algorithm>
#include <charconv>
#include <functional>

#include <muster/base/error.hpp>
#include <muster/environment/environment.hpp>
#include <muster/progress/affinity.hpp>

namespace muster::mpi {
namespace {

[[noreturn]] void refuse(std::string_view variable, std::string_view text,
                         const std::string& expected) {
  throw error(errc::invalid_argument, std::string(variable) + ": '" + std::string(text) +
                                          "' is unknown; expected " + expected);
}

bool enable_one(settings& in, std::string_view name) {
  for (std::size_t which = 0; which < routines; ++which) {
    for (std::size_t how = 0; how < forms; ++how) {
      if (name_of(static_cast<routine>(which), static_cast<form>(how)) != name) continue;
      in.enabled[which][how] = true;
      return true;
    }
  }
  return false;
}

template <class Read>
void read_variable(const environment::variable& which, Read read) {
  const char* const text = environment::read(which);
  if (text != nullptr && *text != '\0') read(std::string_view(text));
}

}  // namespace

bool settings::takes_anything() const noexcept {
  return std::ranges::any_of(
      enabled, [](const auto& one) { return std::ranges::any_of(one, std::identity()); });
}

void enable(settings& in, std::string_view list) {
  in.enabled = {};
  if (list == "none") return;
  while (!list.empty()) {
    const std::size_t comma = std::min(list.find(','), list.size());
    const std::string_view name = list.substr(0, comma);
    if (!enable_one(in, name)) {
      refuse(environment::enable.name, name,
             "collectives such as alltoall, ialltoall or alltoall_init, joined by commas, or none");
    }
    list.remove_prefix(std::min(comma + 1, list.size()));
  }
}

void choose_progress(settings& in, std::string_view text) {
  constexpr std::string_view on_core = "thread:core=";
  if (text == "caller") {
    in.progress = progress_by::caller;
  } else if (text == "thread") {
    in.progress = progress_by::thread;
  } else if (text == "auto") {
    in.progress = progress_by::automatic;
  } else if (text.starts_with(on_core)) {
    const std::string_view number = text.substr(on_core.size());
    const auto [end, code] =
        std::from_chars(number.data(), number.data() + number.size(), in.processor);
    if (code != std::errc{} || end != number.data() + number.size() || in.processor < 0) {
      refuse(environment::progress.name, text, "a processor's number after 'core='");
    }
    if (!bound_for_now(in.processor)) {
      refuse(environment::progress.name, text,
             "a processor after 'core=' that this process may use");
    }
    in.progress = progress_by::thread;
  } else {
    refuse(environment::progress.name, text, "caller, thread, thread:core=N or auto");
  }
}

settings settings::from_environment() {
  settings result;
  for (auto& one : result.enabled) one.fill(true);
  read_variable(environment::enable, [&](std::string_view text) { enable(result, text); });
  read_variable(environment::progress,
                [&](std::string_view text) { choose_progress(result, text); });
  result.report = wants_report();
  return result;
}

bool settings::wants_report() {
  bool wanted = false;
  read_variable(environment::report, [&](std::string_view text) { wanted = text != "0"; });
  return wanted;
}

}  // namespace muster::mpi
