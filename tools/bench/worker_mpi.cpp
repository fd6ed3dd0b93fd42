// A rank of `muster bench` on an MPI library; compiled once against each of them.
#include <mpi.h>

#include <array>
#include <cstdio>
#include <string>

#include "tools/bench/direct.hpp"
#include "tools/bench/worker.hpp"

namespace muster::bench {
namespace {

class mpi_library {
public:
  template <class T>
  using task = direct<T>;

  mpi_library() {
    MPI_Init(nullptr, nullptr);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  ~mpi_library() { MPI_Finalize(); }
  mpi_library(const mpi_library&) = delete;
  mpi_library& operator=(const mpi_library&) = delete;

  std::size_t rank() const { return static_cast<std::size_t>(rank_); }
  std::size_t size() const { return static_cast<std::size_t>(size_); }

  std::string version() const {
#if defined(OMPI_MAJOR_VERSION)
    constexpr std::array parts{OMPI_MAJOR_VERSION, OMPI_MINOR_VERSION, OMPI_RELEASE_VERSION};
    return "Open MPI " + std::to_string(parts[0]) + "." + std::to_string(parts[1]) + "." +
           std::to_string(parts[2]);
#else
    return "MPICH " MPICH_VERSION;
#endif
  }
  std::string algorithm(operation, std::size_t) const { return "default"; }

  template <class T>
  T run(direct<T> loop) {
    return std::move(loop).result();
  }

  finished barrier() {
    MPI_Barrier(MPI_COMM_WORLD);
    return {};
  }
  finished bcast(std::span<double> data) {
    MPI_Bcast(data.data(), count(data), MPI_DOUBLE, root_rank, MPI_COMM_WORLD);
    return {};
  }
  finished reduce(std::span<const double> send, std::span<double> recv) {
    MPI_Reduce(send.data(), recv.data(), count(send), MPI_DOUBLE, MPI_SUM, root_rank,
               MPI_COMM_WORLD);
    return {};
  }
  finished allreduce(std::span<const double> send, std::span<double> recv) {
    MPI_Allreduce(send.data(), recv.data(), count(send), MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return {};
  }
  finished allgather(std::span<const double> send, std::span<double> recv) {
    MPI_Allgather(send.data(), count(send), MPI_DOUBLE, recv.data(), count(send), MPI_DOUBLE,
                  MPI_COMM_WORLD);
    return {};
  }
  finished alltoall(std::span<const double> send, std::span<double> recv) {
    const int block = count(send) / size_;
    MPI_Alltoall(send.data(), block, MPI_DOUBLE, recv.data(), block, MPI_DOUBLE, MPI_COMM_WORLD);
    return {};
  }

private:
  static int count(std::span<const double> data) { return static_cast<int>(data.size()); }

  int rank_ = 0;
  int size_ = 1;
};

}  // namespace
}  // namespace muster::bench

int main() {
  try {
    muster::bench::mpi_library library;
    muster::bench::serve(library);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "muster bench worker: %s\n", error.what());
    return 1;
  }
}
