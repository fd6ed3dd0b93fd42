#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include <muster/muster.h>
#include <muster/call/reduction.hpp>
#include <muster/coro/task.hpp>
#include <muster/progress/future.hpp>
#include <muster/run/team.hpp>

#include "tools/c/errors.hpp"
#include "tools/c/job.hpp"

/// An operation that a request stands for.
struct muster_operation {
public:
  /// \param call a literal, for messages
  muster_operation(muster_team& on, std::string_view call) noexcept : on_(&on), call_(call) {}
  /// One that is under way is stopped.
  ~muster_operation();
  muster_operation(const muster_operation&) = delete;
  muster_operation& operator=(const muster_operation&) = delete;

  /// The op that it uses.
  void uses(std::shared_ptr<const muster::custom_reduction> op) noexcept { op_ = std::move(op); }
  /// It makes a team, which is told there.
  void makes(muster_team*& where) noexcept { told_ = &where; }
  std::unique_ptr<muster::team>* made() noexcept { return &made_; }

  void begin(muster::task<> work);
  /// The team is about to go: it ends, and is complete.
  void end_without_team() noexcept;
  void ask_to_stop() noexcept { running_.request_stop(); }
  bool ended() const noexcept { return !running_.valid() || running_.ended(); }

  /// Whether it has ended, the first time that this is asked afterwards.
  bool ended_unnoticed() noexcept { return ended() && !std::exchange(is_noticed_, true); }

  /// Null where its team has been freed: then it is complete.
  muster_team* on() const noexcept { return on_; }
  std::string_view call() const noexcept { return call_; }
  /// Waits for the end, and tells what it made; how it ended.
  int conclude();

  /// Its request is freed: nobody waits for it any more.
  void leave_list() noexcept;

  std::size_t place = 0;  ///< among its team's pending ones

private:
  int wait() noexcept;

  muster_team* on_;
  std::string_view call_;
  bool is_listed_ = false;
  bool is_noticed_ = false;
  std::shared_ptr<const muster::custom_reduction> op_;
  std::unique_ptr<muster::team> made_;
  muster_team** told_ = nullptr;
  muster::future<> running_;
  std::optional<muster::c::failure> how_;  // where the team went first
};
