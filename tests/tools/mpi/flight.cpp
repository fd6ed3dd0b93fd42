#include "tests/tools/mpi/flight.hpp"

#include <algorithm>

#include "tests/tools/mpi/functions.hpp"

namespace muster::testing {

flight::flight(MPI_Comm on, kind what, int number, std::size_t count)
    : on_(on), what_(what), number_(number), count_(count) {
  MPI_Comm_rank(on, &rank_);
  MPI_Comm_size(on, &size_);
  const auto ranks = static_cast<std::size_t>(size_);
  send_.resize(sends_blocks() ? ranks * count : count);
  receive_.resize(receives_blocks() ? ranks * count : count);
  for (int rank = 0; rank < size_; ++rank) {
    counts_.push_back(this->count());
    displacements_.push_back(rank * this->count());
    bytes_.push_back(rank * this->count() * static_cast<int>(sizeof(int)));
    types_.push_back(MPI_INT);
  }
  renumber(number);
}

bool flight::sends_blocks() const {
  switch (what_) {
    case kind::alltoall:
    case kind::alltoallv:
    case kind::alltoallw:
    case kind::scatter:
    case kind::scatterv:
    case kind::reduce_scatter:
    case kind::reduce_scatter_block:
      return true;
    default:
      return false;
  }
}

bool flight::receives_blocks() const {
  switch (what_) {
    case kind::alltoall:
    case kind::alltoallv:
    case kind::alltoallw:
    case kind::allgather:
    case kind::allgatherv:
    case kind::gather:
    case kind::gatherv:
      return true;
    default:
      return false;
  }
}

void flight::renumber(int number) {
  number_ = number;
  root_ = number % size_;
  for (std::size_t i = 0; i < send_.size(); ++i) {
    send_[i] = value(rank_, static_cast<int>(i / std::max<std::size_t>(1, count_)), i % count_);
  }
  std::ranges::fill(receive_, -1);
  if (what_ == kind::bcast && rank_ == root_) receive_ = send_;
}

int flight::value(int from, int to, std::size_t i) const {
  const int block = sends_blocks() ? to : 0;
  return number_ * 1000 + from * 100 + block * 7 + static_cast<int>(i % 13);
}

MPI_Request flight::start() {
  MPI_Request request = MPI_REQUEST_NULL;
  const int count = this->count();
  const void* from = send_.data();
  void* to = receive_.data();
  switch (what_) {
    case kind::alltoall:
      MPI_Ialltoall(from, count, MPI_INT, to, count, MPI_INT, on_, &request);
      break;
    case kind::allreduce:
      MPI_Iallreduce(from, to, count, MPI_INT, MPI_SUM, on_, &request);
      break;
    case kind::bcast:
      MPI_Ibcast(to, count, MPI_INT, root_, on_, &request);
      break;
    case kind::allgather:
      MPI_Iallgather(from, count, MPI_INT, to, count, MPI_INT, on_, &request);
      break;
    case kind::gather:
      MPI_Igather(from, count, MPI_INT, to, count, MPI_INT, root_, on_, &request);
      break;
    case kind::scan:
      MPI_Iscan(from, to, count, MPI_INT, MPI_SUM, on_, &request);
      break;
    case kind::barrier:
      MPI_Ibarrier(on_, &request);
      break;
    default:
      break;
  }
  return request;
}

MPI_Request flight::make() {
  MPI_Request one = MPI_REQUEST_NULL;
  const int count = this->count();
  const int* from = send_.data();
  int* to = receive_.data();
  const int* counts = counts_.data();
  const int* places = displacements_.data();
  const MPI_Info none = MPI_INFO_NULL;
  const MPI_Datatype of = MPI_INT;
  switch (what_) {
    case kind::alltoall:
      MPI_Alltoall_init(from, count, of, to, count, of, on_, none, &one);
      break;
    case kind::allreduce:
      MPI_Allreduce_init(from, to, count, of, MPI_SUM, on_, none, &one);
      break;
    case kind::bcast:
      MPI_Bcast_init(to, count, of, root_, on_, none, &one);
      break;
    case kind::allgather:
      MPI_Allgather_init(from, count, of, to, count, of, on_, none, &one);
      break;
    case kind::gather:
      MPI_Gather_init(from, count, of, to, count, of, root_, on_, none, &one);
      break;
    case kind::scan:
      MPI_Scan_init(from, to, count, of, MPI_SUM, on_, none, &one);
      break;
    case kind::barrier:
      MPI_Barrier_init(on_, none, &one);
      break;
    case kind::scatter:
      MPI_Scatter_init(from, count, of, to, count, of, root_, on_, none, &one);
      break;
    case kind::reduce:
      MPI_Reduce_init(from, to, count, of, MPI_SUM, root_, on_, none, &one);
      break;
    case kind::exscan:
      MPI_Exscan_init(from, to, count, of, MPI_SUM, on_, none, &one);
      break;
    case kind::reduce_scatter_block:
      MPI_Reduce_scatter_block_init(from, to, count, of, MPI_SUM, on_, none, &one);
      break;
    case kind::reduce_scatter:
      MPI_Reduce_scatter_init(from, to, counts, of, MPI_SUM, on_, none, &one);
      break;
    case kind::allgatherv:
      MPI_Allgatherv_init(from, count, of, to, counts, places, of, on_, none, &one);
      break;
    case kind::gatherv:
      MPI_Gatherv_init(from, count, of, to, counts, places, of, root_, on_, none, &one);
      break;
    case kind::scatterv:
      MPI_Scatterv_init(from, counts, places, of, to, count, of, root_, on_, none, &one);
      break;
    case kind::alltoallv:
      MPI_Alltoallv_init(from, counts, places, of, to, counts, places, of, on_, none, &one);
      break;
    case kind::alltoallw:
      MPI_Alltoallw_init(from, counts, bytes_.data(), types_.data(), to, counts, bytes_.data(),
                         types_.data(), on_, none, &one);
      break;
  }
  return one;
}

int flight::expected(std::size_t block, std::size_t i) const {
  if (receives_blocks()) return value(static_cast<int>(block), rank_, i);
  switch (what_) {
    case kind::bcast:
      return value(root_, 0, i);
    case kind::scatter:
    case kind::scatterv:
      return value(root_, rank_, i);
    default:
      break;
  }
  int sum = 0;
  int last = size_;
  if (what_ == kind::scan) last = rank_ + 1;
  if (what_ == kind::exscan) last = rank_;
  for (int rank = 0; rank < last; ++rank) sum += value(rank, rank_, i);
  return sum;
}

void flight::verify(job& of, const char* how) const {
  if (!receives()) return;
  for (std::size_t i = 0; i < receive_.size(); ++i) {
    if (!of.check_equal(receive_[i], expected(i / count_, i % count_), how, ", operation ", number_,
                        " of kind ", static_cast<int>(what_), ": element ", i)) {
      return;
    }
  }
}

}  // namespace muster::testing
