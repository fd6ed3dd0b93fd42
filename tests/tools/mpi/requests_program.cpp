// Requests of nonblocking and persistent collectives: completed in every way and in any order,
// mixed with the MPI's own, and making progress whatever a rank waits for.

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include <muster/base/random.hpp>

#include "tests/tools/mpi/flight.hpp"
#include "tests/tools/mpi/functions.hpp"
#include "tests/tools/mpi/job.hpp"

namespace {

using namespace muster::testing;
using muster::random_stream;

MPI_Comm dup(MPI_Comm of) {
  MPI_Comm one = MPI_COMM_NULL;
  MPI_Comm_dup(of, &one);
  return one;
}

/// Operations on several communicators and messages between neighbors, all under way at once,
/// with their requests in one array.
class many {
public:
  many(job& of, std::vector<MPI_Comm>& on, int round) : job_(of) {
    for (int i = 0; i < 3 * flight::kinds; ++i) {
      const MPI_Comm comm = on[static_cast<std::size_t>(i) % on.size()];
      flights_.emplace_back(comm, static_cast<flight::kind>(i % flight::kinds), round * 100 + i,
                            i % 5 == 0 ? 5000u : 3u + static_cast<unsigned>(i));
      requests_.push_back(flights_.back().start());
      is_collective_.push_back(true);
      if (i % 3 == 0) exchange_message(round * 100 + i);
    }
    requests_.push_back(MPI_REQUEST_NULL);  // ignored by all
    is_collective_.push_back(false);
    statuses_.resize(requests_.size());
  }

  std::vector<MPI_Request>& requests() { return requests_; }
  int count() const { return static_cast<int>(requests_.size()); }
  MPI_Status* statuses() { return statuses_.data(); }

  void check_status(std::size_t which, const MPI_Status& status) {
    // MPICH leaves them as they were; with one rank it keeps them to itself.
    if (!is_collective_[which] || job_.has("alone") || job_.size() == 1) return;
    int count = -1;
    int cancelled = -1;
    MPI_Get_count(&status, MPI_BYTE, &count);
    MPI_Test_cancelled(&status, &cancelled);
    job_.check_equal(count, 0, "the count of the status of operation ", which);
    job_.check_equal(cancelled, 0, "'cancelled' of the status of operation ", which);
  }
  void check_statuses() {
    for (std::size_t i = 0; i < statuses_.size(); ++i) check_status(i, statuses_[i]);
  }

  void verify(const char* how) {
    for (const MPI_Request one : requests_) {
      job_.check(one == MPI_REQUEST_NULL, how, ": a request is left");
    }
    for (const flight& one : flights_) one.verify(job_, how);
    for (const message& one : messages_) {
      job_.check_equal(one.received, one.expected, how, ": a message");
    }
  }

private:
  struct message {
    int sent;
    int received;
    int expected;
  };

  void exchange_message(int number) {
    const int next = (job_.rank() + 1) % job_.size();
    const int last = (job_.rank() + job_.size() - 1) % job_.size();
    messages_.push_back({number * 100 + job_.rank(), -1, number * 100 + last});
    message& own = messages_.back();
    for (const bool sends : {true, false}) {
      MPI_Request one = MPI_REQUEST_NULL;
      if (sends) {
        MPI_Isend(&own.sent, 1, MPI_INT, next, number, MPI_COMM_WORLD, &one);
      } else {
        MPI_Irecv(&own.received, 1, MPI_INT, last, number, MPI_COMM_WORLD, &one);
      }
      requests_.push_back(one);
      is_collective_.push_back(false);
    }
  }

