// Blocking calls that are written alike again and again, as programs do: with other data each time,
// with others in between, on communicators that come and go.

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "tests/engine/mpi/job.hpp"

namespace {

using namespace muster::testing;

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
    MPI_Barrier(on_);
    fill(number);
    MPI_Bcast(sent_.data(), length, MPI_INT, root, on_);
    expect(sent_, [&](int i) { return value(number, root, i); }, length, "bcast");
    fill(number);
    MPI_Allgather(sent_.data(), length, MPI_INT, received_.data(), length, MPI_INT, on_);
    expect(
        received_, [&](int i) { return value(number, i / length, i % length); }, all(),
        "allgather");
    MPI_Alltoall(sent_.data(), length, MPI_INT, received_.data(), length, MPI_INT, on_);
    expect(
        received_, [&](int i) { return value(number, i / length, rank_ * length + i % length); },
        all(), "alltoall");
    MPI_Gather(sent_.data(), length, MPI_INT, received_.data(), length, MPI_INT, root, on_);
    if (rank_ == root) {
      expect(
          received_, [&](int i) { return value(number, i / length, i % length); }, all(), "gather");
    }
    MPI_Scatter(sent_.data(), length, MPI_INT, received_.data(), length, MPI_INT, root, on_);
    expect(
        received_, [&](int i) { return value(number, root, rank_ * length + i); }, length,
        "scatter");
    MPI_Allreduce(sent_.data(), received_.data(), length, MPI_INT, MPI_SUM, on_);
    expect(received_, [&](int i) { return sum(number, i, size_); }, length, "allreduce");
    MPI_Reduce(sent_.data(), received_.data(), length, MPI_INT, MPI_SUM, root, on_);
    if (rank_ == root) {
      expect(received_, [&](int i) { return sum(number, i, size_); }, length, "reduce");
    }
    MPI_Scan(sent_.data(), received_.data(), length, MPI_INT, MPI_SUM, on_);
    expect(received_, [&](int i) { return sum(number, i, rank_ + 1); }, length, "scan");
  }

private:
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
  return mine.finish();
}
