// Requests and teams of the C interface, how they end, and an event loop. Started by `muster run`:
//
//   requests all     what needs no rank to fail
//   requests idle    rank 1 comes a second late to what the others wait for by poll
//   requests died    the last rank dies; the others go on without it
//   requests freed   rank 0 frees a team with operations pending; the others learn of it
//   requests left    rank 0 leaves the job with operations pending
//   requests times   an allreduce of 8 bytes in each of the ways to call it

#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "tests/tools/c/require.h"

enum { MANY = 40 };

/// Different lengths, ended in another order than begun.
static void out_of_order(muster_team* team) {
  static int mine[MANY][5000];
  static int total[MANY][5000];
  muster_request requests[MANY];
  for (int i = 0; i < MANY; ++i) {
    const size_t count = i % 3 == 0 ? 1 : i % 3 == 1 ? 300 : 5000;
    for (size_t k = 0; k < count; ++k) mine[i][k] = muster_rank(team) + i;
    MUST(muster_iallreduce(team, mine[i], total[i], count, MUSTER_INT32, MUSTER_SUM, &requests[i]));
  }
  const int size = muster_size(team);
  for (int i = MANY; i-- != 0;) {
    MUST(muster_wait(&requests[i]));
    REQUIRE(requests[i] == NULL);
    REQUIRE(total[i][0] == size * (size - 1) / 2 + i * size);
  }
}

static void tested(muster_team* team) {
  muster_request request;
  int done = 0;
  double one = 1;
  MUST(muster_iallreduce(team, MUSTER_IN_PLACE, &one, 1, MUSTER_DOUBLE, MUSTER_SUM, &request));
  while (!done) MUST(muster_test(&request, &done));
  REQUIRE(request == NULL && one == muster_size(team));
}

