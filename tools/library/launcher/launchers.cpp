#include "tools/library/launcher/launchers.hpp"

#include <array>

#include "tools/library/launcher/by_hand.hpp"
#include "tools/library/launcher/pmi.hpp"
#include "tools/library/launcher/pmix.hpp"
#include "tools/library/launcher/slurm.hpp"
#include "tools/library/launcher/torchrun.hpp"

namespace muster::launcher {

std::optional<meeting> find_meeting() {
  constexpr std::array all = {&meet_by_hand, &meet_by_pmix, &meet_by_pmi, &meet_by_torchrun,
                              &meet_by_slurm};
  for (const auto meet : all) {
    if (auto found = meet()) return found;
  }
  return std::nullopt;
}

}  // namespace muster::launcher
