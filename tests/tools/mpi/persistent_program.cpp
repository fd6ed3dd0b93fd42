// Persistent collectives: made in one order, started in another on each rank, many active at once,
// between other calls of the same communicator, and freed in whatever order. Arguments: `most`
// makes as many as there can be, `memory` more than there is memory for.

#include <algorithm>
#include <cstddef>
#include <deque>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/base/random.hpp>

#include "tests/tools/mpi/flight.hpp"
#include "tests/tools/mpi/functions.hpp"
#include "tests/tools/mpi/job.hpp"
#include "tests/tools/mpi/outcome.hpp"

namespace {

using namespace muster::testing;
using muster::random_stream;

MPI_Comm dup(MPI_Comm of) {
  MPI_Comm one = MPI_COMM_NULL;
  MPI_Comm_dup(of, &one);
  return one;
}

int rank_in(MPI_Comm on) {
  int rank = 0;
  MPI_Comm_rank(on, &rank);
  return rank;
}

int size_of(MPI_Comm on) {
  int size = 0;
  MPI_Comm_size(on, &size);
  return size;
}

random_stream own_chance(const job& mine, std::uint64_t turn) {
  return random_stream((mine.seed() * 1000 + static_cast<std::uint64_t>(mine.rank())) * 1000 +
                       turn);
}

template <class Thing>
void shuffle(std::vector<Thing>& all, random_stream& chance) {
  for (std::size_t i = all.size(); i > 1; --i) std::swap(all[chance.below(i)], all[i - 1]);
}

/// MPICH 4.0 moves nothing in a persistent gather of one rank, which is left to it.
flight::kind that_works(MPI_Comm on, flight::kind what) {
  int ranks = 0;
  MPI_Comm_size(on, &ranks);
#ifdef OPEN_MPI
  const bool works = true;
#else
  const bool works = ranks > 1 || (what != flight::kind::gather && what != flight::kind::gatherv);
#endif
  return works ? what : flight::kind::allgather;
}

/// A persistent collective and its buffers.
class repeated {
public:
  repeated(MPI_Comm on, flight::kind what, int number, std::size_t count)
      : flight_(on, that_works(on, what), number, count), request_(flight_.make()) {}
  ~repeated() {
    if (request_ != MPI_REQUEST_NULL) MPI_Request_free(&request_);
  }
  repeated(const repeated&) = delete;
  repeated& operator=(const repeated&) = delete;

  void prepare() { flight_.renumber(); }
  void start() {
    prepare();
    MPI_Start(&request_);
  }
  void end(job& mine, const char* how) {
    MPI_Wait(&request_, MPI_STATUS_IGNORE);
    verify(mine, how);
  }
  void verify(job& mine, const char* how) {
    mine.check(request_ != MPI_REQUEST_NULL, how, ": a persistent request is gone");
    flight_.verify(mine, how);
  }
  MPI_Request& request() { return request_; }

private:
  flight flight_;
  MPI_Request request_;
};

using several = std::vector<std::unique_ptr<repeated>>;

std::size_t length_of(int i) {
  constexpr std::size_t lengths[] = {2, 50, 700, 9000};
  return lengths[static_cast<std::size_t>(i) % std::size(lengths)];
}

/// One of each kind, of different lengths.
several one_of_each(MPI_Comm on, int lengths_from) {
  several all;
  for (int i = 0; i < flight::persistent_kinds; ++i) {
    all.push_back(std::make_unique<repeated>(on, static_cast<flight::kind>(i), i,
                                             length_of(lengths_from + i)));
  }
  return all;
}

std::vector<repeated*> shuffled(const several& all, random_stream& chance) {
  std::vector<repeated*> order;
  for (const auto& each : all) order.push_back(each.get());
  shuffle(order, chance);
  return order;
}

/// The communicator's other calls, in the same order on all its ranks.
class other_calls {
public:
  explicit other_calls(MPI_Comm on) : on_(on) {}

