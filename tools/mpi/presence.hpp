// Which processes of a program have this library, of this version: another one's counts as none, as
// the two would not understand each other. A program may have several parts, of which one is
// linked otherwise or was started without the variable that loads the library: its MPI_Init returns
// and it goes on, so that nobody may call anything of the MPI that waits for it. What each process
// says to its launcher before MPI_Init tells.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "tools/mpi/init_bootstrap.hpp"

namespace muster::mpi {

/// What such a notice is called: with the version.
const char* notice() noexcept;

/// What this process's launcher keeps of what the processes of a program say.
class notice_board {
public:
  virtual ~notice_board() = default;
  /// After MPI_Init, which no rank leaves before all have begun it: whether a rank of
  /// MPI_COMM_WORLD has put a notice up.
  virtual bool has_notice_of(std::size_t rank) = 0;
};

/// Before the MPI's own MPI_Init: puts up this process's notice. Null where the launcher has no
/// board, or this process is none of a launcher's; the others then find no notice.
std::unique_ptr<notice_board> put_notice_up();

/// After it: whether all ranks of MPI_COMM_WORLD have the library. The same answer on all that
/// have. One that has not is sent nothing and not waited for.
/// \param world the ranks of MPI_COMM_WORLD
/// \param board null: there is none
/// \param tells whether one rank says why not
/// \param mine  what this rank says of itself, of the same length on all
/// \param all   what each says, in order, where all are present
bool all_are_present(const init_bootstrap& world, notice_board* board, bool tells,
                     std::span<const std::byte> mine, std::span<std::byte> all);

}  // namespace muster::mpi
