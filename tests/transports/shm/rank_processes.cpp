#include "tests/transports/shm/rank_processes.hpp"

#include <pthread.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <exception>
#include <new>
#include <string_view>

namespace muster::testing {
namespace {

constexpr std::size_t most_ranks = 64;
constexpr std::size_t most_bytes = 4096;

/// Shared by all of them. Lies in memory that begins as zeroes.
struct meeting {
  pthread_barrier_t barrier;
  std::array<std::array<std::byte, most_bytes>, most_ranks> said;
  std::array<std::array<char, most_bytes>, most_ranks> result;
};

/// The meeting's memory, which goes with the object and the processes.
class meeting_place {
public:
  explicit meeting_place(std::size_t ranks)
      : at_(static_cast<meeting*>(::mmap(nullptr, sizeof(meeting), PROT_READ | PROT_WRITE,
                                         MAP_SHARED | MAP_ANONYMOUS, -1, 0))) {
    if (at_ == MAP_FAILED) throw std::bad_alloc();
    pthread_barrierattr_t shared;
    pthread_barrierattr_init(&shared);
    pthread_barrierattr_setpshared(&shared, PTHREAD_PROCESS_SHARED);
    pthread_barrier_init(&at_->barrier, &shared, static_cast<unsigned>(ranks));
    pthread_barrierattr_destroy(&shared);
  }
  // No pthread_barrier_destroy: it would wait for those who died at it.
  ~meeting_place() { ::munmap(at_, sizeof(meeting)); }
  meeting_place(const meeting_place&) = delete;
  meeting_place& operator=(const meeting_place&) = delete;

  meeting* operator->() const { return at_; }
  meeting& operator*() const { return *at_; }

private:
  meeting* at_;
};

class shared_bootstrap final : public bootstrap {
public:
  shared_bootstrap(meeting& in, std::size_t rank, std::size_t size)
      : in_(in), rank_(rank), size_(size) {}

  std::size_t rank() const noexcept override { return rank_; }
  std::size_t size() const noexcept override { return size_; }
  void allgather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    std::memcpy(in_.said[rank_].data(), mine.data(), mine.size());
    pthread_barrier_wait(&in_.barrier);
    for (std::size_t rank = 0; rank < size_; ++rank) {
      std::memcpy(all.data() + rank * mine.size(), in_.said[rank].data(), mine.size());
    }
    pthread_barrier_wait(&in_.barrier);
  }

private:
  meeting& in_;
  std::size_t rank_;
  std::size_t size_;
};

[[noreturn]] void be_rank(meeting& in, std::size_t rank, std::size_t size,
                          const std::function<std::string(bootstrap&)>& body) {
  ::alarm(60);  // whoever hangs ends, and is reported
  std::string result;
  try {
    shared_bootstrap with(in, rank, size);
    result = body(with);
  } catch (const std::exception& why) {
    result = std::string("threw ") + why.what();
  }
  std::string_view(result).copy(in.result[rank].data(), most_bytes - 1);
  ::_exit(0);
}

}  // namespace

std::vector<std::string> on_processes(std::size_t ranks,
                                      const std::function<std::string(bootstrap&)>& rank) {
  const meeting_place in(ranks);
  std::vector<pid_t> processes;
  for (std::size_t i = 0; i < ranks; ++i) {
    processes.push_back(::fork());
    if (processes.back() == 0) be_rank(*in, i, ranks, rank);
  }
  std::vector<std::string> results;
  for (std::size_t i = 0; i < ranks; ++i) {
    int status = 0;
    ::waitpid(processes[i], &status, 0);
    results.emplace_back(in->result[i].data());
    if (status != 0) results.back() += "ended with wait status " + std::to_string(status);
  }
  return results;
}

}  // namespace muster::testing
