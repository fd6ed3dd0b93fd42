// Collectives on every kind of communicator, from its making to its end.

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "tests/tools/mpi/flight.hpp"
#include "tests/tools/mpi/job.hpp"

namespace {

using namespace muster::testing;

int size_of(MPI_Comm on) {
  int size = 0;
  MPI_Comm_size(on, &size);
  return size;
}

/// Some collectives of every kind.
void use(job& mine, MPI_Comm on, const char* name) {
  mine.now(name);
  int sum = 1;
  MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, on);
  mine.check_equal(sum, size_of(on), "the sum of ones");
  for (int kind = 0; kind < flight::kinds; ++kind) {
    flight one(on, static_cast<flight::kind>(kind), kind, 10);
    MPI_Request request = one.start();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    one.verify(mine, name);
  }
  MPI_Barrier(on);
}

void use_and_free(job& mine, MPI_Comm on, const char* name) {
  if (on == MPI_COMM_NULL) return;
  use(mine, on, name);
  MPI_Comm_free(&on);
}

void check_duplicates(job& mine) {
  MPI_Comm one = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &one);
  MPI_Comm two = MPI_COMM_NULL;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Comm_idup(one, &two, &request);
  // In Open MPI 4.1 collectives of a communicator and its MPI_Comm_idup get in each other's way.
  if (mine.has("alone")) MPI_Wait(&request, MPI_STATUS_IGNORE);
  use(mine, one, "MPI_Comm_idup under way");
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  use_and_free(mine, one, "MPI_Comm_dup");
  use_and_free(mine, two, "MPI_Comm_idup");
}

void check_splits(job& mine) {
  const int rank = mine.rank();
  struct split {
    const char* name;
    int color;
    int key;
  };
  const split all[] = {
      {"halves", rank % 2, rank},
      {"one and the rest", rank == 0 ? 1 : 0, 0},
      {"reversed", 0, -rank},
      {"uneven, reversed", rank < mine.size() / 3 ? 0 : 1, -rank},
      {"without some", rank % 3 == 1 ? MPI_UNDEFINED : 7, rank},
      {"alone", rank, 0},
  };
  for (const split& one : all) {
    MPI_Comm part = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, one.color, one.key, &part);
    mine.check((part == MPI_COMM_NULL) == (one.color == MPI_UNDEFINED), "who has a communicator");
    if (part == MPI_COMM_NULL) continue;
    MPI_Comm again = MPI_COMM_NULL;
    MPI_Comm_split(part, rank % 2, 0, &again);  // of a part, before that was used
    use_and_free(mine, again, "a part of a part");
    use_and_free(mine, part, one.name);
  }
  MPI_Comm near = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, -rank, MPI_INFO_NULL, &near);
  use_and_free(mine, near, "MPI_Comm_split_type");
}

void check_groups(job& mine) {
  MPI_Group world = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  std::vector<int> ranks;  // every second, from the last
  for (int rank = mine.size() - 1; rank >= 0; rank -= 2) ranks.push_back(rank);
  MPI_Group some = MPI_GROUP_NULL;
  MPI_Group_incl(world, static_cast<int>(ranks.size()), ranks.data(), &some);
  MPI_Comm one = MPI_COMM_NULL;
  MPI_Comm_create(MPI_COMM_WORLD, some, &one);
  use_and_free(mine, one, "MPI_Comm_create");
  if (std::ranges::find(ranks, mine.rank()) != ranks.end()) {
    MPI_Comm two = MPI_COMM_NULL;
    MPI_Comm_create_group(MPI_COMM_WORLD, some, 5, &two);
    use_and_free(mine, two, "MPI_Comm_create_group");
  }
  MPI_Group_free(&some);
  MPI_Group_free(&world);
}

