#include "transports/verbs/fabric.hpp"

#include <charconv>
#include <string>
#include <string_view>
#include <system_error>

#include <muster/base/error.hpp>
#include <muster/environment/environment.hpp>

namespace muster::verbs {

fabric fabric_asked_for() {
  const char* const set = environment::read(environment::fabric);
  const std::string_view text = set == nullptr ? "auto" : set;
  if (text == "auto") return fabric::automatic;
  if (text == "tcp") return fabric::tcp;
  if (text == "verbs") return fabric::verbs;
  throw error(errc::invalid_argument,
              "MUSTER_FABRIC is '" + std::string(text) + "'; expected auto, tcp or verbs");
}

std::size_t queue_pairs_asked_for() {
  const char* const set = environment::read(environment::queue_pairs);
  if (set == nullptr) return 0;
  const std::string_view text = set;
  std::size_t most = 0;
  const auto [end, code] = std::from_chars(text.begin(), text.end(), most);
  if (code == std::errc{} && end == text.end() && most != 0) return most;
  throw error(errc::invalid_argument,
              "MUSTER_QUEUE_PAIRS is '" + std::string(text) + "'; expected a number, at least 1");
}

}  // namespace muster::verbs
