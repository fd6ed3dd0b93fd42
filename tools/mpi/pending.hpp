#pragma once

#include <mpi.h>

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>

#include <muster/coro/frame_pool.hpp>
#include <muster/coro/task.hpp>

#include "tools/mpi/cached_call.hpp"
#include "tools/mpi/communicator.hpp"
#include "tools/mpi/errors.hpp"
#include "tools/mpi/persistent.hpp"
#include "tools/mpi/report.hpp"
#include "tools/mpi/staging.hpp"
#include "tools/mpi/translation.hpp"

namespace muster::mpi {

/// A nonblocking operation of the program's, the place of one that is left to the MPI, one turn of
/// a persistent one, or what makes that ready.
class pending {
public:
  /// \param before one that was written alike, and has ended; or null
  /// \param images of its buffers, where these are an accelerator's; or null
  /// \throws rejected
  pending(const call& from, types& known, std::shared_ptr<communicator> on,
          std::unique_ptr<cached_call> before, std::unique_ptr<staging> images);
  /// The place in its team's order of a call that is left to the MPI.
  pending(const call& left, types& known, std::shared_ptr<communicator> on, leavable how);
  /// A turn.
  pending(std::shared_ptr<persistent_operation> of, types& known, std::unique_ptr<staging> images);
  /// What makes a persistent operation's team.
  explicit pending(std::shared_ptr<persistent_operation> of);

  communicator& on() const noexcept { return *on_; }
  bool makes_team() const noexcept { return makes_team_; }
  bool only_takes_place() const noexcept { return only_takes_place_; }
  /// Not of what makes a team.
  const arguments& what() const noexcept { return what_ ? what_->arguments() : known_->meant(); }
  /// Whether its team is yet to be made, while that of its communicator is there.
  bool awaits_team() const noexcept {
    return turn_of != nullptr && !makes_team_ && turn_of->team() == nullptr;
  }
  /// The operation, to be started; its team has been made.
  task<> begin();
  /// It cannot be run.
  void fail(const std::string& why);
  /// It has failed. While what was thrown is caught.
  void fail();
  /// Back on a thread of the program's: puts what was received in its place.
  void finish();

  const std::optional<failure>& failed() const noexcept { return failed_; }
  kind which() const noexcept {
    return {now_.what, turn_of == nullptr ? form::nonblocking : form::persistent};
  }

  static void* operator new(std::size_t bytes) { return frame_pool::allocate(bytes); }
  static void operator delete(void* memory) noexcept { frame_pool::release(memory); }

  MPI_Request request = MPI_REQUEST_NULL;  ///< a generalized request of the MPI's, to be completed
  const std::shared_ptr<persistent_operation> turn_of;  ///< instead
  std::optional<int> code;                              ///< that its failure was reported with
  bool is_freed = false;     ///< the program wants to hear of the request no more
  pending* below = nullptr;  ///< of a stack; whoever holds that sets it

private:
  void prepare(types& known);

  std::unique_ptr<staging> images_;
  call now_;
  std::shared_ptr<communicator> on_;
  std::optional<translation> what_;
  std::unique_ptr<cached_call> known_;  // where it means the same when it is written alike
  std::optional<failure> failed_;
  bool makes_team_ = false;
  bool only_takes_place_ = false;
};

}  // namespace muster::mpi
