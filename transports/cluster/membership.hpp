#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <muster/wire/membership.hpp>

#include "transports/cluster/job.hpp"
#include "transports/cluster/news.hpp"
#include "transports/shm/parking.hpp"
#include "transports/shm/team_memory.hpp"
#include "transports/stream/remote_ranks.hpp"

namespace muster::cluster {

/// What is known of a team's members: of those of this machine by its memory, of others by what
/// they say.
class membership final : public wire::membership, private team_news {
public:
  /// What a rank hears of others by. All outlive the membership.
  struct senses {
    const shm::parking& parking;
    stream::connections& connections;
    stream::remote_ranks& others;
    newsroom& news;
  };
  /// A team as one of its ranks sees it.
  struct view {
    std::uint64_t team;                    ///< its number in the job
    std::span<const std::size_t> members;  ///< ranks of the job; outlive this
    std::span<const std::size_t> here;     ///< those of this machine; outlive this
    std::size_t rank;                      ///< this one, of the team
    std::size_t index;                     ///< this one's place among those of this machine
  };
  /// \param of   outlives this
  /// \param much of the team
  membership(const job& of, const shm::team_memory& shared, const view& in,
             const wire::extent& much, const senses& by);
  ~membership();
  membership(const membership&) = delete;
  membership& operator=(const membership&) = delete;

  std::optional<wire::failure> failed() const override;
  void fail(const wire::failure& why) noexcept override;
  wire::liveness state(std::size_t rank) const noexcept override;
  std::string how_lost(std::size_t rank) const override {
    return by_.others.how_lost(in_.members[rank]);
  }
  /// Tells members of other machines why the team is broken, if it is, so that they hear it before
  /// they hear that this rank has left. Another rank's word may come later.
  void tell_before_leaving() noexcept;
  bool all_heard(std::size_t rank) const noexcept override;
  void watch(std::size_t rank) noexcept override;
  wire::recorded_call called(std::size_t lane, std::size_t rank) const noexcept override;
  bool asks_for_calls_of(std::size_t rank) const noexcept override {
    return !job_.is_here(in_.members[rank]);
  }

private:
  // ---- team_news
  void hear_failure(const wire::failure& why) noexcept override { break_here(why); }
  void hear_call(std::size_t rank, const wire::recorded_call& called) noexcept override;
  wire::recorded_call last_call() const noexcept override;
  std::size_t rank() const noexcept override { return in_.rank; }

  /// Tells those members of other machines that this rank talks to why the team is broken, if it
  /// is, once.
  void repeat_failure() noexcept;
  /// False where the team is broken already.
  bool break_here(const wire::failure& why) noexcept;
  /// A member's place among those of this machine.
  std::size_t place_of(std::size_t rank) const noexcept;

  const job& job_;
  shm::team_memory shared_;
  view in_;
  senses by_;
  std::size_t lanes_;
  bool has_repeated_ = false;  // why the team is broken
  // Of ranks of other machines: what they have said that they called last, whether they have been
  // asked since, and until when they are not asked again, which would wake both each time.
  struct remote {
    wire::recorded_call called;
    bool asked = false;
    std::chrono::steady_clock::time_point next = {};
  };
  mutable std::vector<remote> remote_;
};

}  // namespace muster::cluster
