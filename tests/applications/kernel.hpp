// What the kernels share: their arguments, the time of their turns, and what they say at the end.
#pragma once

#include <mpi.h>

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace kernel {

/// An MPI program of the name `what` with the arguments BLOCK TURNS.
class job {
public:
  job(int argc, char** argv, const char* what) : what_(what) {
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    if (argc != 3) refuse("expected two arguments, bytes of a block and turns");
    block_ = std::strtoull(argv[1], nullptr, 10);
    turns_ = std::atoi(argv[2]);
    if (turns_ < 1) refuse("expected one turn or more");
    if (!std::has_single_bit(ranks()) || !std::has_single_bit(block_)) {
      refuse("expected ranks and bytes of a block to be powers of two");
    }
  }
  ~job() { MPI_Finalize(); }
  job(const job&) = delete;
  job& operator=(const job&) = delete;

  std::size_t ranks() const { return static_cast<std::size_t>(ranks_); }
  std::size_t rank() const { return static_cast<std::size_t>(rank_); }
  /// Bytes that each rank sends to each in a turn, at least roughly.
  std::size_t block() const { return block_; }
  int turns() const { return turns_; }

  [[noreturn]] void refuse(const char* why) const {
    if (rank_ == 0) std::fprintf(stderr, "%s: %s\n", what_, why);
    MPI_Finalize();
    std::exit(2);
  }

  /// The time of what follows begins.
  void begin() {
    MPI_Barrier(MPI_COMM_WORLD);
    in_collectives_ = 0;
    began_ = MPI_Wtime();
  }
  /// Makes a collective call.
  template <class Call>
  void collective(Call call) {
    const double from = MPI_Wtime();
    call();
    in_collectives_ += MPI_Wtime() - from;
  }
  void end() { seconds_ = MPI_Wtime() - began_; }

  /// Rank 0 prints the time of the slowest rank, what ranks spent in collectives on average, and a
  /// digest of all ranks' results.
  /// \param wrong of this rank's results
  /// \return the program's exit status
  int report(std::uint64_t digest, std::size_t wrong) const {
    double slowest = 0, in_collectives = 0;
    std::uint64_t all_wrong = 0, all_digests = 0;
    const std::uint64_t own_wrong = wrong;
    MPI_Reduce(&seconds_, &slowest, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
    MPI_Reduce(&in_collectives_, &in_collectives, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Allreduce(&own_wrong, &all_wrong, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Reduce(&digest, &all_digests, 1, MPI_UINT64_T, MPI_BXOR, 0, MPI_COMM_WORLD);
    if (rank_ == 0) {
      std::printf("%s: %d ranks, blocks of %zu bytes, %d turns\n", what_, ranks_, block_, turns_);
      std::printf("digest: %llu\n", static_cast<unsigned long long>(all_digests));
      std::printf("wrong: %llu\n", static_cast<unsigned long long>(all_wrong));
      std::printf("seconds: %.6f\n", slowest);
      std::printf("in collectives: %.6f\n", in_collectives / ranks_);
    }
    return all_wrong == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
  }

private:
  const char* what_;
  int ranks_ = 0;
  int rank_ = 0;
  std::size_t block_ = 0;
  int turns_ = 0;
  double began_ = 0;
  double seconds_ = 0;
  double in_collectives_ = 0;
};

/// A number that looks random, for each number another.
inline std::uint64_t scrambled(std::uint64_t number) {
  number += 0x9e3779b97f4a7c15;
  number = (number ^ (number >> 30)) * 0xbf58476d1ce4e5b9;
  number = (number ^ (number >> 27)) * 0x94d049bb133111eb;
  return number ^ (number >> 31);
}

}  // namespace kernel
