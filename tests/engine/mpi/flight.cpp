#include "tests/engine/mpi/flight.hpp"

#include <algorithm>

namespace muster::testing {

flight::flight(MPI_Comm on, kind what, int number, std::size_t count)
    : on_(on), what_(what), number_(number), count_(count) {
  MPI_Comm_rank(on, &rank_);
  MPI_Comm_size(on, &size_);
  const auto ranks = static_cast<std::size_t>(size_);
  send_.resize(what == kind::alltoall ? ranks * count : count);
  const bool has_blocks = what == kind::alltoall || what == kind::allgather || what == kind::gather;
  receive_.resize(has_blocks ? ranks * count : count);
  renumber(number);
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
  const int block = what_ == kind::alltoall ? to : 0;
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
  }
  return request;
}

int flight::expected(std::size_t block, std::size_t i) const {
  switch (what_) {
    case kind::alltoall:
    case kind::allgather:
    case kind::gather:
      return value(static_cast<int>(block), rank_, i);
    case kind::bcast:
      return value(root_, 0, i);
    default:
      break;
  }
  int sum = 0;
  const int last = what_ == kind::scan ? rank_ + 1 : size_;
  for (int rank = 0; rank < last; ++rank) sum += value(rank, 0, i);
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
