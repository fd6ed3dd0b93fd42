#include "tools/library/launcher/launchers.hpp"

#include <array>
#include <cstdlib>
#include <utility>

#include "tools/library/launcher/by_hand.hpp"
#include "tools/library/launcher/pmi.hpp"
#include "tools/library/launcher/pmix.hpp"
#include "tools/library/launcher/slurm.hpp"
#include "tools/library/launcher/torchrun.hpp"

namespace muster::launcher {
namespace {

std::optional<meeting> meet_by_nobody() { return std::nullopt; }

}  // namespace

std::optional<meeting> find_meeting() {
  // Whoever started this process itself comes before those in whose job that one runs. Some set
  // what torchrun sets beside a launcher of their own.
  const bool is_torchrun = std::getenv("TORCHELASTIC_RUN_ID") != nullptr;
  const std::array all = {&meet_by_hand,     is_torchrun ? &meet_by_torchrun : &meet_by_nobody,
                          &meet_by_pmix,     &meet_by_pmi,
                          &meet_by_torchrun, &meet_by_slurm};
  for (const auto meet : all) {
    auto found = meet();
    if (!found) continue;
    return found->size > 1 ? std::move(found) : std::nullopt;
  }
  return std::nullopt;
}

}  // namespace muster::launcher