  void begin_one(job& mine) {
    const int number = number_++;
    if (number % 3 == 0) {
      block(mine, number);
      return;
    }
    begun_.emplace_back(on_, static_cast<flight::kind>(number % flight::kinds), number,
                        length_of(number));
    requests_.push_back(begun_.back().start());
  }
  void end_all(job& mine) {
    MPI_Waitall(static_cast<int>(requests_.size()), requests_.data(), MPI_STATUSES_IGNORE);
    requests_.clear();
    for (const flight& one : begun_) one.verify(mine, "a nonblocking call between");
    begun_.clear();
  }

private:
  void block(job& mine, int number) {
    int sum = number;
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, on_);
    mine.check_equal(sum, number * size_of(on_), "a blocking sum between");
    if (number % 2 == 0) MPI_Barrier(on_);
  }

  MPI_Comm on_;
  int number_ = 0;
  std::deque<flight> begun_;
  std::vector<MPI_Request> requests_;
};

/// All are active at once; each rank starts and ends them in an order of its own, and calls other
/// things in between.
void run_together(job& mine, const several& all, other_calls& others, random_stream& chance) {
  int to_call = 8;
  const auto call_another = [&] {
    if (to_call == 0) return;
    --to_call;
    others.begin_one(mine);
  };
  for (repeated* const one : shuffled(all, chance)) {
    if (chance.one_in(3)) call_another();
    one->start();
  }
  while (to_call != 0) call_another();
  for (repeated* const one : shuffled(all, chance)) one->end(mine, "many active");
  others.end_all(mine);
}

/// One rank ends each before it starts the next; the others start all first.
void run_one_by_one(job& mine, const several& all, bool here, random_stream& chance) {
  for (repeated* const one : shuffled(all, chance)) {
    one->start();
    if (here) one->end(mine, "one by one");
  }
  if (here) return;
  for (repeated* const one : shuffled(all, chance)) one->end(mine, "one rank goes one by one");
}

/// In arrays of another order on each rank.
void run_in_arrays(job& mine, const several& all, random_stream& chance) {
  const std::vector<repeated*> order = shuffled(all, chance);
  std::vector<MPI_Request> requests;
  for (repeated* const one : order) {
    one->prepare();
    requests.push_back(one->request());
  }
  const auto count = static_cast<int>(requests.size());
  MPI_Startall(count, requests.data());
  MPI_Waitall(count, requests.data(), MPI_STATUSES_IGNORE);
  for (repeated* const one : order) one->verify(mine, "in arrays");
}

void check_orders(job& mine, MPI_Comm on, const char* name) {
  mine.now(name);
  random_stream chance = own_chance(mine, 1);
  other_calls others(on);
  several all = one_of_each(on, 0);
  for (auto& another : one_of_each(on, 2)) all.push_back(std::move(another));
  for (int round = 0; round < 4; ++round) {
    run_together(mine, all, others, chance);
    run_one_by_one(mine, all, round % size_of(on) == rank_in(on), chance);
    run_in_arrays(mine, all, chance);
  }
  // Freed in another order on each rank.
  shuffle(all, chance);
}

/// Started while the communicator's first calls are still on their way.
void check_new_communicators(job& mine) {
  mine.now("the first calls on a communicator");
  random_stream chance = own_chance(mine, 2);
  for (int round = 0; round < 10; ++round) {
    MPI_Comm fresh = dup(MPI_COMM_WORLD);
    several all = one_of_each(fresh, round);
    other_calls others(fresh);
    run_together(mine, all, others, chance);
    all.clear();
    MPI_Comm_free(&fresh);
  }
}

