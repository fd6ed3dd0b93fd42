#pragma once

#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include <muster/muster.h>
#include <muster/run/team.hpp>

#include "tools/c/job.hpp"

/// A team as a C program has it, and the operations on it that have not been waited for.
struct muster_team {
public:
  muster_team(muster::c::job& in, muster::team& of) noexcept;
  muster_team(muster::c::job& in, std::unique_ptr<muster::team> own) noexcept;
  /// Ends what is pending.
  ~muster_team();
  muster_team(const muster_team&) = delete;
  muster_team& operator=(const muster_team&) = delete;

  muster::c::job& in() const noexcept { return in_; }
  muster::team& team() const noexcept { return team_; }
  int rank() const noexcept { return static_cast<int>(team_.rank()); }
  int size() const noexcept { return static_cast<int>(team_.size()); }

  void add(muster_operation& pending);
  void remove(const muster_operation& pending) noexcept;
  /// Whether any of them has ended, of which that was not said before.
  bool any_ended_unnoticed() noexcept;
  /// Of an operation for which no request stands any more.
  void keep_until_end(std::unique_ptr<muster_operation> pending);
  /// Drops those of them that have ended.
  void drop_ended() noexcept;

private:
  muster::c::job& in_;
  std::unique_ptr<muster::team> own_;  // null for the world's
  muster::team& team_;
  std::vector<muster_operation*> pending_;  // each knows its place
  std::vector<std::unique_ptr<muster_operation>> unattended_;
};

namespace muster::c {

/// \throws error `errc::invalid_argument` where it is NULL
muster_team& required_team(std::string_view call, muster_team* given);

}  // namespace muster::c
