#include "tools/mpi/persistent.hpp"

#include <string>
#include <utility>

#include <muster/api/split.hpp>
#include <muster/base/error.hpp>

namespace muster::mpi {

persistent_operation::persistent_operation(const call& from, std::shared_ptr<communicator> of,
                                           driver& by, stage_kind needs, int its_tag)
    : what_(from), on_(std::move(of)), driver_(by), needs_(needs), tag_(its_tag) {
  keep(what_.send, on_->blocks_sent(what_.what));
  keep(what_.receive, on_->blocks_received(what_.what));
}

persistent_operation::~persistent_operation() {
  if (own_ == nullptr) return;
  driver_.on_engine([this] {
    last_.reset();
    own_.reset();
  });
}

void persistent_operation::keep(side& of, std::size_t blocks) {
  of.type = keep(of.type);
  of.counts = keep(of.counts, blocks);
  of.displacements = keep(of.displacements, blocks);
  if (of.types == nullptr) return;
  auto list = std::make_unique<MPI_Datatype[]>(blocks);
  for (std::size_t rank = 0; rank < blocks; ++rank) list[rank] = keep(of.types[rank]);
  of.types = list.get();
  lists_.push_back(std::move(list));
}

numbers persistent_operation::keep(const numbers& all, std::size_t blocks) {
  if (!all.given()) return all;
  auto own = std::make_unique<std::int64_t[]>(blocks);
  for (std::size_t rank = 0; rank < blocks; ++rank) own[rank] = all[rank];
  numbers_.push_back(std::move(own));
  return numbers(static_cast<const std::int64_t*>(numbers_.back().get()));
}

MPI_Datatype persistent_operation::keep(MPI_Datatype type) {
  return types_.emplace_back(type).get();
}

task<> persistent_operation::make_team() {
  try {
    std::unique_ptr<muster::team> made = co_await duplicate_for_runs(on_->team(), needs_);
    own_ = std::move(made);
  } catch (...) {
    refusal_ = std::current_exception();
  }
  team_made_.reach();
}

task<> persistent_operation::await_team() {
  co_await team_made_;
  if (refusal_ != nullptr) std::rethrow_exception(refusal_);
}

persistent_operations::~persistent_operations() {
  if (self_ != MPI_COMM_NULL) PMPI_Comm_free(&self_);
}

std::shared_ptr<persistent_operation> persistent_operations::add(const call& what,
                                                                 std::shared_ptr<communicator> on,
                                                                 stage_kind needs,
                                                                 MPI_Request* request) {
  if (self_ == MPI_COMM_NULL) PMPI_Comm_dup(MPI_COMM_SELF, &self_);
  auto made =
      std::make_shared<persistent_operation>(what, std::move(on), driver_, needs, take_tag());
  PMPI_Recv_init(nullptr, 0, MPI_BYTE, 0, made->tag(), self_, request);
  all_.emplace(*request, made);
  return made;
}

int persistent_operations::take_tag() {
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

void persistent_operations::remove(MPI_Request request) {
  const auto at = all_.find(request);
  if (at == all_.end()) return;
  // A turn that is still under way sends its message later.
  if (!at->second->under_way()) free_tags_.push_back(at->second->tag());
  all_.erase(at);
}

std::shared_ptr<persistent_operation> persistent_operations::find(MPI_Request request) const {
  const auto at = all_.find(request);
  return at == all_.end() ? nullptr : at->second;
}

void persistent_operations::complete(const persistent_operation& one) const {
  PMPI_Send(nullptr, 0, MPI_BYTE, 0, one.tag(), self_);
}

}  // namespace muster::mpi