/// Those that were freed make room for others, which are made in one order; they are freed in any.
void check_remade(job& mine) {
  mine.now("freed and made again");
  random_stream chance = own_chance(mine, 3);
  random_stream agreed(mine.seed());
  several all = one_of_each(MPI_COMM_WORLD, 0);
  other_calls others(MPI_COMM_WORLD);
  for (int round = 0; round < 12; ++round) {
    several dropped;
    for (int i = 0; i < 5; ++i) {
      const auto kind = static_cast<flight::kind>(agreed.below(flight::persistent_kinds));
      auto one = std::make_unique<repeated>(MPI_COMM_WORLD, kind, round, length_of(i));
      std::swap(all[agreed.below(all.size())], one);
      // It may go now or when all are made; perhaps it has never been started.
      if (chance.one_in(2)) dropped.push_back(std::move(one));
    }
    if (round % 3 == 0) run_together(mine, all, others, chance);
    shuffle(dropped, chance);
  }
  run_in_arrays(mine, all, chance);
}

void check_never_started(job& mine) {
  mine.now("made and not started");
  for (int round = 0; round < 20; ++round) {
    MPI_Comm fresh = dup(MPI_COMM_WORLD);
    several all = one_of_each(fresh, round);
    all.clear();
    MPI_Comm_free(&fresh);
  }
}

/// The communicator goes first.
void check_freed_communicator(job& mine) {
  mine.now("MPI_Comm_free before the first start");
  random_stream chance = own_chance(mine, 4);
  for (int round = 0; round < 5; ++round) {
    MPI_Comm fresh = dup(MPI_COMM_WORLD);
    const several all = one_of_each(fresh, round);
    if (round % 2 == 0) MPI_Barrier(fresh);
    MPI_Comm_free(&fresh);
    run_in_arrays(mine, all, chance);
    run_one_by_one(mine, all, mine.rank() == 0, chance);
  }
}

void add_up(void* from, void* to, int* count, MPI_Datatype*) {
  for (int i = 0; i < *count; ++i) static_cast<int*>(to)[i] += static_cast<int*>(from)[i];
}

/// Types and operations may go once they were named.
void check_freed_handles(job& mine) {
  mine.now("types and operations that are freed before the first start");
  MPI_Datatype pair = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, 1, 2, MPI_INT, &pair);
  MPI_Type_commit(&pair);
  MPI_Op own = MPI_OP_NULL;
  MPI_Op_create(add_up, 1, &own);
  const int blank = -1;
  int word[] = {mine.rank() == 0 ? 7 : blank, blank, mine.rank() == 0 ? 9 : blank};
  int sum = 0;
  const int one = 1;
  MPI_Request both[2];
  MPI_Bcast_init(word, 1, pair, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &both[0]);
  MPI_Allreduce_init(&one, &sum, 1, MPI_INT, own, MPI_COMM_WORLD, MPI_INFO_NULL, &both[1]);
  MPI_Type_free(&pair);
  MPI_Op_free(&own);
  for (int round = 0; round < 3; ++round) {
    const int first = (mine.rank() + round) % 2;
    MPI_Start(&both[first]);
    MPI_Start(&both[1 - first]);
    MPI_Waitall(2, both, MPI_STATUSES_IGNORE);
    mine.check(word[0] == 7 && word[1] == blank && word[2] == 9, "a word is wrong");
    mine.check_equal(sum, mine.size(), "the sum of ones");
  }
  for (MPI_Request& each : both) MPI_Request_free(&each);
}