void check_between(job& mine) {
  if (mine.size() < 2) return;
  mine.now("intercommunicator");
  const int half = mine.rank() % 2;
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, half, 0, &own);
  MPI_Comm between = MPI_COMM_NULL;
  MPI_Intercomm_create(own, 0, MPI_COMM_WORLD, 1 - half, 9, &between);
  int others = 0;
  MPI_Comm_remote_size(between, &others);

  int sum = 1 + half;
  int total = 0;
  MPI_Allreduce(&sum, &total, 1, MPI_INT, MPI_SUM, between);
  mine.check_equal(total, others * (2 - half), "the sum of the other side");
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(between, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  int word = half == 0 ? 77 : 0;
  int root = half == 1 ? 0 : MPI_PROC_NULL;
  if (mine.rank() == 0) root = MPI_ROOT;
  MPI_Bcast(&word, 1, MPI_INT, root, between);
  mine.check_equal(word, 77, "what the other side's root sent");

  MPI_Comm merged = MPI_COMM_NULL;
  MPI_Intercomm_merge(between, half, &merged);
  use_and_free(mine, merged, "MPI_Intercomm_merge");
  MPI_Comm_free(&between);
  MPI_Comm_free(&own);
}

/// Halves that are in their collectives at different times hold up nobody.
void check_halves_apart(job& mine) {
  mine.now("halves at different times");
  const int half = mine.rank() % 2;
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, half, 0, &own);
  for (int round = 0; round < 10; ++round) {
    if ((round + half) % 2 == 0) std::this_thread::sleep_for(std::chrono::milliseconds(2));
    for (int i = 0; i < 10 * (1 + half); ++i) {
      int sum = i;
      MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, own);
      mine.check_equal(sum, i * size_of(own), "the sum of a half");
    }
    if (round % 5 == 4) use(mine, MPI_COMM_WORLD, "all, after their halves");
  }
  use_and_free(mine, own, "a half");
}

std::size_t open_files() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

/// In KiB.
std::size_t resident_memory() {
  std::ifstream from("/proc/self/status");
  for (std::string word; from >> word;) {
    if (word == "VmRSS:") {
      std::size_t amount = 0;
      from >> amount;
      return amount;
    }
  }
  return 0;
}

void meet_in_messages(const job& mine) {
  const int next = (mine.rank() + 1) % mine.size();
  const int last = (mine.rank() + mine.size() - 1) % mine.size();
  for (int turn = 0; turn < 2 * mine.size(); ++turn) {
    MPI_Sendrecv(nullptr, 0, MPI_INT, next, 0, nullptr, 0, MPI_INT, last, 0, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
}

/// The first call on a communicator does not block, the second does, and in between another
/// communicator goes, which is when the shim looks at all of them.
void check_order_of_first_calls(job& mine) {
  mine.now("the first calls on a communicator, as another goes");
  for (int round = 0; round < 100; ++round) {
    MPI_Comm one = MPI_COMM_NULL;
    MPI_Comm other = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &one);
    MPI_Comm_dup(MPI_COMM_WORLD, &other);
    MPI_Barrier(other);
    if ((mine.rank() + round) % 2 == 0) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    }
    int sum = 1;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, one, &request);
    MPI_Comm_free(&other);
    int word = mine.rank() == 0 ? round : -1;
    MPI_Bcast(&word, 1, MPI_INT, 0, one);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    mine.check_equal(word, round, "the word of the first rank");
    mine.check_equal(sum, mine.size(), "the sum of ones");
    MPI_Comm_free(&one);
  }
}

/// The callback of an attribute calls collectives on the communicator that is freed, whose handle
/// the next one gets, with other ranks.
void check_last_calls(job& mine) {
  mine.now("the last calls on a communicator, as it goes");
  const auto add_up = [](MPI_Comm going, int, void*, void* sums) {
    int sum = 1;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Iallreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, going, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, going);
    *static_cast<int*>(sums) += sum;
    return MPI_SUCCESS;
  };
  int sums = 0;
  int key = MPI_KEYVAL_INVALID;
  MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, add_up, &key, &sums);
  constexpr int rounds = 8;
  for (int round = 0; round < rounds; ++round) {
    MPI_Comm one = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &one);
    if (round % 2 == 0) MPI_Barrier(one);
    MPI_Comm_set_attr(one, key, nullptr);
    if (round % 4 < 2) MPI_Barrier(one);
    if (round < rounds / 2) {
      MPI_Comm_free(&one);
    } else {
      MPI_Comm_disconnect(&one);
    }
    MPI_Comm_split(MPI_COMM_WORLD, mine.rank() == 0 ? 1 : 0, -mine.rank(), &one);
    use_and_free(mine, one, "a communicator after one whose attribute made the last calls");
  }
  mine.check_equal(sums, rounds * mine.size() * mine.size(), "the sums of ones twice over");
  MPI_Comm_free_keyval(&key);
}

