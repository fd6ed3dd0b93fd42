#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string_view>
#include <vector>

#include <muster/muster.h>
#include <muster/call/reduction.hpp>
#include <muster/progress/engine.hpp>
#include <muster/run/team.hpp>
#include <muster/team/bootstrap.hpp>
#include <muster/world.hpp>

#include "tools/c/own_ops.hpp"

namespace muster::c {

/// A reduction that is a function of C.
class function_reduction final : public custom_reduction {
public:
  function_reduction(muster_function* combine, void* context, std::size_t bytes,
                     bool is_commutative);

private:
  muster_function* combine_;
  void* context_;
};

/// The job that this process has joined: what drives its operations, and what its program has made.
class job {
public:
  /// \param rejoins where the process was started again
  explicit job(bool rejoins);
  explicit job(bootstrap& with);
  ~job();
  job(const job&) = delete;
  job& operator=(const job&) = delete;

  muster_team* world() noexcept { return teams_.front().get(); }
  muster::engine& engine() noexcept { return joined_.engine(); }

  muster_team* add(std::unique_ptr<muster::team> made);
  void remove(const muster_team& which) noexcept;

  /// \throws error `errc::resource` where there are too many
  int add(std::shared_ptr<const function_reduction> op);
  void remove_op(int op);
  /// \throws error `errc::invalid_argument`, naming `call`, where there is none
  std::shared_ptr<const custom_reduction> op(std::string_view call, int which) const;

  /// A poll, and now and then a look at what waits in vain. Whether something moved.
  bool look();
  /// The same for some microseconds, until something moves.
  bool look_for_a_moment();
  /// Whether any operation has ended that its program may not know of.
  bool any_ended_unnoticed() noexcept;

private:
  friend class visit;

  muster::world joined_;
  std::atomic<bool> is_visited_{false};
  unsigned looks_in_vain_ = 0;
  std::vector<std::unique_ptr<muster_team>> teams_;  // the world first
  own_ops ops_;
};

/// The time that a program's thread spends at the engine; one at a time.
class visit {
public:
  /// \throws error `errc::invalid_argument`, naming `call`, where somebody is there
  visit(job& of, std::string_view call);
  ~visit();
  visit(const visit&) = delete;
  visit& operator=(const visit&) = delete;

private:
  job& of_;
};

}  // namespace muster::c
