#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "tests/engine/mpi/job.hpp"

namespace muster::testing {

/// A nonblocking collective of ints, its buffers, and what should be in them at its end.
class flight {
public:
  enum class kind { alltoall, allreduce, bcast, allgather, gather, scan, barrier };
  static constexpr int kinds = 7;

  /// \param number of this operation among those of the communicator, on which its data depends
  flight(MPI_Comm on, kind what, int number, std::size_t count);

  MPI_Request start();
  /// The same again, with the data of another number, when what was started has ended.
  void renumber(int number);
  void verify(job& of, const char* how) const;

  /// What it was made of, for starting in other forms.
  const int* sent() const { return send_.data(); }
  int* received() { return receive_.data(); }
  int count() const { return static_cast<int>(count_); }

private:
  int value(int from, int to, std::size_t i) const;
  int expected(std::size_t block, std::size_t i) const;
  bool receives() const {
    return what_ != kind::barrier && (what_ != kind::gather || rank_ == root_);
  }

  MPI_Comm on_;
  kind what_;
  int number_;
  int rank_ = 0;
  int size_ = 0;
  int root_ = 0;
  std::size_t count_;
  std::vector<int> send_;
  std::vector<int> receive_;
};

}  // namespace muster::testing