/// Counts the communicators that the MPI has let go, of those that were given to it. Lives as long
/// as the MPI.
class census {
public:
  census() { MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, count, &key_, &deferred_); }
  census(const census&) = delete;
  census& operator=(const census&) = delete;

  void add(MPI_Comm one) {
    MPI_Comm_set_attr(one, key_, nullptr);
    ++born_;
  }
  int alive() const { return born_ - deferred_; }

private:
  static int count(MPI_Comm, int, void*, void* deferred) {
    ++*static_cast<int*>(deferred);
    return MPI_SUCCESS;
  }

  int key_ = MPI_KEYVAL_INVALID;
  int born_ = 0;
  int deferred_ = 0;
};

/// Thousands of short lives leave nothing behind.
void check_lives(job& mine, census& all, bool blocks) {
  mine.now(blocks ? "made, used and freed" : "made, used without blocking and freed");
  const auto live = [&](int round) {
    MPI_Comm one = MPI_COMM_NULL;
    if (round % 2 == 0) {
      MPI_Comm_dup(MPI_COMM_WORLD, &one);
    } else {
      MPI_Comm_split(MPI_COMM_WORLD, mine.rank() % 2, 0, &one);
    }
    all.add(one);
    int sum = 1;
    if (blocks) {
      MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, one);
    } else {
      MPI_Request both[2];
      MPI_Iallreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, one, &both[0]);
      meet_in_messages(mine);  // meanwhile the team may be made
      int rank = 0;
      MPI_Comm_rank(one, &rank);
      const int last = size_of(one) - 1;
      int word = rank == last ? round : -1;
      MPI_Ibcast(&word, 1, MPI_INT, last, one, &both[1]);
      for (int done = 0; done == 0; ::sched_yield()) {
        MPI_Testall(2, both, &done, MPI_STATUSES_IGNORE);
      }
      mine.check_equal(word, round, "the word of the last rank");
    }
    mine.check_equal(sum, size_of(one), "the sum of ones");
    MPI_Comm_free(&one);
  };
  const int lives = mine.size() == 1 ? 3000 : 600 / mine.size();
  for (int i = 0; i < lives / 4; ++i) live(i);
  const std::size_t files = open_files();
  const std::size_t memory = resident_memory();
  for (int i = 0; i < lives; ++i) live(i);
  mine.check_equal(open_files(), files, "the number of open files");
  const std::size_t grown = std::max(resident_memory(), memory) - memory;
  mine.check(grown < 16 << 10, "memory has grown by ", grown, " KiB in ", lives, " lives");
  // What is under way at the end of the last few may outlive them.
  mine.check(all.alive() <= 2, all.alive(), " communicators are still there");
}

#if MPI_VERSION >= 4
void check_session(job& mine) {
  mine.now("a communicator from a session");
  MPI_Session session = MPI_SESSION_NULL;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group all = MPI_GROUP_NULL;
  MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
  MPI_Comm one = MPI_COMM_NULL;
  MPI_Comm_create_from_group(all, "muster", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &one);
  use_and_free(mine, one, "MPI_Comm_create_from_group");
  MPI_Group_free(&all);
  MPI_Session_finalize(&session);
}
#endif

}  // namespace

int main(int argc, char** argv) {
  job mine(argc, argv);
  use(mine, MPI_COMM_SELF, "MPI_COMM_SELF");
  check_duplicates(mine);
  check_splits(mine);
  check_groups(mine);
#if MPI_VERSION >= 4
  check_session(mine);
#endif
  check_between(mine);
  check_halves_apart(mine);
  check_order_of_first_calls(mine);
  check_last_calls(mine);
  census all;
  for (const bool blocks : {true, false}) check_lives(mine, all, blocks);
  use(mine, MPI_COMM_WORLD, "MPI_COMM_WORLD");
  return mine.finish();
}
