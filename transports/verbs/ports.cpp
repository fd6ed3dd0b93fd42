#include "transports/verbs/ports.hpp"

#include <muster/environment/environment.hpp>

#include "transports/verbs/port_choice.hpp"

namespace muster::verbs {

found_ports find_ports() {
  const char* const named = environment::read(environment::verbs_devices);
  return named == nullptr ? ports_chosen(read_ports())
                          : ports_named(parse_port_list(named), read_ports());
}

}  // namespace muster::verbs
