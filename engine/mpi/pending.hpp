#pragma once

#include <mpi.h>

#include <cstddef>
#include <exception>
#include <memory>
#include <optional>
#include <string>

#include "engine/coro/frame_pool.hpp"
#include "engine/coro/task.hpp"
#include "engine/mpi/communicator.hpp"
#include "engine/mpi/errors.hpp"
#include "engine/mpi/remembered.hpp"
#include "engine/mpi/repeated.hpp"
#include "engine/mpi/translation.hpp"

namespace muster::mpi {

/// A nonblocking operation of the program's, or one turn of a persistent one.
class pending {
public:
  /// \param before one that was written alike, and has ended; or null
  /// \throws rejected
  pending(const call& from, types& known, std::shared_ptr<communicator> on,
          std::unique_ptr<remembered> before);

  communicator& on() const noexcept { return *on_; }
  const arguments& what() const noexcept { return what_ ? what_->arguments() : known_->meant(); }
  /// The operation, to be started; the team has been made.
  task<> begin();
  /// It cannot be run.
  void fail(const std::string& why);
  /// It has failed. While what was thrown is caught.
  void fail();
  /// Back on a thread of the program's: puts what was received in its place.
  void finish();

  const std::optional<failure>& failed() const noexcept { return failed_; }
  routine which() const noexcept { return now_.what; }

  static void* operator new(std::size_t bytes) { return frame_pool::allocate(bytes); }
  static void operator delete(void* memory) noexcept { frame_pool::release(memory); }

  MPI_Request request = MPI_REQUEST_NULL;  ///< a generalized request of the MPI's, to be completed
  std::shared_ptr<repeated> turn_of;       ///< instead, of a persistent operation
  std::optional<int> code;                 ///< that its failure was reported with
  bool is_freed = false;                   ///< the program wants to hear of the request no more
  pending* below = nullptr;                ///< of a stack; whoever holds that sets it

private:
  call now_;
  std::shared_ptr<communicator> on_;
  std::optional<translation> what_;
  std::unique_ptr<remembered> known_;  // where it means the same when it is written alike
  std::optional<failure> failed_;
};

}  // namespace muster::mpi