static void any_and_all(muster_team* team) {
  enum { FEW = 5 };
  muster_request requests[FEW];
  double data[FEW];
  int found = 0;
  for (int i = 0; i < FEW; ++i) {
    data[i] = i;
    MUST(muster_ibcast(team, &data[i], 1, MUSTER_DOUBLE, i % muster_size(team), &requests[i]));
  }
  for (;;) {
    size_t which = 0;
    MUST(muster_waitany(FEW, requests, &which));
    if (which == FEW) break;
    REQUIRE(which < FEW && requests[which] == NULL);
    ++found;
  }
  REQUIRE(found == FEW);
  for (int i = 0; i < FEW; ++i) MUST(muster_ibarrier(team, &requests[i]));
  MUST(muster_waitall(FEW, requests));
  for (int i = 0; i < FEW; ++i) REQUIRE(requests[i] == NULL);
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/// Who waits for so long does so, and no longer.
static void timed(muster_team* team) {
  if (muster_size(team) == 1) return;
  MUST(muster_barrier(team));
  muster_request request;
  int done = 0;
  if (muster_rank(team) == 0) {
    const double begin = seconds();
    MUST(muster_ibarrier(team, &request));
    MUST(muster_timedwait(&request, 0, &done));
    REQUIRE(!done && request != NULL);
    MUST(muster_timedwait(&request, 50 * 1000 * 1000, &done));
    REQUIRE(!done && request != NULL && seconds() - begin > 0.05);
    MUST(muster_timedwait(&request, -1, &done));
    REQUIRE(done && request == NULL && seconds() - begin > 0.4);
  } else {
    usleep(600 * 1000);
    MUST(muster_barrier(team));
  }
}

/// Freed requests of operations that have and have not ended.
static void freed_requests(muster_team* team) {
  static double data[MANY];
  muster_request request;
  for (int i = 0; i < MANY; ++i) {
    data[i] = 1;
    MUST(
        muster_iallreduce(team, MUSTER_IN_PLACE, &data[i], 1, MUSTER_DOUBLE, MUSTER_SUM, &request));
    MUST(muster_request_free(&request));
    REQUIRE(request == NULL);
  }
  muster_team* never = NULL;
  MUST(muster_iduplicate(team, &never, &request));
  MUST(muster_request_free(&request));
  MUST(muster_barrier(team));
  REQUIRE(never == NULL);
}

static void teams(muster_team* team) {
  const int rank = muster_rank(team);
  const int size = muster_size(team);
  muster_team* half;
  MUST(muster_split(team, rank % 2, -rank, &half));
  REQUIRE(muster_size(half) == (size + 1 - rank % 2) / 2);
  REQUIRE(muster_rank(half) == muster_size(half) - 1 - rank / 2);
  int all[64];
  MUST(muster_allgather(half, &rank, all, 1, MUSTER_INT32));
  REQUIRE(all[muster_rank(half)] == rank);
  muster_team* none = half;
  MUST(muster_split(team, rank == 0 ? MUSTER_NO_COLOR : 1, 0, &none));
  REQUIRE((none == NULL) == (rank == 0));
  MUST(muster_free(none));
  muster_team* again;
  muster_request request;
  MUST(muster_iduplicate(half, &again, &request));
  MUST(muster_wait(&request));
  REQUIRE(muster_rank(again) == muster_rank(half));
  MUST(muster_barrier(again));
  const int last_first[2] = {size - 1, 0};
  muster_team* few;
  MUST(muster_subset(team, size == 1 ? 1 : 2, last_first, &few));
  REQUIRE((few != NULL) == (rank == 0 || rank == size - 1));
  if (few != NULL) REQUIRE(muster_rank(few) == (rank == size - 1 ? 0 : 1));
  muster_team* left;
  MUST(muster_shrink(team, &left));
  REQUIRE(muster_size(left) == size);
  MUST(muster_barrier(left));
  MUST(muster_free(half));  // the others need it no more, and go with the world
}

static void canceled(muster_team* team) {
  if (muster_size(team) == 1) return;
  muster_team* apart;
  MUST(muster_duplicate(team, &apart));
  muster_request request;
  if (muster_rank(team) == 0) {
    MUST(muster_ibarrier(apart, &request));
    MUST(muster_cancel(request));
    FAILS(muster_wait(&request), MUSTER_STOPPED, "stopped");
    REQUIRE(request == NULL);
    FAILS(muster_failure(apart), MUSTER_STOPPED, "stopped");
    MUST(muster_barrier(team));
  } else {
    MUST(muster_barrier(team));
    FAILS(muster_barrier(apart), MUSTER_STOPPED, "rank 0");
    REQUIRE(muster_error_rank() == 0);
  }
  MUST(muster_free(apart));
}

// ---- in an event loop

static double computed(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return (double)(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * (double)(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

/// Waits by poll, as an event loop would; how often it slept.
static int poll_until_done(muster_team* team, muster_request* request) {
  struct pollfd entry = {.events = POLLIN};
  MUST(muster_descriptor(team, &entry.fd));
  int slept = 0;
  for (;;) {
    int done = 0;
    MUST(muster_test(request, &done));
    if (done) return slept;
    int timeout = 0;
    MUST(muster_arm(team, &timeout));
    slept += timeout != 0;
    REQUIRE(poll(&entry, 1, timeout) >= 0);
  }
}

static void by_poll(muster_team* team) {
  for (int i = 0; i < 100; ++i) {
    double mine[300] = {muster_rank(team)};
    double total[300];
    muster_request request;
    MUST(muster_iallreduce(team, mine, total, 300, MUSTER_DOUBLE, MUSTER_SUM, &request));
    poll_until_done(team, &request);
    REQUIRE(total[0] == muster_size(team) * (muster_size(team) - 1) / 2);
  }
}

/// Many at once: while one is tested another may end.
static void many_by_poll(muster_team* team) {
  for (int i = 0; i < 200; ++i) {
    static double data[MANY][100];
    muster_request requests[MANY];
    for (int k = 0; k < MANY; ++k) {
      data[k][0] = k;
      MUST(muster_iallreduce(team, MUSTER_IN_PLACE, data[k], k % 2 == 0 ? 1 : 100, MUSTER_DOUBLE,
                             MUSTER_SUM, &requests[k]));
    }
    struct pollfd entry = {.events = POLLIN};
    MUST(muster_descriptor(team, &entry.fd));
    for (int left = MANY; left != 0;) {
      for (int k = 0; k < MANY; ++k) {
        int done = 0;
        const int was_pending = requests[k] != NULL;
        MUST(muster_test(&requests[k], &done));
        left -= was_pending && done;
      }
      int timeout = 0;
      MUST(muster_arm(team, &timeout));
      REQUIRE(left == 0 || poll(&entry, 1, timeout) >= 0);
    }
    for (int k = 0; k < MANY; ++k) REQUIRE(data[k][0] == k * muster_size(team));
  }
}

/// One that is complete, and that nobody asks for, does not keep a loop from sleeping.
static void left_complete(muster_team* team) {
  muster_request asked;
  muster_request left;
  muster_team* apart;
  MUST(muster_duplicate(team, &apart));
  MUST(muster_ibarrier(apart, &left));
  MUST(muster_barrier(apart));  // so that it is over
  if (muster_rank(team) == 0) usleep(100 * 1000);
  MUST(muster_ibarrier(team, &asked));
  const double before = computed();
  REQUIRE(poll_until_done(team, &asked) < 50);
  REQUIRE(computed() - before < 0.05);
  MUST(muster_wait(&left));
  MUST(muster_free(apart));
}

static void idle(muster_team* team) {
  muster_request request;
  MUST(muster_barrier(team));
  if (muster_rank(team) == 1) sleep(1);
  const double before = computed();
  MUST(muster_ibarrier(team, &request));
  const int slept = poll_until_done(team, &request);
  REQUIRE(muster_rank(team) == 1 || slept > 0);
  printf("rank %d: computed %.0f ms, slept %s\n", muster_rank(team), 1e3 * (computed() - before),
         slept < 50 ? "seldom" : "often");
}

// ---- how long it takes

enum { CALLS = 20000 };

static void by_call(muster_team* team) {
  double one = 1;
  MUST(muster_allreduce(team, MUSTER_IN_PLACE, &one, 1, MUSTER_DOUBLE, MUSTER_SUM));
}
static void by_wait(muster_team* team) {
  double one = 1;
  muster_request request;
  MUST(muster_iallreduce(team, MUSTER_IN_PLACE, &one, 1, MUSTER_DOUBLE, MUSTER_SUM, &request));
  MUST(muster_wait(&request));
}
static void by_timedwait(muster_team* team) {
  double one = 1;
  int done = 0;
  muster_request request;
  MUST(muster_iallreduce(team, MUSTER_IN_PLACE, &one, 1, MUSTER_DOUBLE, MUSTER_SUM, &request));
  while (!done) MUST(muster_timedwait(&request, 100 * 1000 * 1000, &done));
}
static void by_event_loop(muster_team* team) {
  double one = 1;
  muster_request request;
  MUST(muster_iallreduce(team, MUSTER_IN_PLACE, &one, 1, MUSTER_DOUBLE, MUSTER_SUM, &request));
  poll_until_done(team, &request);
}

static int ascending(const void* a, const void* b) {
  return (*(const double*)a > *(const double*)b) - (*(const double*)a < *(const double*)b);
}

/// Microseconds a call, the median of many.
static void print_time(muster_team* team, const char* name, void (*call)(muster_team*)) {
  enum { SAMPLES = 21 };
  double took[SAMPLES];
  for (int i = 0; i < SAMPLES; ++i) {
    MUST(muster_barrier(team));
    const double begin = seconds();
    for (int k = 0; k < CALLS / SAMPLES; ++k) call(team);
    took[i] = 1e6 * (seconds() - begin) / (CALLS / SAMPLES);
  }
  qsort(took, SAMPLES, sizeof *took, ascending);
  if (muster_rank(team) == 0) printf("%-12s %.2f us\n", name, took[SAMPLES / 2]);
}

static void times(muster_team* team) {
  print_time(team, "call", by_call);
  print_time(team, "wait", by_wait);
  print_time(team, "timedwait", by_timedwait);
  print_time(team, "event loop", by_event_loop);
}

// ---- when somebody goes

static void died(muster_team* team) {
  const int last = muster_size(team) - 1;
  MUST(muster_barrier(team));
  if (muster_rank(team) == last) raise(SIGKILL);
  muster_request request;
  MUST(muster_ibarrier(team, &request));
  int done = 0;
  int code = MUSTER_SUCCESS;
  while (!done) code = muster_test(&request, &done);  // also looks for who is gone
  FAILS(code, MUSTER_RANK_DIED, "signal 9");
  REQUIRE(request == NULL && muster_error_rank() == last);
  FAILS(muster_barrier(team), MUSTER_RANK_DIED, "signal 9");
  muster_team* left;
  MUST(muster_shrink(team, &left));
  REQUIRE(muster_size(left) == last);
  double one = 1;
  MUST(muster_allreduce(left, MUSTER_IN_PLACE, &one, 1, MUSTER_DOUBLE, MUSTER_SUM));
  REQUIRE(one == last);
}

/// A team is freed with operations pending whose requests are there, and one whose request is not.
static void freed(muster_team* team) {
  muster_team* apart;
  MUST(muster_duplicate(team, &apart));
  muster_request requests[3];
  if (muster_rank(team) == 0) {
    for (int i = 0; i < 3; ++i) MUST(muster_ibarrier(apart, &requests[i]));
    MUST(muster_request_free(&requests[2]));
    MUST(muster_free(apart));
    int done = 0;
    FAILS(muster_test(&requests[0], &done), MUSTER_STOPPED, "barrier");
    REQUIRE(done && requests[0] == NULL);
    MUST(muster_cancel(requests[1]));  // too late, and no harm
    FAILS(muster_waitall(3, requests), MUSTER_STOPPED, "barrier");
    MUST(muster_barrier(team));
  } else {
    MUST(muster_barrier(team));
    FAILS(muster_barrier(apart), MUSTER_STOPPED, "rank 0");
  }
}

static muster_request left(muster_team* team) {
  muster_request request = NULL;
  if (muster_rank(team) == 0) {
    MUST(muster_ibarrier(team, &request));
  } else {
    usleep(300 * 1000);
    const int code = muster_barrier(team);
    REQUIRE(code == MUSTER_STOPPED || code == MUSTER_RANK_LEFT);
  }
  return request;
}

int main(int argc, char** argv) {
  const char* const what = argc > 1 ? argv[1] : "all";
  muster_team* world;
  muster_request pending = NULL;
  MUST(muster_init(&world));
  const int rank = muster_rank(world);
  if (strcmp(what, "all") == 0) {
    out_of_order(world);
    tested(world);
    any_and_all(world);
    timed(world);
    freed_requests(world);
    teams(world);
    canceled(world);
    by_poll(world);
    many_by_poll(world);
    left_complete(world);
  } else if (strcmp(what, "idle") == 0) {
    idle(world);
  } else if (strcmp(what, "times") == 0) {
    times(world);
  } else if (strcmp(what, "died") == 0) {
    died(world);
  } else if (strcmp(what, "freed") == 0) {
    freed(world);
  } else {
    pending = left(world);
  }
  MUST(muster_finalize(world));
  if (pending != NULL) {
    FAILS(muster_wait(&pending), MUSTER_STOPPED, "barrier");
    REQUIRE(pending == NULL);
  }
  printf("rank %d, all right\n", rank);
}
