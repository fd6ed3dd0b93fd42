#include "engine/mpi/repeated.hpp"

#include <string>
#include <utility>

#include "engine/error.hpp"

namespace muster::mpi {

repeated::repeated(const call& from, std::shared_ptr<communicator> of, int its_tag)
    : what_(from), on_(std::move(of)), tag_(its_tag) {
  keep(what_.send);
  keep(what_.receive);
}

void repeated::keep(side& of) {
  of.type = keep(of.type);
  of.counts = keep(of.counts);
  of.displacements = keep(of.displacements);
  if (of.types == nullptr) return;
  auto list = std::make_unique<MPI_Datatype[]>(on_->size());
  for (std::size_t rank = 0; rank < on_->size(); ++rank) list[rank] = keep(of.types[rank]);
  of.types = list.get();
  lists_.push_back(std::move(list));
}

numbers repeated::keep(const numbers& all) {
  if (!all.given()) return all;
  auto own = std::make_unique<std::int64_t[]>(on_->size());
  for (std::size_t rank = 0; rank < on_->size(); ++rank) own[rank] = all[rank];
  numbers_.push_back(std::move(own));
  return numbers(static_cast<const std::int64_t*>(numbers_.back().get()));
}

MPI_Datatype repeated::keep(MPI_Datatype type) { return types_.emplace_back(type).get(); }

repeated_operations::~repeated_operations() {
  if (self_ != MPI_COMM_NULL) PMPI_Comm_free(&self_);
}

void repeated_operations::add(const call& what, std::shared_ptr<communicator> on,
                              MPI_Request* request) {
  if (self_ == MPI_COMM_NULL) PMPI_Comm_dup(MPI_COMM_SELF, &self_);
  const int tag = take_tag();
  PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, tag, self_, request);
  all_.emplace(*request, std::make_shared<repeated>(what, std::move(on), tag));
}

int repeated_operations::take_tag() {
  if (!free_tags_.empty()) {
    const int tag = free_tags_.back();
    free_tags_.pop_back();
    return tag;
  }
  constexpr int tags = 32768;  // as many as every MPI has
  if (next_tag_ == tags) {
    throw error(errc::resource,
                "there are " + std::to_string(tags) + " persistent collectives; expected fewer");
  }
  return next_tag_++;
}

void repeated_operations::remove(MPI_Request request) {
  const auto at = all_.find(request);
  if (at == all_.end()) return;
  // A turn that is still under way sends its message later.
  if (!at->second->under_way()) free_tags_.push_back(at->second->tag());
  all_.erase(at);
}

std::shared_ptr<repeated> repeated_operations::find(MPI_Request request) const {
  const auto at = all_.find(request);
  return at == all_.end() ? nullptr : at->second;
}

void repeated_operations::complete(const repeated& one) const {
  PMPI_Send(nullptr, 0, MPI_BYTE, 0, one.tag(), self_);
}

}  // namespace muster::mpi
