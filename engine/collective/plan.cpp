#include "engine/collective/plan.hpp"

#include <utility>

#include "engine/collective/operation.hpp"

namespace muster {

plan::plan(task<> collective) {
  auto* const found = dynamic_cast<operation*>(collective ? collective.surrounded_by() : nullptr);
  if (found == nullptr || found->is_kept()) {
    throw error(errc::invalid_argument,
                "plan: the task is not a collective's own; expected what one returned");
  }
  kept_.reset(found);
  kept_->keep(true);
}

void plan::dropping::operator()(operation* kept) const noexcept {
  if (kept->is_out()) {
    kept->keep(false);
  } else {
    delete kept;
  }
}

task<> plan::run() {
  if (kept_ == nullptr) {
    throw error(errc::invalid_argument, "plan: run after it was moved from; expected a plan");
  }
  if (kept_->is_out()) {
    throw error(errc::invalid_argument,
                "plan: run again before the last run's end; expected one run at a time");
  }
  return kept_->run();
}

}  // namespace muster
