#pragma once

#include <mpi.h>

#include <string>
#include <vector>

namespace muster::mpi {

/// What all processes of a communicator say, for its first one; on the others nothing.
std::vector<std::string> gather_texts(const std::string& mine, MPI_Comm among);

}  // namespace muster::mpi
