#pragma once

#include <mpi.h>

#include <memory>
#include <optional>
#include <string>

#include "engine/coro/task.hpp"
#include "engine/mpi/communicator.hpp"
#include "engine/mpi/errors.hpp"
#include "engine/mpi/repeated.hpp"
#include "engine/mpi/translation.hpp"

namespace muster::mpi {

/// A nonblocking operation of the program's, or one turn of a persistent one.
class pending {
public:
  /// \throws rejected
  pending(const call& from, types& known, std::shared_ptr<communicator> on);

  communicator& on() const noexcept { return *on_; }
  const translation& what() const noexcept { return what_; }
  /// Runs it, on the thread that drives the engine; the team has been made.
  task<> run();
  /// It cannot be run.
  void fail(const std::string& why);
  /// Back on a thread of the program's: puts what was received in its place.
  void finish();

  const std::optional<failure>& failed() const noexcept { return failed_; }
  routine which() const noexcept { return which_; }

  MPI_Request request = MPI_REQUEST_NULL;  ///< a generalized request of the MPI's, to be completed
  std::shared_ptr<repeated> turn_of;       ///< instead, of a persistent operation
  std::optional<int> code;                 ///< that its failure was reported with
  bool is_freed = false;                   ///< the program wants to hear of the request no more
  pending* next_ended = nullptr;           ///< of those that have ended; whoever holds them sets it

private:
  routine which_;
  const char* function_;
  std::shared_ptr<communicator> on_;
  translation what_;
  std::optional<failure> failed_;
};

}  // namespace muster::mpi
