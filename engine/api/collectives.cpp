#include <muster/api/collectives.hpp>

namespace muster {

task<> barrier(team& on) { return perform(on, arguments{}); }

}  // namespace muster
