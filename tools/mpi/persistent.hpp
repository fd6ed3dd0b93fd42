#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <memory>
#include <unordered_map>
#include <vector>

#include <muster/coro/task.hpp>
#include <muster/progress/milestone.hpp>
#include <muster/run/team.hpp>
#include <muster/team/order.hpp>

#include "tools/mpi/cached_call.hpp"
#include "tools/mpi/call.hpp"
#include "tools/mpi/communicator.hpp"
#include "tools/mpi/driver.hpp"
#include "tools/mpi/held_type.hpp"
#include "tools/mpi/types.hpp"

namespace muster::mpi {

/// A persistent collective of the program's.
///
/// Ranks make them in one order, but start them in any. So each has a team of its own, which takes
/// its place among the communicator's operations when it is made, and in which its turns are in
/// order whatever else the communicator does.
///
/// MPI has no generalized requests that can be started again. The program's request is a persistent
/// receive of nothing from this process to itself, which MPI_Start starts with the operation, and
/// for which a message of nothing is sent when that has ended.
class persistent_operation {
public:
  /// Keeps what the program may free or change before it starts it: types, counts, displacements.
  /// \param needs of its team's stages, see `duplicate_for_runs`
  persistent_operation(const call& from, std::shared_ptr<communicator> of, driver& by,
                       stage_kind needs, int its_tag);
  ~persistent_operation();
  persistent_operation(const persistent_operation&) = delete;
  persistent_operation& operator=(const persistent_operation&) = delete;

  const call& what() const noexcept { return what_; }
  const std::shared_ptr<communicator>& on() const noexcept { return on_; }
  int tag() const noexcept { return tag_; }
  /// A turn has begun, has ended.
  void begin() noexcept { under_way_ = true; }
  void end() noexcept { under_way_ = false; }
  bool under_way() const noexcept { return under_way_; }

  /// The last turn's call, to be given back by the next one when it has ended; or null.
  std::unique_ptr<cached_call> take() noexcept { return std::move(last_); }
  void keep(std::unique_ptr<cached_call> ended) noexcept { last_ = std::move(ended); }

  // Where the engine is driven:

  /// Makes the team, once the communicator has one. Does not throw: turns do, if that fails.
  task<> make_team();
  /// \throws what `make_team` met
  task<> await_team();
  /// Null where it is not there yet, or will never be.
  muster::team* team() const noexcept { return own_.get(); }

private:
  void keep(side& of, std::size_t blocks);
  numbers keep(const numbers& all, std::size_t blocks);
  MPI_Datatype keep(MPI_Datatype type);

  call what_;
  std::shared_ptr<communicator> on_;
  driver& driver_;
  stage_kind needs_;
  int tag_;
  bool under_way_ = false;
  std::vector<std::unique_ptr<std::int64_t[]>> numbers_;
  std::vector<std::unique_ptr<MPI_Datatype[]>> lists_;
  std::vector<held_type> types_;
  milestone team_made_;
  std::exception_ptr refusal_;  // there will be no team
  std::unique_ptr<muster::team> own_;
  std::unique_ptr<cached_call> last_;
};

/// Those of a process.
class persistent_operations {
public:
  explicit persistent_operations(driver& by) noexcept : driver_(by) {}
  ~persistent_operations();
  persistent_operations(const persistent_operations&) = delete;
  persistent_operations& operator=(const persistent_operations&) = delete;

  /// Makes one and its `request`. The first one makes a communicator of this process alone.
  /// \throws error `errc::resource` where there are too many
  std::shared_ptr<persistent_operation> add(const call& what, std::shared_ptr<communicator> on,
                                            stage_kind needs, MPI_Request* request);
  /// The program frees the request.
  void remove(MPI_Request request);
  bool empty() const noexcept { return all_.empty(); }
  /// Null where it is another request.
  std::shared_ptr<persistent_operation> find(MPI_Request request) const;
  /// What was started with the request has ended.
  void complete(const persistent_operation& one) const;

private:
  int take_tag();

  driver& driver_;
  MPI_Comm self_ = MPI_COMM_NULL;
  int next_tag_ = 0;
  std::vector<int> free_tags_;
  std::unordered_map<MPI_Request, std::shared_ptr<persistent_operation>> all_;
};

}  // namespace muster::mpi
