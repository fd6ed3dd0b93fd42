#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include <muster/wire/membership.hpp>

#include "transports/shm/job.hpp"
#include "transports/shm/parking.hpp"
#include "transports/shm/team_memory.hpp"
#include "transports/stream/connections.hpp"

namespace muster::shm {

/// What the control segment says of a team's members.
class membership final : public wire::membership {
public:
  /// What a rank hears of others by, and what wakes it.
  struct senses {
    stream::connections& connections;
    const shm::parking& parking;
  };
  /// \param of      outlives this
  /// \param members the team's, as ranks of the job; outlive this
  /// \param rank    this one, of the team
  /// \param much    of the team
  /// \param by      outlive this
  membership(const job& of, const team_memory& shared, std::span<const std::size_t> members,
             std::size_t rank, const wire::extent& much, const senses& by) noexcept
      : wire::membership({.failure = &shared.failure().state,
                          .job_failure = much.made_by_survivors ? nullptr : &of.failure_state(),
                          .records = shared.records(),
                          .rank = rank,
                          .ranks = members.size()}),
        job_(of),
        shared_(shared),
        members_(members),
        senses_(by) {}

  std::optional<wire::failure> failed() const override;
  void fail(const wire::failure& why) noexcept override;
  wire::liveness state(std::size_t rank) const noexcept override;
  /// What is in a node's memory is there for everybody; what is on a connection may not be.
  bool all_heard(std::size_t rank) const noexcept override {
    return senses_.connections.hear(members_[rank]);
  }
  void watch(std::size_t rank) noexcept override { senses_.parking.watch(members_[rank]); }
  wire::recorded_call called(std::size_t lane, std::size_t rank) const noexcept override {
    return read(shared_.records()[lane * members_.size() + rank]);
  }

private:
  const job& job_;
  team_memory shared_;
  std::span<const std::size_t> members_;
  senses senses_;
};

}  // namespace muster::shm
