#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <muster/wire/fabric.hpp>

#include "tools/mpi/next.hpp"

namespace muster::mpi {

/// What a rank of a new communicator says of the memory it provides for the team.
struct offer {
  wire::memory_handle memory = {};
  std::uint64_t turn = 0;
  std::uint64_t refused = 0;
};

/// What the exchanges of a process need where they must be heard without a call of the MPI: an
/// operation of the MPI's, and memory that all ranks of the node can write. There is one at a time;
/// used where the engine is driven, but for `operation`.
class post_office {
public:
  /// \param reach outlives it
  /// \param hook what can be done in the MPI's progress
  post_office(wire::node_memory& reach, progress_hook hook);
  /// All exchanges have ended.
  ~post_office();
  post_office(const post_office&) = delete;
  post_office& operator=(const post_office&) = delete;

  /// MPI_OP_NULL where exchanges can ask the MPI.
  MPI_Op operation() const noexcept { return operation_; }

  /// Where a rank finds what all have said.
  struct mailbox {
    std::span<std::byte> memory;
    std::uint64_t ticket = 0;  ///< of its use, and of no other of this process
  };
  /// An empty one; without memory where exchanges can ask the MPI. \throws error `errc::resource`
  mailbox take(std::size_t ranks);
  /// It is full, and has been read.
  void give_back(const mailbox& used) { idle_.push_back(used.memory); }
  /// Where it is for the others.
  std::uint64_t address_of(const mailbox& one) const noexcept;

private:
  wire::node_memory& reach_;
  MPI_Op operation_ = MPI_OP_NULL;
  std::uint64_t tickets_ = 0;
  std::vector<std::span<std::byte>> idle_;
};

/// Tells all ranks of a communicator what each of them offers, while nobody waits: an
/// MPI_Iallgather; or, where the MPI must not be asked in its progress, an MPI_Iallreduce by an
/// operation that puts together what ranks have said so far. Whichever rank's MPI has all of it
/// first puts it into the mailboxes of all, where it can be heard without a call of the MPI. (Not
/// everywhere: Open MPI 4.1 crashes where a communicator is freed during an allreduce.)
class exchange {
public:
  /// Begins one, on a thread that may call the MPI.
  /// \param box of this rank; without memory where it could have none, which it then has to say
  exchange(post_office& by, post_office::mailbox box, MPI_Comm on, std::size_t rank,
           std::size_t ranks, const offer& mine);
  ~exchange();
  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;

  /// Whether the MPI is done with it. Calls the MPI.
  bool has_ended();
  /// What all ranks have said, where that has come; else nothing. Does not call the MPI.
  std::vector<offer> heard() const;

private:
  void begin_allgather(MPI_Comm on);
  void begin_allreduce(MPI_Comm on);

  post_office& by_;
  post_office::mailbox box_;
  std::size_t ranks_;
  std::vector<std::uint64_t> letter_;
  MPI_Datatype type_ = MPI_DATATYPE_NULL;
  MPI_Request request_ = MPI_REQUEST_NULL;
};

}  // namespace muster::mpi
