// A rank of `muster bench` on an MPI library; compiled once against each of them.
#include <dlfcn.h>
#include <mpi.h>

#include <time.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <stdexcept>
#include <string>

#include "tools/command/bench/direct.hpp"
#include "tools/command/bench/uniform_blocks.hpp"
#include "tools/command/bench/worker.hpp"
#include "tools/mpi/choose.hpp"

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
  std::string choose(const order& job) {
    using enum collective;
    nonblocking_ = job.nonblocking;
    type_ = type_of(job.how.type);
    in_word_ = static_cast<int>(word_bytes / size_of(job.how.type));
    compute_ = std::chrono::duration<double, std::micro>(job.compute_us);
    if (nonblocking_ && job.what != allreduce && job.what != allgather && job.what != alltoall) {
      throw std::invalid_argument("nonblocking: measured of allreduce, allgather and alltoall");
    }
    return choose_in_muster(job);
  }

  template <class T>
  T run(direct<T> loop) {
    return std::move(loop).result();
  }

  finished call(call_tag<collective::barrier>, const slot&) {
    MPI_Barrier(MPI_COMM_WORLD);
    return {};
  }
  finished call(call_tag<collective::bcast>, const slot& on) {
    MPI_Bcast(on.send.data(), count(on.send), MPI_DOUBLE, root_rank, MPI_COMM_WORLD);
    return {};
  }
  finished call(call_tag<collective::reduce>, const slot& on) {
    MPI_Reduce(on.send.data(), on.recv.data(), elements(on.send), type_, MPI_SUM, root_rank,
               MPI_COMM_WORLD);
    return {};
  }
  finished call(call_tag<collective::allreduce>, const slot& on) {
    if (nonblocking_) {
      MPI_Iallreduce(on.send.data(), on.recv.data(), elements(on.send), type_, MPI_SUM,
                     MPI_COMM_WORLD, &request_);
      return await();
    }
    MPI_Allreduce(on.send.data(), on.recv.data(), elements(on.send), type_, MPI_SUM,
                  MPI_COMM_WORLD);
    return {};
  }
  finished call(call_tag<collective::scan>, const slot& on) {
    MPI_Scan(on.send.data(), on.recv.data(), elements(on.send), type_, MPI_SUM, MPI_COMM_WORLD);
    return {};
  }
  finished call(call_tag<collective::exscan>, const slot& on) {
    MPI_Exscan(on.send.data(), on.recv.data(), elements(on.send), type_, MPI_SUM, MPI_COMM_WORLD);
    return {};
  }
  finished call(call_tag<collective::reduce_scatter_block>, const slot& on) {
    MPI_Reduce_scatter_block(on.send.data(), on.recv.data(), elements(on.recv), type_, MPI_SUM,
                             MPI_COMM_WORLD);
    return {};
  }
  finished call(call_tag<collective::reduce_scatter>, const slot& on) {
    arrange(elements(on.recv));
    MPI_Reduce_scatter(on.send.data(), on.recv.data(), counts(), type_, MPI_SUM, MPI_COMM_WORLD);
    return {};
  }
  finished call(call_tag<collective::scatter>, const slot& on) {
    MPI_Scatter(on.send.data(), count(on.recv), MPI_DOUBLE, on.recv.data(), count(on.recv),
                MPI_DOUBLE, root_rank, MPI_COMM_WORLD);
    return {};
  }
  finished call(call_tag<collective::gather>, const slot& on) {
    MPI_Gather(on.send.data(), count(on.send), MPI_DOUBLE, on.recv.data(), count(on.send),
               MPI_DOUBLE, root_rank, MPI_COMM_WORLD);
    return {};
  }
  finished call(call_tag<collective::allgather>, const slot& on) {
    if (nonblocking_) {
      MPI_Iallgather(on.send.data(), count(on.send), MPI_DOUBLE, on.recv.data(), count(on.send),
                     MPI_DOUBLE, MPI_COMM_WORLD, &request_);
      return await();
    }
    MPI_Allgather(on.send.data(), count(on.send), MPI_DOUBLE, on.recv.data(), count(on.send),
                  MPI_DOUBLE, MPI_COMM_WORLD);
    return {};
  }
  finished call(call_tag<collective::alltoall>, const slot& on) {
    const int block = count(on.send) / size_;
    if (nonblocking_) {
      MPI_Ialltoall(on.send.data(), block, MPI_DOUBLE, on.recv.data(), block, MPI_DOUBLE,
                    MPI_COMM_WORLD, &request_);
      return await();
    }
    MPI_Alltoall(on.send.data(), block, MPI_DOUBLE, on.recv.data(), block, MPI_DOUBLE,
                 MPI_COMM_WORLD);
    return {};
  }
  finished call(call_tag<collective::scatterv>, const slot& on) {
    arrange(count(on.recv));
    MPI_Scatterv(on.send.data(), counts(), displacements(), MPI_DOUBLE, on.recv.data(),
                 count(on.recv), MPI_DOUBLE, root_rank, MPI_COMM_WORLD);
    return {};
  }
  finished call(call_tag<collective::gatherv>, const slot& on) {
    arrange(count(on.send));
    MPI_Gatherv(on.send.data(), count(on.send), MPI_DOUBLE, on.recv.data(), counts(),
                displacements(), MPI_DOUBLE, root_rank, MPI_COMM_WORLD);
    return {};
  }
  finished call(call_tag<collective::allgatherv>, const slot& on) {
    arrange(count(on.send));
    MPI_Allgatherv(on.send.data(), count(on.send), MPI_DOUBLE, on.recv.data(), counts(),
                   displacements(), MPI_DOUBLE, MPI_COMM_WORLD);
    return {};
  }
  finished call(call_tag<collective::alltoallv>, const slot& on) {
    arrange(count(on.send) / size_);
    MPI_Alltoallv(on.send.data(), counts(), displacements(), MPI_DOUBLE, on.recv.data(), counts(),
                  displacements(), MPI_DOUBLE, MPI_COMM_WORLD);
    return {};
  }

