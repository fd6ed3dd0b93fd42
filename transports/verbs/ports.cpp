#include "transports/verbs/ports.hpp"

#include "transports/verbs/port_choice.hpp"

namespace muster::verbs {

found_ports find_ports() { return choose_ports(read_ports()); }

}  // namespace muster::verbs
