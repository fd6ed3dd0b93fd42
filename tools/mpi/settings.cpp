#include "tools/mpi/settings.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include <muster/base/error.hpp>
#include <muster/base/random.hpp>
#include <muster/environment/environment.hpp>

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

std::uint64_t digest_choices() {
  std::uint64_t bits = 0;
  for (std::size_t what = 0; what < collectives; ++what) {
    const char* const text = environment::read(environment_name(static_cast<collective>(what)));
    for (const char one : std::string_view(text == nullptr ? "" : text)) {
      bits = mix_bits(bits + static_cast<unsigned char>(one));
    }
    bits = mix_bits(bits + what);
  }
  return bits;
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

void choose_progress(settings& in, std::string_view text) { in.progress = parse_progress(text); }

void choose_net(settings& in, std::string_view text) {
  constexpr std::array<std::pair<std::string_view, between_machines>, 4> known{{
      {"mpi", between_machines::mpi},
      {"tcp", between_machines::tcp},
      {"verbs", between_machines::verbs},
      {"leave", between_machines::leave},
  }};
  const auto* const found =
      std::ranges::find(known, text, &std::pair<std::string_view, between_machines>::first);
  if (found == known.end()) refuse(environment::net.name, text, "mpi, tcp, verbs or leave");
  in.net = found->second;
}

settings settings::from_environment() {
  settings result;
  for (auto& one : result.enabled) one.fill(true);
  read_variable(environment::enable, [&](std::string_view text) { enable(result, text); });
  read_variable(environment::progress,
                [&](std::string_view text) { choose_progress(result, text); });
  read_variable(environment::net, [&](std::string_view text) { choose_net(result, text); });
  result.report = wants_report();
  result.choices = digest_choices();
  return result;
}

bool settings::wants_report() {
  bool wanted = false;
  read_variable(environment::report, [&](std::string_view text) { wanted = text != "0"; });
  return wanted;
}

}  // namespace muster::mpi