private:
  /// Where Muster is loaded into this MPI, it is told; a call runs what it says.
  std::string choose_in_muster(const order& job) {
    static const auto choose =
        reinterpret_cast<muster::mpi::choose_function>(::dlsym(RTLD_DEFAULT, mpi::choose_name));
    const std::string asked(job.asked.view());
    if (choose == nullptr) return "default";
    arguments like = call_of(job.what, job.bytes / size_of(job.how.element_of(job.what)),
                             job.how.element_of(job.what));
    uniform_blocks<std::size_t> blocks;
    blocks.arrange(like.count, size());
    const block_layout layout{blocks.counts(), blocks.displacements()};
    lay_out(like, rank(), layout);
    like.may_be_left = job.nonblocking ? leavable::nonblocking : leavable::blocking;
    const char* const id = asked == automatic ? "" : asked.c_str();
    fixed_text<200> said;
    if (choose(like, asked.empty() ? nullptr : id, said)) return std::string(said.view());
    if (asked.empty()) return "default";
    throw std::invalid_argument(std::string(said.view()));
  }

  finished await() {
    compute();
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
    return {};
  }
  /// The rank's own time, of which it has less while others have its core.
  void compute() const {
    if (compute_.count() == 0) return;
    const auto until = own_time() + compute_;
    while (own_time() < until) {
    }
  }
  static std::chrono::duration<double, std::micro> own_time() {
    timespec spent{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return std::chrono::seconds(spent.tv_sec) + std::chrono::nanoseconds(spent.tv_nsec);
  }
  void arrange(int words) { blocks_.arrange(words, size()); }
  const int* counts() const { return blocks_.counts().data(); }
  const int* displacements() const { return blocks_.displacements().data(); }

  uniform_blocks<int> blocks_;
  static int count(std::span<const double> data) { return static_cast<int>(data.size()); }
  /// What reductions combine there.
  int elements(std::span<const double> data) const { return count(data) * in_word_; }
  static MPI_Datatype type_of(datatype type) {
    switch (type) {
      case datatype::int8:
        return MPI_CHAR;
      case datatype::int32:
        return MPI_INT;
      case datatype::float32:
        return MPI_FLOAT;
      default:
        return MPI_DOUBLE;
    }
  }

  MPI_Request request_ = MPI_REQUEST_NULL;
  MPI_Datatype type_ = MPI_DOUBLE;  ///< of what reductions combine
  int in_word_ = 1;
  bool nonblocking_ = false;
  std::chrono::duration<double, std::micro> compute_{0};
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
