#include <muster/run/derive.hpp>

#include <string>
#include <utility>

namespace muster {

std::unique_ptr<team> derive_team(team& of, const derived_team& what) {
  // Made before there may be no memory for it.
  const wire::failure why{errc::resource, what.rank,
                          "rank " + std::to_string(what.rank) + " has no memory for its team"};
  std::unique_ptr<wire::fabric> reach;
  try {
    reach = of.fabric().derive(what.members, what.handles, what.much);
    return std::make_unique<team>(of, std::move(reach), what.members, what.rank, what.turn);
  } catch (...) {
    if (reach) {
      reach->members().fail(why);
    } else {
      of.fabric().refuse(what.members, what.handles, what.much, why);
    }
    throw;
  }
}

}  // namespace muster
