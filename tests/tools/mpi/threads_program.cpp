// MPI_THREAD_MULTIPLE: each thread calls collectives on a communicator of its own and exchanges
// messages, in an order of its own on each rank, so that nobody may hold up anybody else.

#include <chrono>
#include <deque>
#include <thread>
#include <vector>

#include <muster/base/random.hpp>

#include "tests/tools/mpi/flight.hpp"
#include "tests/tools/mpi/job.hpp"

namespace {

using namespace muster::testing;

constexpr int threads = 4;
constexpr int rounds = 60;

void exchange_words(job& mine, MPI_Comm on, int round) {
  const int next = (mine.rank() + 1) % mine.size();
  const int last = (mine.rank() + mine.size() - 1) % mine.size();
  const int sent = round * 100 + mine.rank();
  int received = -1;
  MPI_Sendrecv(&sent, 1, MPI_INT, next, round, &received, 1, MPI_INT, last, round, on,
               MPI_STATUS_IGNORE);
  mine.check_equal(received, round * 100 + last, "a message");
}

void sum_words(job& mine, MPI_Comm on, int round) {
  int sum = round + mine.rank();
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, on);
  const int ranks = mine.size();
  mine.check_equal(sum, ranks * round + ranks * (ranks - 1) / 2, "a sum");
}

void add_ints(void* in, void* inout, int* length, MPI_Datatype*) {
  for (int i = 0; i < *length; ++i) static_cast<int*>(inout)[i] += static_cast<const int*>(in)[i];
}

/// By an operation of the program's own, which only the MPI can call.
void sum_by_own_operation(job& mine, MPI_Comm on) {
  MPI_Op add = MPI_OP_NULL;
  MPI_Op_create(add_ints, 1, &add);
  int sum = 1;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, add, on);
  mine.check_equal(sum, mine.size(), "a sum by an own operation");
  MPI_Request twice = MPI_REQUEST_NULL;
  MPI_Iallreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, add, on, &twice);
  MPI_Wait(&twice, MPI_STATUS_IGNORE);
  mine.check_equal(sum, mine.size() * mine.size(), "a nonblocking sum by an own operation");
  MPI_Op_free(&add);
}

void work(job& mine, MPI_Comm on, int thread) {
  for (int round = 0; round < rounds; ++round) {
    flight one(on, static_cast<flight::kind>(round % flight::kinds), round, 50);
    flight two(on, flight::kind::alltoall, round, round % 10 == 0 ? 20000u : 20u);
    MPI_Request both[] = {one.start(), two.start()};
    if (round % 3 == 0) exchange_words(mine, on, round);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    one.verify(mine, "of a thread");
    two.verify(mine, "of a thread");
    sum_words(mine, on, round + thread);
    if (round % 5 == 0) MPI_Barrier(on);
    if (round % 7 == 0) sum_by_own_operation(mine, on);
  }
}

/// On one rank a collective of one communicator comes first, on the next one that of another.
void check_orders(job& mine, const std::vector<MPI_Comm>& on) {
  mine.now("collectives of two threads in either order");
  std::vector<std::thread> both;
  for (int i = 0; i < 2; ++i) {
    const auto which = static_cast<std::size_t>((i + mine.rank()) % 2);
    both.emplace_back([&mine, comm = on[which]] {
      for (int round = 0; round < rounds; ++round) sum_words(mine, comm, round);
    });
    if (i == 0) std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  for (std::thread& one : both) one.join();
}

}  // namespace

int main(int argc, char** argv) {
  job mine(argc, argv, MPI_THREAD_MULTIPLE);
  mine.check(mine.has_threads(), "the MPI gives MPI_THREAD_MULTIPLE");
  if (mine.has_threads()) {
    std::vector<MPI_Comm> on(threads);
    for (MPI_Comm& one : on) MPI_Comm_dup(MPI_COMM_WORLD, &one);
    check_orders(mine, on);
    mine.now("threads with a communicator each");
    std::vector<std::thread> all;
    for (int i = 0; i < threads; ++i) {
      const auto which = static_cast<std::size_t>((i + mine.rank()) % threads);
      all.emplace_back(
          [&mine, which, comm = on[which]] { work(mine, comm, static_cast<int>(which)); });
    }
    for (std::thread& one : all) one.join();
    for (MPI_Comm& one : on) MPI_Comm_free(&one);
  }
  return mine.finish();
}
