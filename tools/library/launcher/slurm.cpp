#include "tools/library/launcher/slurm.hpp"

#include <algorithm>
#include <cstdlib>

#include "tools/library/launcher/key_file.hpp"
#include "tools/library/launcher/words.hpp"

namespace muster::launcher {

std::string first_node_of(std::string_view list) {
  std::string name;
  while (!list.empty() && list.front() != ',') {
    if (list.front() != '[') {
      name += list.front();
      list.remove_prefix(1);
      continue;
    }
    // Of numbers and ranges of them, the first, with its zeros.
    const std::string_view inside = list.substr(1, list.find(']') - 1);
    name += inside.substr(0, inside.find_first_of(",-"));
    list.remove_prefix(std::min(inside.size() + 2, list.size()));
  }
  return name;
}

std::uint16_t port_of_step(std::size_t job, std::size_t step) noexcept {
  // Below the ports that systems give to those who ask for any.
  constexpr std::size_t first = 20000;
  constexpr std::size_t ports = 10000;
  constexpr std::size_t apart = 31;
  return static_cast<std::uint16_t>(first + (job * apart + step) % ports);
}

std::optional<meeting> meet_by_slurm() {
  const char* const rank = std::getenv("SLURM_PROCID");
  const char* const size = std::getenv("SLURM_STEP_NUM_TASKS");
  const char* const nodes = std::getenv("SLURM_STEP_NODELIST");
  const char* const job = std::getenv("SLURM_JOB_ID");
  const char* const step = std::getenv("SLURM_STEP_ID");
  if (rank == nullptr || size == nullptr || nodes == nullptr || job == nullptr || step == nullptr) {
    return std::nullopt;
  }
  meeting one;
  one.rank = parse_number(rank, "SLURM_PROCID");
  one.size = parse_number(size, "SLURM_STEP_NUM_TASKS");
  check(one);
  if (one.size == 1) return one;
  one.place.hosts = {first_node_of(nodes)};
  one.place.port =
      port_of_step(parse_number(job, "SLURM_JOB_ID"), parse_number(step, "SLURM_STEP_ID"));
  one.place.key = key_from_file("srun without --mpi=pmi2 or --mpi=pmix");
  return one;
}

}  // namespace muster::launcher
