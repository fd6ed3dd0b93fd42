#include "tools/library/job_rank.hpp"

#include <exception>
#include <optional>
#include <utility>

#include "transports/cluster/fabric.hpp"
#include "transports/shm/fabric.hpp"

namespace muster {
namespace {

wire::failure failure_of(std::size_t rank, const std::string& what) {
  return {.code = errc::rank_died,
          .rank = rank,
          .text = "rank " + std::to_string(rank) + " ended with an exception" +
                  (what.empty() ? "" : ": " + what)};
}

class rank_of_machine final : public job_rank {
public:
  rank_of_machine(const shm::job& of, std::size_t rank, const rank_options& options)
      : job_(of), rank_(rank) {
    try {
      fabric_.emplace(of, rank);
      parts_.emplace(*fabric_,
                     rank_place{of, rank, of.shape(), rank, of.machine(), of.machine().processors},
                     options);
    } catch (const std::exception& why) {  // it could not even begin
      fail(why.what());
      leave();
      throw;
    }
  }
  ~rank_of_machine() override {
    parts_->stop();
    leave();
  }

  rank_parts& parts() noexcept override { return *parts_; }
  void fail(const std::string& what) noexcept override { job_.fail(failure_of(rank_, what)); }

private:
  void leave() const noexcept { job_.set_state(rank_, wire::liveness::left); }

  const shm::job& job_;
  std::size_t rank_;
  std::optional<shm::fabric> fabric_;
  std::optional<rank_parts> parts_;
};

class rank_of_cluster final : public job_rank {
public:
  rank_of_cluster(const cluster::job& of, network_place where, const rank_options& options)
      : job_(of), rank_(where.rank) {
    try {
      own_.emplace(of, rank_, where.others(of));
      fabric_.emplace(*own_);
      parts_.emplace(*fabric_,
                     rank_place{of.here(), of.place_of(rank_), of.shape(), rank_, of.machine(),
                                of.processors_here(), where.network, where.clock},
                     options);
    } catch (const std::exception& why) {  // it could not even begin
      fail(why.what());
      leave();
      throw;
    }
  }
  ~rank_of_cluster() override {
    parts_->stop();
    leave();
  }

  rank_parts& parts() noexcept override { return *parts_; }
  void fail(const std::string& what) noexcept override {
    const wire::failure why = failure_of(rank_, what);
    job_.here().fail(why);
    if (!parts_) return;
    parts_->stop();  // its thread may use the connections
    own_->tell_failure(why);
  }

private:
  void leave() noexcept {
    if (fabric_) fabric_->tell_before_leaving();
    if (own_) own_->leave();
    job_.here().set_state(job_.place_of(rank_), wire::liveness::left);
  }

  const cluster::job& job_;
  std::size_t rank_;
  std::optional<cluster::rank_memory> own_;
  std::optional<cluster::fabric> fabric_;
  std::optional<rank_parts> parts_;
};

}  // namespace

std::unique_ptr<job_rank> make_job_rank(const shm::job& of, std::size_t rank,
                                        const rank_options& options) {
  return std::make_unique<rank_of_machine>(of, rank, options);
}

network_place place_in(cluster::bootstrapped& made) {
  const std::size_t rank = made.by.how.rank;
  return {.rank = rank, .others = cluster::reach_by(std::move(made.by)), .clock = made.clock};
}

std::unique_ptr<job_rank> make_job_rank(const cluster::job& of, network_place where,
                                        const rank_options& options) {
  return std::make_unique<rank_of_cluster>(of, std::move(where), options);
}

}  // namespace muster