/// Nobody waits in the call that makes one, nor in the one that starts it.
void check_nobody_waits(job& mine) {
  mine.now("made and started while others wait for a message");
  for (int round = 0; round < 10; ++round) {
    MPI_Comm on = round % 2 == 0 ? dup(MPI_COMM_WORLD) : MPI_COMM_WORLD;
    int word = round;
    if (mine.rank() != 0) {
      MPI_Recv(&word, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    repeated exchange(on, flight::kind::alltoall, round, 50);
    exchange.start();
    for (int to = 1; mine.rank() == 0 && to < mine.size(); ++to) {
      MPI_Send(&word, 1, MPI_INT, to, 1, MPI_COMM_WORLD);
    }
    exchange.end(mine, "a message between");
    if (round % 2 == 0) MPI_Comm_free(&on);
  }
}

/// Thousands of short ones.
void check_many(job& mine) {
  mine.now("thousands alive at once");
  random_stream chance = own_chance(mine, 5);
  several all;
  for (int i = 0; i < 3000 / mine.size(); ++i) {
    const auto kind = static_cast<flight::kind>(i % flight::persistent_kinds);
    all.push_back(std::make_unique<repeated>(MPI_COMM_WORLD, kind, i, 2));
  }
  for (int round = 0; round < 2; ++round) run_in_arrays(mine, all, chance);
  shuffle(all, chance);
}

// ---- limits

void expect_no_memory(job& mine, const outcome& is, std::string_view why) {
  mine.check_equal(is.error_class, MPI_ERR_NO_MEM, "the error class");
  mine.check(is.text.find(why) != std::string::npos, "'", is.text, "' does not say '", why, "'");
}

/// As many as there can be, and one more. Barriers in between let them make their teams, as long as
/// there is memory for these.
void check_most(job& mine) {
  constexpr std::size_t most = 32768;
  mine.now("as many as there can be");
  MPI_Comm fresh = dup(MPI_COMM_WORLD);
  MPI_Comm_set_errhandler(fresh, MPI_ERRORS_RETURN);
  const auto make = [fresh](MPI_Request& one) {
    return MPI_Barrier_init(fresh, MPI_INFO_NULL, &one);
  };
  std::vector<MPI_Request> all(most, MPI_REQUEST_NULL);
  for (std::size_t i = 0; i < most; ++i) {
    mine.check_equal(make(all[i]), MPI_SUCCESS, "the code");
    if (i % 64 == 0) MPI_Barrier(fresh);
  }
  MPI_Request another = MPI_REQUEST_NULL;
  expect_no_memory(mine, outcome_of(make(another)), "there are 32768 persistent collectives");
  mine.now("one in the place of another");
  MPI_Request_free(&all.front());
  mine.check_equal(make(all.front()), MPI_SUCCESS, "the code");
  for (MPI_Request& each : all) MPI_Request_free(&each);
  MPI_Comm_free(&fresh);
}

void check_sum(job& mine) {
  MPI_Comm fresh = dup(MPI_COMM_WORLD);
  int sum = 1;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, fresh);
  mine.check_equal(sum, mine.size(), "the sum of ones");
  MPI_Comm_free(&fresh);
}

/// Some thousands, each with a team that takes long messages, are more than there is room for.
void check_memory(job& mine) {
  mine.now("more than there is memory for");
  MPI_Comm on = dup(MPI_COMM_WORLD);
  keep_errors(on);
  several all;
  for (int i = 0; i < 4500; ++i) {
    all.push_back(std::make_unique<repeated>(on, flight::kind::allgatherv, i, 2));
  }
  all.front()->start();
  all.front()->end(mine, "there was memory for the first");
  mine.check_equal(told().error_class, MPI_SUCCESS, "the class of an error that there was not");
  all.back()->start();
  MPI_Wait(&all.back()->request(), MPI_STATUS_IGNORE);
  expect_no_memory(mine, told(), "has no memory for another team");
  mine.now("a communicator that there is no memory for");
  check_sum(mine);
  all.clear();
  MPI_Comm_free(&on);
  mine.now("a communicator that there is memory for again");
  check_sum(mine);
}

}  // namespace

int main(int argc, char** argv) {
  job mine(argc, argv);
  if (mine.has("most")) check_most(mine);
  if (mine.has("memory")) check_memory(mine);
  if (mine.has("most") || mine.has("memory")) return mine.finish();
  check_orders(mine, MPI_COMM_WORLD, "MPI_COMM_WORLD");
  MPI_Comm half = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, mine.rank() % 2, -mine.rank(), &half);
  check_orders(mine, half, "halves, reversed");
  MPI_Comm_free(&half);
  check_new_communicators(mine);
  check_remade(mine);
  check_never_started(mine);
  if (!mine.has("alone")) {  // the MPIs keep less alive
    check_freed_communicator(mine);
    check_freed_handles(mine);
  }
  check_nobody_waits(mine);
  check_many(mine);
  return mine.finish();
}
