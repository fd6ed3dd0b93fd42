#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <unordered_map>

#include "engine/mpi/call.hpp"
#include "engine/mpi/communicator.hpp"

namespace muster::mpi {

/// A persistent collective of the program's.
///
/// MPI has no generalized requests that can be started again. The program's request is a persistent
/// receive of nothing from this process to itself, which MPI_Start starts with the operation, and
/// for which a message of nothing is sent when that has ended.
struct repeated {
  call what;
  std::shared_ptr<communicator> on;
  int tag = 0;
};

/// Those of a process.
class repeated_operations {
public:
  repeated_operations() = default;
  ~repeated_operations();
  repeated_operations(const repeated_operations&) = delete;
  repeated_operations& operator=(const repeated_operations&) = delete;

  /// Makes `request`. The first one makes a communicator of this process alone.
  void add(const call& what, std::shared_ptr<communicator> on, MPI_Request* request);
  /// The program frees the request.
  void remove(MPI_Request request) { all_.erase(request); }
  /// Null where it is another request.
  std::shared_ptr<repeated> find(MPI_Request request) const;
  /// What was started with the request has ended.
  void complete(const repeated& one) const;

private:
  MPI_Comm self_ = MPI_COMM_NULL;
  int next_tag_ = 0;
  std::unordered_map<MPI_Request, std::shared_ptr<repeated>> all_;
};

}  // namespace muster::mpi
