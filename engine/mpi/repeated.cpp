#include "engine/mpi/repeated.hpp"

#include <utility>

namespace muster::mpi {

repeated_operations::~repeated_operations() {
  if (self_ != MPI_COMM_NULL) PMPI_Comm_free(&self_);
}

void repeated_operations::add(const call& what, std::shared_ptr<communicator> on,
                              MPI_Request* request) {
  if (self_ == MPI_COMM_NULL) PMPI_Comm_dup(MPI_COMM_SELF, &self_);
  constexpr int tags = 32768;  // as many as every MPI has
  const int tag = std::exchange(next_tag_, (next_tag_ + 1) % tags);
  PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, tag, self_, request);
  all_.emplace(*request, std::make_shared<repeated>(what, std::move(on), tag));
}

std::shared_ptr<repeated> repeated_operations::find(MPI_Request request) const {
  const auto at = all_.find(request);
  return at == all_.end() ? nullptr : at->second;
}

void repeated_operations::complete(const repeated& one) const {
  PMPI_Send(nullptr, 0, MPI_BYTE, 0, one.tag, self_);
}

}  // namespace muster::mpi
