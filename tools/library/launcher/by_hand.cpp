#include "tools/library/launcher/by_hand.hpp"

#include <cstdlib>
#include <initializer_list>
#include <string>

#include <muster/base/error.hpp>
#include <muster/environment/environment.hpp>

#include "tools/library/launcher/key_file.hpp"
#include "tools/library/launcher/words.hpp"

namespace muster::launcher {
namespace {

/// Where Muster's own variable is not set, a launcher's is as good: the place alone is by hand.
struct named {
  const char* name;
  const char* value;  ///< null: not set
};
std::size_t number_of(const environment::variable& own, std::initializer_list<named> others) {
  if (const char* const set = environment::read(own)) return parse_number(set, own.name);
  for (const named& other : others) {
    if (other.value != nullptr) return parse_number(other.value, other.name);
  }
  throw error(errc::bootstrap,
              std::string(own.name) + " is not set; expected beside MUSTER_RENDEZVOUS");
}

}  // namespace

std::optional<meeting> meet_by_hand() {
  const char* const place = environment::read(environment::rendezvous);
  if (place == nullptr) return std::nullopt;
  meeting one;
  parse_place(place, environment::rendezvous.name, one.place);
  one.rank =
      number_of(environment::rank, {{"RANK", std::getenv("RANK")},
                                    {"OMPI_COMM_WORLD_RANK", std::getenv("OMPI_COMM_WORLD_RANK")},
                                    {"PMI_RANK", std::getenv("PMI_RANK")},
                                    {"SLURM_PROCID", std::getenv("SLURM_PROCID")}});
  one.size =
      number_of(environment::size, {{"WORLD_SIZE", std::getenv("WORLD_SIZE")},
                                    {"OMPI_COMM_WORLD_SIZE", std::getenv("OMPI_COMM_WORLD_SIZE")},
                                    {"PMI_SIZE", std::getenv("PMI_SIZE")},
                                    {"SLURM_STEP_NUM_TASKS", std::getenv("SLURM_STEP_NUM_TASKS")}});
  check(one);
  one.place.key = key_from_file("starting ranks by hand");
  ::unsetenv(environment::rendezvous.name);
  ::unsetenv(environment::rank.name);
  return one;
}

}  // namespace muster::launcher
