#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "engine/mpi/call.hpp"
#include "engine/mpi/communicator.hpp"
#include "engine/mpi/types.hpp"

namespace muster::mpi {

/// A persistent collective of the program's.
///
/// MPI has no generalized requests that can be started again. The program's request is a persistent
/// receive of nothing from this process to itself, which MPI_Start starts with the operation, and
/// for which a message of nothing is sent when that has ended.
class repeated {
public:
  /// Keeps what the program may free or change before it starts it: types, counts, displacements.
  repeated(const call& from, std::shared_ptr<communicator> of, int its_tag);
  repeated(const repeated&) = delete;
  repeated& operator=(const repeated&) = delete;

  const call& what() const noexcept { return what_; }
  const std::shared_ptr<communicator>& on() const noexcept { return on_; }
  int tag() const noexcept { return tag_; }
  /// A turn has begun, has ended.
  void begin() noexcept { under_way_ = true; }
  void end() noexcept { under_way_ = false; }
  bool under_way() const noexcept { return under_way_; }

private:
  void keep(side& of);
  numbers keep(const numbers& all);
  MPI_Datatype keep(MPI_Datatype type);

  call what_;
  std::shared_ptr<communicator> on_;
  int tag_;
  bool under_way_ = false;
  std::vector<std::unique_ptr<std::int64_t[]>> numbers_;
  std::vector<std::unique_ptr<MPI_Datatype[]>> lists_;
  std::vector<kept_type> types_;
};

/// Those of a process.
class repeated_operations {
public:
  repeated_operations() = default;
  ~repeated_operations();
  repeated_operations(const repeated_operations&) = delete;
  repeated_operations& operator=(const repeated_operations&) = delete;

  /// Makes `request`. The first one makes a communicator of this process alone.
  /// \throws error `errc::resource` where there are too many
  void add(const call& what, std::shared_ptr<communicator> on, MPI_Request* request);
  /// The program frees the request.
  void remove(MPI_Request request);
  bool empty() const noexcept { return all_.empty(); }
  /// Null where it is another request.
  std::shared_ptr<repeated> find(MPI_Request request) const;
  /// What was started with the request has ended.
  void complete(const repeated& one) const;

private:
  int take_tag();

  MPI_Comm self_ = MPI_COMM_NULL;
  int next_tag_ = 0;
  std::vector<int> free_tags_;
  std::unordered_map<MPI_Request, std::shared_ptr<repeated>> all_;
};

}  // namespace muster::mpi
