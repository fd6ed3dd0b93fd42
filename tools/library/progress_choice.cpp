#include "tools/library/progress_choice.hpp"

#include <charconv>
#include <string>

#include <muster/environment/environment.hpp>
#include <muster/progress/affinity.hpp>

namespace muster {
namespace {

[[noreturn]] void refuse(std::string_view text, const std::string& expected) {
  throw error(errc::invalid_argument, std::string(environment::progress.name) + ": '" +
                                          std::string(text) + "'; expected " + expected);
}

int parse_core(std::string_view text, std::string_view number) {
  int processor = -1;
  const auto [end, code] = std::from_chars(number.data(), number.data() + number.size(), processor);
  if (code != std::errc{} || end != number.data() + number.size() || processor < 0) {
    refuse(text, "a processor's number after 'core='");
  }
  if (!bound_for_now(processor))
    refuse(text, "a processor after 'core=' that this process may use");
  return processor;
}

}  // namespace

progress_choice parse_progress(std::string_view text) {
  using by = progress_choice::by;
  constexpr std::string_view on_core = "thread:core=";
  if (text == "caller") return {};
  if (text == "auto") return {.who = by::automatic};
  if (text == "thread") return {.who = by::thread};
  if (text == "thread:spare") return {.who = by::thread, .place = thread_place::spare};
  if (text == "thread:numa") return {.who = by::thread, .place = thread_place::numa};
  if (text.starts_with(on_core)) {
    return {.who = by::thread, .processor = parse_core(text, text.substr(on_core.size()))};
  }
  refuse(text, "caller, thread, thread:core=N, thread:spare, thread:numa or auto");
}

world_options with_progress_asked_for(world_options options) {
  const char* const text = environment::read(environment::progress);
  if (text == nullptr || *text == '\0' || options.progress == progress::external) return options;
  const progress_choice asked = parse_progress(text);
  options.processor = asked.processor;
  options.thread_on = asked.place;
  switch (asked.who) {
    case progress_choice::by::caller:
      options.progress = progress::caller;
      break;
    case progress_choice::by::thread:
      options.progress = progress::thread;
      break;
    case progress_choice::by::automatic:
      options.progress = progress::thread;
      options.thread_on = thread_place::spare_or_none;
      break;
  }
  return options;
}

std::string_view name_of(thread_place place) noexcept {
  switch (place) {
    case thread_place::any:
      return "anywhere";
    case thread_place::spare:
      return "on a core that no rank is bound to, if there is one";
    case thread_place::spare_or_none:
      return "on a core that no rank is bound to; where there is none, no thread";
    case thread_place::numa:
      return "on the cores of its rank's NUMA node";
  }
  return "";
}

}  // namespace muster
