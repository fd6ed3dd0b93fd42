#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

#include "tests/tools/mpi/job.hpp"

namespace muster::testing {

/// A nonblocking or persistent collective of ints, its buffers, and what should be in them at its
/// end.
class flight {
public:
  enum class kind {
    alltoall,
    allreduce,
    bcast,
    allgather,
    gather,
    scan,
    barrier,
    // The rest in persistent form alone.
    scatter,
    reduce,
    exscan,
    reduce_scatter_block,
    reduce_scatter,
    allgatherv,
    gatherv,
    scatterv,
    alltoallv,
    alltoallw,
  };
  static constexpr int kinds = 7;
  static constexpr int persistent_kinds = 17;

  /// \param number of this operation among those of the communicator, on which its data depends
  flight(MPI_Comm on, kind what, int number, std::size_t count);

  MPI_Request start();
  /// A persistent request. Further numbers are to have its root.
  MPI_Request make();
  /// The same again, with the data of another number, when what was started has ended.
  void renumber(int number);
  /// The same, with the number after this one whose root it is.
  void renumber() { renumber(number_ + size_); }
  void verify(job& of, const char* how) const;

  /// What it was made of, for starting in other forms.
  const int* sent() const { return send_.data(); }
  int* received() { return receive_.data(); }
  int count() const { return static_cast<int>(count_); }

private:
  int value(int from, int to, std::size_t i) const;
  int expected(std::size_t block, std::size_t i) const;
  bool sends_blocks() const;
  bool receives_blocks() const;
  bool has_root_that_receives() const {
    return what_ == kind::gather || what_ == kind::gatherv || what_ == kind::reduce;
  }
  bool receives() const {
    return what_ != kind::barrier && !(what_ == kind::exscan && rank_ == 0) &&
           (!has_root_that_receives() || rank_ == root_);
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
  // Of blocks that may vary.
  std::vector<int> counts_;
  std::vector<int> displacements_;
  std::vector<int> bytes_;
  std::vector<MPI_Datatype> types_;
};

}  // namespace muster::testing
