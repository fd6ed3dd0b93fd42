// The first calls of a size in a fresh job: six collectives by turns, none of them made before the
// time begins, on buffers as malloc gives them.
#include <vector>

#include "tests/applications/kernel.hpp"

namespace {

class calling {
public:
  explicit calling(kernel::job& job)
      : job_(job),
        count_(static_cast<int>(job.block() / sizeof(double))),
        sent_(job.ranks() * job.block() / sizeof(double)),
        received_(sent_.size()) {
    if (count_ < 1) job.refuse("expected longer blocks");
    // Each buffer is touched before, as in a program that has computed something.
    for (std::size_t i = 0; i < sent_.size(); ++i) sent_[i] = element(job_.rank(), i);
  }

  void turn() {
    double* const out = received_.data();
    const double* const in = sent_.data();
    check_each([&] { MPI_Alltoall(in, count_, MPI_DOUBLE, out, count_, MPI_DOUBLE, all); },
               [&](std::size_t from) { return element(from, own_block()); });
    check_each([&] { MPI_Allgather(in, count_, MPI_DOUBLE, out, count_, MPI_DOUBLE, all); },
               [](std::size_t from) { return element(from, 0); });
    check_at_root([&] { MPI_Gather(in, count_, MPI_DOUBLE, out, count_, MPI_DOUBLE, 0, all); });
    check_first([&] { MPI_Scatter(in, count_, MPI_DOUBLE, out, count_, MPI_DOUBLE, 0, all); },
                element(0, own_block()));
    check_first([&] { MPI_Allreduce(in, out, count_, MPI_DOUBLE, MPI_SUM, all); }, sum_of_first());
    if (job_.rank() == 0) out[0] = element(0, 0);
    check_first([&] { MPI_Bcast(out, count_, MPI_DOUBLE, 0, all); }, element(0, 0));
  }

  std::size_t wrong() const { return wrong_; }
  std::uint64_t digest() const { return kernel::scrambled(job_.rank() ^ wrong_); }

private:
  /// Small, so that sums are exact.
  static double element(std::size_t rank, std::size_t at) {
    return static_cast<double>(kernel::scrambled(rank * 1'000'003 + at) % 1024);
  }
  std::size_t own_block() const { return job_.rank() * static_cast<std::size_t>(count_); }
  double sum_of_first() const {
    double sum = 0;
    for (std::size_t rank = 0; rank < job_.ranks(); ++rank) sum += element(rank, 0);
    return sum;
  }

  template <class Call>
  void check_first(Call call, double expected) {
    job_.collective(call);
    wrong_ += received_[0] != expected;
  }
  /// Each rank's block begins with `first(rank)`.
  template <class Call, class First>
  void check_each(Call call, First first) {
    job_.collective(call);
    for (std::size_t from = 0; from < job_.ranks(); ++from) {
      wrong_ += received_[from * static_cast<std::size_t>(count_)] != first(from);
    }
  }
  template <class Call>
  void check_at_root(Call call) {
    if (job_.rank() != 0) return job_.collective(call);
    check_each(call, [](std::size_t from) { return element(from, 0); });
  }

  const MPI_Comm all = MPI_COMM_WORLD;
  kernel::job& job_;
  int count_;
  std::vector<double> sent_;
  std::vector<double> received_;
  std::size_t wrong_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  kernel::job job(argc, argv, "first_calls");
  calling calls(job);
  job.begin();
  for (int i = 0; i < job.turns(); ++i) calls.turn();
  job.end();
  return job.report(calls.digest(), calls.wrong());
}
