#include <muster/run/verb_checks.hpp>

#include <string>

#include <muster/base/error.hpp>
#include <muster/wire/board.hpp>

namespace muster {
namespace {

std::string text(std::string_view words) { return std::string(words); }
std::string text(std::size_t number) { return std::to_string(number); }
std::string text(stage_kind kind) {
  switch (kind) {
    case stage_kind::apart:
      return "apart";
    case stage_kind::none:
      return "none";
    case stage_kind::one_way:
      return "one_way";
    case stage_kind::exchanged:
      return "exchanged";
    case stage_kind::lengthy:
      return "lengthy";
    case stage_kind::very_long:
      return "very_long";
  }
  return "unknown";
}

}  // namespace

template <class... Parts>
void verb_checks::refuse(const Parts&... parts) const {
  throw error(errc::invalid_argument,
              (text(name(what_)) + ": the row '" + text(row_) + "', which declares the stages " +
               text(declared_) + ", " + ... + text(parts)));
}

void verb_checks::arrive(bool again) const {
  use_node("arrives");
  if (again) refuse("arrives again; expected each rank to arrive exactly once");
}

void verb_checks::publish(std::size_t bytes) const {
  if (bytes <= wire::inline_bytes) return;
  if (bytes > wire::short_stage_bytes) {
    refuse("publishes ", bytes, " bytes; expected at most ", wire::short_stage_bytes,
           ", and a pipeline for more");
  }
  if (declared_ == stage_kind::one_way || declared_ == stage_kind::exchanged) return;
  refuse("publishes ", bytes, " bytes; expected one_way or exchanged for more than ",
         wire::inline_bytes);
}

void verb_checks::use_node(std::string_view verb) const {
  if (declared_ == stage_kind::apart) refuse(verb, "; expected messages alone, or none");
}

void verb_checks::use_pipeline(std::size_t index) const {
  if (declared_ < stage_kind::lengthy) refuse("has a pipeline; expected lengthy or very_long");
  if (index >= wire::pipelines) {
    refuse("has pipeline ", index, "; expected one below ", wire::pipelines);
  }
}

void verb_checks::exchange(std::string_view verb, std::size_t with, std::size_t ranks) const {
  if (with < ranks) return;
  refuse(verb, " rank ", with, "; expected one below ", ranks);
}

void verb_checks::receive(std::size_t from, std::span<std::byte> place,
                          std::optional<std::span<std::byte>> posted) const {
  if (!posted) refuse("receives a long message of rank ", from, "; expected to invite it before");
  if (posted->data() == place.data() && posted->size() == place.size()) return;
  refuse("receives ", place.size(), " bytes of rank ", from, " elsewhere than it invited ",
         posted->size(), "; expected the same place");
}

void verb_checks::note(std::string_view verb, std::size_t bytes, std::size_t most) const {
  if (bytes > most) {
    refuse(verb, " a note of ", bytes, " bytes; expected at most ", most);
  }
}

void verb_checks::complete(bool arrived, bool lends) const {
  if (!arrived && declared_ != stage_kind::apart) {
    refuse("ends without an arrival; expected each rank to arrive exactly once");
  }
  if (lends) refuse("ends while it lends memory; expected to await that it is returned");
}

}  // namespace muster