  job& job_;
  std::deque<flight> flights_;
  std::deque<message> messages_;
  std::vector<MPI_Request> requests_;
  std::vector<bool> is_collective_;
  std::vector<MPI_Status> statuses_;
};

/// A way to complete all requests, in an order of the rank's own.
struct way {
  const char* name;
  std::function<void(many&, random_stream&)> complete;
};

std::vector<std::size_t> shuffled(std::size_t count, random_stream& chance) {
  std::vector<std::size_t> order(count);
  for (std::size_t i = 0; i < count; ++i) order[i] = i;
  for (std::size_t i = count; i > 1; --i) std::swap(order[i - 1], order[chance.below(i)]);
  return order;
}

void wait_each(many& all, random_stream& chance) {
  for (const std::size_t i : shuffled(all.requests().size(), chance)) {
    MPI_Status status;
    const bool was_there = all.requests()[i] != MPI_REQUEST_NULL;
    MPI_Wait(&all.requests()[i], &status);
    if (was_there) all.check_status(i, status);
  }
}

void test_each(many& all, random_stream& chance) {
  for (const std::size_t i : shuffled(all.requests().size(), chance)) {
    for (int done = 0; done == 0;) {
      MPI_Test(&all.requests()[i], &done, MPI_STATUS_IGNORE);
      if (done == 0) ::sched_yield();
    }
  }
}

void get_status_each(many& all, random_stream& chance) {
  for (const std::size_t i : shuffled(all.requests().size(), chance)) {
    MPI_Status status;
    if (all.requests()[i] == MPI_REQUEST_NULL) continue;
    for (int done = 0; done == 0;) {
      MPI_Request_get_status(all.requests()[i], &done, &status);
      if (done == 0) ::sched_yield();
    }
    all.check_status(i, status);
    MPI_Wait(&all.requests()[i], &status);  // it is still there
    all.check_status(i, status);
  }
}

void wait_all(many& all, random_stream&) {
  MPI_Waitall(all.count(), all.requests().data(), all.statuses());
  all.check_statuses();
}

void test_all(many& all, random_stream&) {
  for (int done = 0; done == 0;) {
    MPI_Testall(all.count(), all.requests().data(), &done, MPI_STATUSES_IGNORE);
    if (done == 0) ::sched_yield();
  }
}

void wait_any(many& all, random_stream&) {
  while (true) {
    int which = -1;
    MPI_Status status;
    MPI_Waitany(all.count(), all.requests().data(), &which, &status);
    if (which == MPI_UNDEFINED) return;
    all.check_status(static_cast<std::size_t>(which), status);
  }
}

void test_any(many& all, random_stream&) {
  while (true) {
    int which = -1;
    int done = 0;
    MPI_Testany(all.count(), all.requests().data(), &which, &done, MPI_STATUS_IGNORE);
    if (done == 0) {
      ::sched_yield();
    } else if (which == MPI_UNDEFINED) {
      return;
    }
  }
}

void wait_or_test_some(many& all, bool waits) {
  const auto most = static_cast<std::size_t>(all.count());
  std::vector<int> which(most);
  for (int completed = 0; completed != MPI_UNDEFINED;) {
    if (waits) {
      MPI_Waitsome(all.count(), all.requests().data(), &completed, which.data(), all.statuses());
    } else {
      MPI_Testsome(all.count(), all.requests().data(), &completed, which.data(), all.statuses());
      if (completed == 0) ::sched_yield();
    }
    for (int i = 0; i < completed; ++i) {
      const auto at = static_cast<std::size_t>(i);
      all.check_status(static_cast<std::size_t>(which[at]), all.statuses()[i]);
    }
  }
}

void check_ways(job& mine) {
  std::vector<MPI_Comm> on{MPI_COMM_WORLD, dup(MPI_COMM_WORLD), dup(MPI_COMM_WORLD)};
  const way ways[] = {
      {"MPI_Wait", wait_each},
      {"MPI_Test", test_each},
      {"MPI_Request_get_status", get_status_each},
      {"MPI_Waitall", wait_all},
      {"MPI_Testall", test_all},
      {"MPI_Waitany", wait_any},
      {"MPI_Testany", test_any},
      {"MPI_Waitsome", [](many& all, random_stream&) { wait_or_test_some(all, true); }},
      {"MPI_Testsome", [](many& all, random_stream&) { wait_or_test_some(all, false); }},
  };
  random_stream chance(mine.seed() * 1000 + static_cast<std::uint64_t>(mine.rank()));
  for (int round = 0; round < 3; ++round) {
    for (const way& one : ways) {
      mine.now(one.name);
      many all(mine, on, round);
      one.complete(all, chance);
      all.verify(one.name);
    }
  }
  for (MPI_Comm& one : on) {
    if (one != MPI_COMM_WORLD) MPI_Comm_free(&one);
  }
}

/// What belongs to a freed request still arrives.
void check_freed(job& mine) {
  mine.now("MPI_Request_free");
  for (int i = 0; i < 20; ++i) {
    flight first(MPI_COMM_WORLD, flight::kind::allreduce, i, 100);
    flight second(MPI_COMM_WORLD, flight::kind::alltoall, i, 2000);
    MPI_Request one = first.start();
    MPI_Request two = second.start();
    MPI_Request_free(&one);
    MPI_Request_free(&two);
    mine.check(one == MPI_REQUEST_NULL && two == MPI_REQUEST_NULL, "a freed request is not null");
    // Those after them on the communicator say when they must have ended.
    for (int turn = 0; turn < 50; ++turn) MPI_Barrier(MPI_COMM_WORLD);
    flight last(MPI_COMM_WORLD, flight::kind::alltoall, i, 2000);
    MPI_Request three = last.start();
    MPI_Wait(&three, MPI_STATUS_IGNORE);
    last.verify(mine, "after freed requests");
    first.verify(mine, "freed");
    second.verify(mine, "freed");
  }
}

/// Rank 0 blocks in MPI_Recv for what the others send after a collective that it has only begun.
void check_progress_in_receive(job& mine, bool on_new) {
  mine.now(on_new ? "the first collective on a communicator, MPI_Recv"
                  : "a pending collective, MPI_Recv");
  for (const std::size_t count : {1, 1000, 50000}) {
    MPI_Comm on = on_new ? dup(MPI_COMM_WORLD) : MPI_COMM_WORLD;
    flight one(on, flight::kind::alltoall, 3, count);
    MPI_Request request = one.start();
    int word = mine.rank();
    if (mine.rank() == 0) {
      for (int from = 1; from < mine.size(); ++from) {
        MPI_Recv(&word, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        mine.check_equal(word, from, "what was received");
      }
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (mine.rank() != 0) MPI_Send(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
    one.verify(mine, "with MPI_Recv");
    if (on_new) MPI_Comm_free(&on);
  }
}

/// A rank in a collective must still send what the other wants before it comes.
void check_progress_of_messages(job& mine, const char* name, const std::function<void()>& meet) {
  mine.now(name);
  if (mine.size() < 2) return;
  std::vector<char> data(4 << 20, static_cast<char>(mine.rank() + 1));
  MPI_Request request = MPI_REQUEST_NULL;
  const auto length = static_cast<int>(data.size());
  if (mine.rank() == 0) MPI_Isend(data.data(), length, MPI_CHAR, 1, 2, MPI_COMM_WORLD, &request);
  if (mine.rank() == 1) {
    MPI_Recv(data.data(), length, MPI_CHAR, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    mine.check(data.front() == 1 && data.back() == 1, "what was received is wrong");
  }
  meet();
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

/// The first collective on a communicator does not hold up messages, in whatever order ranks call.
void check_first_on_new(job& mine) {
  mine.now("the first collective on a communicator");
  for (int i = 0; i < 20; ++i) {
    MPI_Comm fresh = dup(MPI_COMM_WORLD);
    flight one(fresh, flight::kind::alltoall, i, 10);
    MPI_Request request = MPI_REQUEST_NULL;
    int word = i;
    if (mine.rank() == 0) {
      request = one.start();
      for (int to = 1; to < mine.size(); ++to) MPI_Send(&word, 1, MPI_INT, to, 3, MPI_COMM_WORLD);
    } else {
      MPI_Recv(&word, 1, MPI_INT, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
      request = one.start();
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    one.verify(mine, "the first");
    MPI_Comm_free(&fresh);
  }
}

/// A communicator that goes while an operation on it is under way.
void check_freed_communicator(job& mine) {
  mine.now("MPI_Comm_free with an operation under way");
  for (int i = 0; i < 20; ++i) {
    MPI_Comm fresh = dup(MPI_COMM_WORLD);
    flight one(fresh, flight::kind::alltoall, i, 500);
    MPI_Request request = one.start();
    MPI_Comm_free(&fresh);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    one.verify(mine, "on a freed communicator");
  }
}

void check_persistent(job& mine) {
  mine.now("persistent collectives");
  flight exchange(MPI_COMM_WORLD, flight::kind::alltoall, 0, 300);
  flight sum(MPI_COMM_WORLD, flight::kind::allreduce, 0, 20);
  MPI_Request both[2];
  MPI_Alltoall_init(exchange.sent(), exchange.count(), MPI_INT, exchange.received(),
                    exchange.count(), MPI_INT, MPI_COMM_WORLD, MPI_INFO_NULL, &both[0]);
  MPI_Allreduce_init(sum.sent(), sum.received(), sum.count(), MPI_INT, MPI_SUM, MPI_COMM_WORLD,
                     MPI_INFO_NULL, &both[1]);
  for (int round = 0; round < 10; ++round) {
    exchange.renumber(round);
    sum.renumber(round);
    if (round % 2 == 0) {
      MPI_Startall(2, both);
      MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    } else {
      MPI_Start(&both[0]);
      MPI_Start(&both[1]);
      MPI_Wait(&both[1], MPI_STATUS_IGNORE);
      for (int done = 0; done == 0; ::sched_yield()) {
        MPI_Test(&both[0], &done, MPI_STATUS_IGNORE);
      }
    }
    mine.check(both[0] != MPI_REQUEST_NULL, "a persistent request is gone after its completion");
    exchange.verify(mine, "persistent");
    sum.verify(mine, "persistent");
  }
  // Waiting for what has not been started returns at once.
  MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
  for (MPI_Request& one : both) MPI_Request_free(&one);
}

/// On new communicators, which are freed while some of it is under way: among calls that block, in
/// an order that all ranks have, and at times of their own.
void mix_with_blocking_calls(job& of) {
  of.now("nonblocking among blocking calls");
  random_stream alike(of.seed());
  random_stream own(of.seed() + 1 + static_cast<std::uint64_t>(of.rank()));
  for (int round = 0; round < 20; ++round) {
    MPI_Comm on = dup(MPI_COMM_WORLD);
    std::deque<flight> flights;
    std::vector<MPI_Request> requests;
    for (int i = 0; i < 20; ++i) {
      if (own.below(4) == 0) ::usleep(static_cast<unsigned>(own.below(300)));
      if (alike.below(4) == 0) {
        int ranks = 1;
        MPI_Allreduce(MPI_IN_PLACE, &ranks, 1, MPI_INT, MPI_SUM, on);
        of.check_equal(ranks, of.size(), "a sum among nonblocking operations");
        continue;
      }
      const auto kind = static_cast<flight::kind>(alike.below(flight::kinds));
      flights.emplace_back(on, kind, i, alike.below(2) == 0 ? 5 : 500);
      requests.push_back(flights.back().start());
    }
    const bool frees_early = !of.has("alone");  // which Open MPI's own do not survive
    if (frees_early) MPI_Comm_free(&on);
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    if (!frees_early) MPI_Comm_free(&on);
    for (const flight& one : flights) one.verify(of, "mixed with calls that block");
  }
}

}  // namespace

int main(int argc, char** argv) {
  job mine(argc, argv);
  check_ways(mine);
  if (!mine.has("alone")) check_freed(mine);  // Open MPI forbids it
  for (const bool on_new : {false, true}) check_progress_in_receive(mine, on_new);
  check_progress_of_messages(mine, "a pending message, MPI_Barrier",
                             [] { MPI_Barrier(MPI_COMM_WORLD); });
  check_progress_of_messages(mine, "a pending message, MPI_Allreduce", [] {
    int one = 1;
    MPI_Allreduce(MPI_IN_PLACE, &one, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  });
  check_first_on_new(mine);
  check_freed_communicator(mine);
  check_persistent(mine);
  mix_with_blocking_calls(mine);
  return mine.finish();
}
