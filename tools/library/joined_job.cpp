#include "tools/library/joined_job.hpp"

#include <cstddef>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include <muster/environment/environment.hpp>

#include "transports/tcp/interfaces.hpp"

namespace muster {

std::chrono::milliseconds time_to_be_stopped(bool waits) {
  const bool is_set = environment::read(environment::timeout) != nullptr;
  return waits && !is_set ? std::chrono::milliseconds(0) : tcp::timeout_asked_for();
}

joined_job::joined_job(shm::job joined, const rank_options& options)
    : here_(std::move(joined)),
      rank_(make_job_rank(*here_, here_->joined_as(), options)),
      waits_for_stopped_(options.of_world.waits_for_stopped) {}

joined_job::joined_job(cluster::bootstrapped joined, const rank_options& options)
    : waits_for_stopped_(options.of_world.waits_for_stopped) {
  if (joined.of.shape().nodes() == 1) {
    here_.emplace(std::move(joined.of).here());
    rank_ = make_job_rank(*here_, here_->joined_as(), options);
  } else {
    cluster_.emplace(std::move(joined.of));
    rank_ = make_job_rank(*cluster_, place_in(joined), options);
  }
}

joined_job::~joined_job() {
  if (std::uncaught_exceptions() > exceptions_before_) rank_->fail({});
}

void joined_job::watch() {
  const auto ranks = cluster_ ? cluster_->ranks_here() : std::span<const std::size_t>();
  std::vector<std::size_t> names(ranks.begin(), ranks.end());
  if (names.empty()) {
    names.resize(here_->size());
    std::iota(names.begin(), names.end(), std::size_t{0});
  }
  if (names.size() == 1) return;
  deaths_.emplace(memory(), memory().joined_as(), std::move(names),
                  time_to_be_stopped(waits_for_stopped_));
}

}  // namespace muster
