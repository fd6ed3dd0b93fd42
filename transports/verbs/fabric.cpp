#include "transports/verbs/fabric.hpp"

#include <string>
#include <string_view>

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

}  // namespace muster::verbs
