// Calls that are written alike again and again, as programs do: with other data each time, with
// others in between, on communicators that come and go.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "tests/tools/mpi/functions.hpp"
#include "tests/tools/mpi/job.hpp"

namespace {

using namespace muster::testing;
using mpi = functions<int>;

/// The calls of one communicator, now and then on other buffers.
class caller {
public:
  caller(job& mine, MPI_Comm on) : job_(mine), on_(on) {
    MPI_Comm_rank(on, &rank_);
    MPI_Comm_size(on, &size_);
    for (auto* const one : {&sent_, &received_, &spare_sent_, &spare_received_}) {
      one->resize(static_cast<std::size_t>(all()));
    }
  }

  void round(int number) {
    const int root = number / 3 % size_;
    if (number % 5 == 0) spare_sent_.swap(sent_);
    if (number % 7 == 0) spare_received_.swap(received_);
    job_.now("round " + std::to_string(number));
    blocks_ = number % 4 < 2;
    MPI_Barrier(on_);
    fill(number);
    make(mpi::bcast, sent_.data(), length, MPI_INT, root, on_);
    expect(sent_, [&](int i) { return value(number, root, i); }, length, "bcast");
    fill(number);
    make(mpi::allgather, sent_.data(), length, MPI_INT, received_.data(), length, MPI_INT, on_);
    expect(
        received_, [&](int i) { return value(number, i / length, i % length); }, all(),
        "allgather");
    make(mpi::alltoall, sent_.data(), length, MPI_INT, received_.data(), length, MPI_INT, on_);
    expect(
        received_, [&](int i) { return value(number, i / length, rank_ * length + i % length); },
        all(), "alltoall");
    make(mpi::gather, sent_.data(), length, MPI_INT, received_.data(), length, MPI_INT, root, on_);
    if (rank_ == root) {
      expect(
          received_, [&](int i) { return value(number, i / length, i % length); }, all(), "gather");
    }
    make(mpi::scatter, sent_.data(), length, MPI_INT, received_.data(), length, MPI_INT, root, on_);
    expect(
        received_, [&](int i) { return value(number, root, rank_ * length + i); }, length,
        "scatter");
    make(mpi::allreduce, sent_.data(), received_.data(), length, MPI_INT, MPI_SUM, on_);
    expect(received_, [&](int i) { return sum(number, i, size_); }, length, "allreduce");
    make(mpi::reduce, sent_.data(), received_.data(), length, MPI_INT, MPI_SUM, root, on_);
    if (rank_ == root) {
      expect(received_, [&](int i) { return sum(number, i, size_); }, length, "reduce");
    }
    make(mpi::exscan, sent_.data(), received_.data(), length, MPI_INT, MPI_SUM, on_);
    if (rank_ != 0) {
      expect(received_, [&](int i) { return sum(number, i, rank_); }, length, "exscan");
    }
    make(mpi::reduce_scatter_block, sent_.data(), received_.data(), length, MPI_INT, MPI_SUM, on_);
    expect(
        received_, [&](int i) { return sum(number, rank_ * length + i, size_); }, length,
        "reduce_scatter_block");
    make(mpi::scan, sent_.data(), received_.data(), length, MPI_INT, MPI_SUM, on_);
    expect(received_, [&](int i) { return sum(number, i, rank_ + 1); }, length, "scan");
    in_place(number, root);
    nothing(number);
  }

private:
  template <class Forms, class... Arguments>
  void make(const Forms& of, Arguments... arguments) {
    if (blocks_) {
      of.blocking(arguments...);
      return;
    }
    MPI_Request request = MPI_REQUEST_NULL;
    of.nonblocking(arguments..., &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }

  /// In between: what differs in one thing from the calls before and after it. What has no meaning
  /// on a rank is not looked at.
  void in_place(int number, int root) {
    const MPI_Datatype none = no_type();
    fill(number);
    if (rank_ == root) {
      make(mpi::reduce, MPI_IN_PLACE, sent_.data(), length - 1, MPI_INT, MPI_MAX, root, on_);
      expect(sent_, [&](int i) { return value(number, size_ - 1, i); }, length - 1, "reduce");
    } else {
      make(mpi::reduce, sent_.data(), nullptr, length - 1, MPI_INT, MPI_MAX, root, on_);
    }
    fill(number);
    std::copy_n(sent_.begin(), length, received_.begin() + rank_ * length);
    make(mpi::allgather, MPI_IN_PLACE, 0, none, received_.data(), length, MPI_INT, on_);
    expect(
        received_, [&](int i) { return value(number, i / length, i % length); }, all(),
        "allgather in place");
    fill(number);
    if (rank_ == root) {
      make(mpi::gather, sent_.data(), 1, MPI_INT, received_.data(), 1, MPI_INT, root, on_);
      expect(received_, [&](int i) { return value(number, i, 0); }, size_, "gather of one");
    } else {
      make(mpi::gather, sent_.data(), 1, MPI_INT, nullptr, -1, none, root, on_);
    }
    make(mpi::scatter, sent_.data(), rank_ == root ? 1 : -1, rank_ == root ? MPI_INT : none,
         received_.data(), 1, MPI_INT, root, on_);
    expect(received_, [&](int) { return value(number, root, rank_); }, 1, "scatter of one");
  }
  void nothing(int number) {
    int* const somewhere = number % 2 == 0 ? nullptr : sent_.data();
    make(mpi::bcast, somewhere, 0, MPI_INT, 0, on_);
    make(mpi::allreduce, somewhere, number % 3 == 0 ? nullptr : received_.data(), 0, MPI_INT,
         MPI_SUM, on_);
  }
  /// A handle that was a type's.
  static MPI_Datatype no_type() {
    MPI_Datatype one = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(3, MPI_INT, &one);
    const MPI_Datatype deferred = one;
    MPI_Type_free(&one);
    return deferred;
  }

  static constexpr int length = 3;
  int all() const { return length * size_; }
  static int value(int number, int rank, int i) { return number * 1000 + rank * 50 + i; }
  static int sum(int number, int i, int ranks) {
    int result = 0;
    for (int rank = 0; rank < ranks; ++rank) result += value(number, rank, i);
    return result;
  }
  void fill(int number) {
    for (int i = 0; i < all(); ++i) {
      sent_[static_cast<std::size_t>(i)] = value(number, rank_, i);
    }
    std::ranges::fill(received_, -1);
  }
  void expect(const std::vector<int>& is, const std::function<int(int)>& expected, int count,
              const char* what) {
    for (int i = 0; i < count; ++i) {
      if (!job_.check_equal(is[static_cast<std::size_t>(i)], expected(i), what, ": element ", i)) {
        return;
      }
    }
  }

  job& job_;
  MPI_Comm on_;
  int rank_ = 0;
  int size_ = 0;
  bool blocks_ = true;
  std::vector<int> sent_;
  std::vector<int> received_;
  std::vector<int> spare_sent_;
  std::vector<int> spare_received_;
};

/// One handle after the other may stand for types that have nothing in common.
void check_types_that_come_and_go(job& mine) {
  mine.now("types that come and go");
  std::vector<int> data(64);
  for (int round = 0; round < 6; ++round) {
    MPI_Datatype several = MPI_DATATYPE_NULL;
    MPI_Type_contiguous(round + 1, MPI_INT, &several);
    MPI_Type_commit(&several);
    std::ranges::fill(data, mine.rank() == 0 ? round : -1);
    MPI_Bcast(data.data(), 1, several, 0, MPI_COMM_WORLD);
    mine.check_equal(data[static_cast<std::size_t>(round)], round, "the last of several");
    const int beyond = mine.rank() == 0 ? round : -1;
    mine.check_equal(data[static_cast<std::size_t>(round + 1)], beyond, "what is beyond them");
    MPI_Type_free(&several);
    const int gap = round % 3 + 1;
    MPI_Datatype strided = MPI_DATATYPE_NULL;
    MPI_Type_vector(4, 1, gap, MPI_INT, &strided);
    MPI_Type_commit(&strided);
    std::ranges::fill(data, -1);
    for (int i = 0; i < 4 && mine.rank() == 0; ++i) {
      data[static_cast<std::size_t>(i * gap)] = round + i;
    }
    MPI_Bcast(data.data(), 1, strided, 0, MPI_COMM_WORLD);
    for (int i = 0; i < 4; ++i) {
      mine.check_equal(data[static_cast<std::size_t>(i * gap)], round + i, "a strided element");
    }
    MPI_Type_free(&strided);
  }
}

/// A wrong call between right ones.
void check_wrong_in_between(job& mine) {
  mine.now("a wrong call in between");
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int round = 0; round < 4; ++round) {
    int one = 1;
    mine.check(MPI_Bcast(&one, round == 2 ? -1 : 1, MPI_INT, 0, MPI_COMM_WORLD) != MPI_SUCCESS ||
                   round != 2,
               "no error");
  }
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}

}  // namespace

int main(int argc, char** argv) {
  job mine(argc, argv);
  caller world(mine, MPI_COMM_WORLD);
  int number = 0;
  for (int turn = 0; turn < 5; ++turn) {
    MPI_Comm half = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, mine.rank() % 2, mine.rank(), &half);
    caller some(mine, half);
    for (int i = 0; i < 20; ++i) {
      world.round(++number);
      some.round(number);
    }
    check_types_that_come_and_go(mine);
    MPI_Comm_free(&half);
  }
  check_wrong_in_between(mine);
  return mine.finish();
}
