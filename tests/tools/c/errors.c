// What is wrong with an argument is said by a code and a text, and changes nothing. Started by
// `muster run`; also alone.

#include <pthread.h>

#include "tests/tools/c/require.h"

static void everywhere(muster_team* team) {
  double mine[16] = {0};
  double all[64] = {0};
  const int size = muster_size(team);
  muster_request request = NULL;
  FAILS(muster_barrier(NULL), MUSTER_INVALID_ARGUMENT, "barrier: team is NULL");
  FAILS(muster_ibarrier(team, NULL), MUSTER_INVALID_ARGUMENT, "barrier: request is NULL");
  FAILS(muster_ibarrier(NULL, &request), MUSTER_INVALID_ARGUMENT, "barrier: team is NULL");
  REQUIRE(request == NULL);
  FAILS(muster_allreduce(team, NULL, all, 4, MUSTER_DOUBLE, MUSTER_SUM), MUSTER_INVALID_ARGUMENT,
        "allreduce: send is NULL");
  FAILS(muster_allreduce(team, mine, NULL, 4, MUSTER_DOUBLE, MUSTER_SUM), MUSTER_INVALID_ARGUMENT,
        "allreduce: receive is NULL");
  FAILS(muster_allreduce(team, MUSTER_IN_PLACE, NULL, 4, MUSTER_DOUBLE, MUSTER_SUM),
        MUSTER_INVALID_ARGUMENT, "allreduce: receive is NULL");
  FAILS(muster_allreduce(team, mine, MUSTER_IN_PLACE, 4, MUSTER_DOUBLE, MUSTER_SUM),
        MUSTER_INVALID_ARGUMENT, "allreduce: receive is MUSTER_IN_PLACE");
  FAILS(muster_allreduce(team, mine, mine, 4, MUSTER_DOUBLE, MUSTER_SUM), MUSTER_INVALID_ARGUMENT,
        "allreduce: receive is send");
  FAILS(muster_allreduce(team, mine, all, 4, 77, MUSTER_SUM), MUSTER_INVALID_ARGUMENT,
        "allreduce: type is 77");
  FAILS(muster_allreduce(team, mine, all, 4, -1, MUSTER_SUM), MUSTER_INVALID_ARGUMENT,
        "allreduce: type is -1");
  FAILS(muster_allreduce(team, mine, all, 4, MUSTER_DOUBLE, 0), MUSTER_INVALID_ARGUMENT,
        "allreduce: op is 0");
  FAILS(muster_allreduce(team, mine, all, 4, MUSTER_DOUBLE, 300), MUSTER_INVALID_ARGUMENT,
        "allreduce: op is 300");
  FAILS(muster_allreduce(team, mine, all, 4, MUSTER_DOUBLE, -5), MUSTER_INVALID_ARGUMENT,
        "allreduce: op is -5");
  FAILS(muster_allreduce(team, mine, all, 4, MUSTER_DOUBLE, MUSTER_BIT_AND),
        MUSTER_INVALID_ARGUMENT, "allreduce: op is bit_and");
  FAILS(muster_allreduce(team, mine, all, (size_t)-1, MUSTER_DOUBLE, MUSTER_SUM),
        MUSTER_INVALID_ARGUMENT, "allreduce: count 18446744073709551615");
  FAILS(muster_iallreduce(team, mine, all, 4, MUSTER_DOUBLE, 0, &request), MUSTER_INVALID_ARGUMENT,
        "allreduce: op is 0");
  REQUIRE(request == NULL);
  FAILS(muster_bcast(team, mine, 4, MUSTER_DOUBLE, -1), MUSTER_INVALID_ARGUMENT,
        "bcast: root is -1");
  FAILS(muster_bcast(team, mine, 4, MUSTER_DOUBLE, size), MUSTER_INVALID_ARGUMENT, "bcast: root");
  FAILS(muster_bcast(team, NULL, 4, MUSTER_DOUBLE, 0), MUSTER_INVALID_ARGUMENT,
        "bcast: buffer is NULL");
  FAILS(muster_bcast(team, MUSTER_IN_PLACE, 4, MUSTER_DOUBLE, 0), MUSTER_INVALID_ARGUMENT,
        "bcast: buffer is MUSTER_IN_PLACE");
  FAILS(muster_scatter(team, mine, muster_rank(team) == 0 ? NULL : MUSTER_IN_PLACE, 4,
                       MUSTER_DOUBLE, 0),
        MUSTER_INVALID_ARGUMENT, "scatter: receive is ");
  FAILS(muster_gather(team, NULL, all, 4, MUSTER_DOUBLE, 0), MUSTER_INVALID_ARGUMENT,
        "gather: send is NULL");
  FAILS(muster_allgatherv(team, mine, 4, all, NULL, NULL, MUSTER_DOUBLE), MUSTER_INVALID_ARGUMENT,
        "allgatherv: counts is NULL");
  const size_t counts[64] = {3, 3, 3, 3, 3, 3, 3, 3};
  FAILS(muster_allgatherv(team, mine, 4, all, counts, NULL, MUSTER_DOUBLE), MUSTER_INVALID_ARGUMENT,
        "allgatherv: count is 4; expected 3");
  FAILS(muster_alltoallv(team, mine, NULL, NULL, all, counts, NULL, MUSTER_DOUBLE),
        MUSTER_INVALID_ARGUMENT, "alltoallv: send_counts is NULL");
  FAILS(muster_reduce_scatter(team, mine, all, NULL, MUSTER_DOUBLE, MUSTER_SUM),
        MUSTER_INVALID_ARGUMENT, "reduce_scatter: counts is NULL");
  FAILS(muster_neighbor_alltoall(team, mine, all, 1, MUSTER_DOUBLE, NULL), MUSTER_INVALID_ARGUMENT,
        "neighbor_alltoall: with is NULL");
  const int wrong[1] = {-7};
  const muster_neighbors with = {.sources = wrong, .source_count = 1};
  FAILS(muster_neighbor_alltoall(team, mine, all, 1, MUSTER_DOUBLE, &with), MUSTER_INVALID_ARGUMENT,
        "neighbor_alltoall: sources has -7");
  const int too_high[1] = {1000};
  const muster_neighbors beyond = {.sources = too_high, .source_count = 1};
  FAILS(muster_neighbor_alltoall(team, mine, all, 1, MUSTER_DOUBLE, &beyond),
        MUSTER_INVALID_ARGUMENT, "neighbor_alltoall: sources[0] is 1000");
  // The team is as it was.
  MUST(muster_failure(team));
  MUST(muster_allreduce(team, mine, all, 4, MUSTER_DOUBLE, MUSTER_SUM));
}

static void own(muster_team* team) {
  double mine[4] = {0};
  double all[4];
  muster_type type = -1;
  muster_op op = -1;
  FAILS(muster_type_opaque(0, &type), MUSTER_INVALID_ARGUMENT, "type_opaque: bytes is 0");
  FAILS(muster_type_opaque((size_t)-1, &type), MUSTER_INVALID_ARGUMENT, "type_opaque: bytes is");
  FAILS(muster_op_create(team, NULL, NULL, 8, 0, &op), MUSTER_INVALID_ARGUMENT,
        "op_create: combine is NULL");
  FAILS(muster_op_free(team, &op), MUSTER_INVALID_ARGUMENT, "op_free: op is");
  MUST(muster_type_opaque(24, &type));
  FAILS(muster_allreduce(team, mine, all, 1, type, MUSTER_SUM), MUSTER_INVALID_ARGUMENT,
        "allreduce: op is not one of muster_op_create");
  const size_t counts[64] = {1};
  FAILS(muster_allgatherv(team, mine, 1, all, counts, NULL, type), MUSTER_INVALID_ARGUMENT,
        "allgatherv: type is one of muster_type_opaque");
  FAILS(muster_bcast(team, mine, (size_t)1 << 62, type, 0), MUSTER_INVALID_ARGUMENT,
        "bcast: count 4611686018427387904 overflows");
}

static void requests_and_teams(muster_team* team) {
  int done = -1;
  size_t which = 9;
  muster_team* made = team;
  muster_request none = NULL;
  MUST(muster_wait(&none));
  MUST(muster_test(&none, &done));
  REQUIRE(done == 1);
  MUST(muster_waitall(1, &none));
  MUST(muster_waitall(0, NULL));
  MUST(muster_waitany(1, &none, &which));
  REQUIRE(which == 1);
  MUST(muster_request_free(&none));
  MUST(muster_cancel(NULL));
  FAILS(muster_wait(NULL), MUSTER_INVALID_ARGUMENT, "wait: request is NULL");
  FAILS(muster_test(&none, NULL), MUSTER_INVALID_ARGUMENT, "test: done is NULL");
  FAILS(muster_waitall(2, NULL), MUSTER_INVALID_ARGUMENT, "waitall: requests is NULL");
  FAILS(muster_split(team, 0, 0, NULL), MUSTER_INVALID_ARGUMENT, "split: made is NULL");
  FAILS(muster_split(NULL, 0, 0, &made), MUSTER_INVALID_ARGUMENT, "split: team is NULL");
  REQUIRE(made == NULL);
  FAILS(muster_subset(team, 1, NULL, &made), MUSTER_INVALID_ARGUMENT, "subset: ranks is NULL");
  const int wrong[1] = {-1};
  FAILS(muster_subset(team, 1, wrong, &made), MUSTER_INVALID_ARGUMENT, "subset: ranks has -1");
  FAILS(muster_free(team), MUSTER_INVALID_ARGUMENT, "free: team is the world");
  FAILS(muster_init(&made), MUSTER_INVALID_ARGUMENT, "init: called again");
  FAILS(muster_init(NULL), MUSTER_INVALID_ARGUMENT, "init: world is NULL");
  FAILS(muster_init_with(1, 1, NULL, NULL, &made), MUSTER_INVALID_ARGUMENT, "init_with: called");
  FAILS(muster_arm(team, NULL), MUSTER_INVALID_ARGUMENT, "arm: timeout is NULL");
  FAILS(muster_descriptor(NULL, &done), MUSTER_INVALID_ARGUMENT, "descriptor: team is NULL");
  REQUIRE(muster_rank(NULL) == -1 && muster_size(NULL) == -1);
  MUST(muster_free(NULL));
  MUST(muster_finalize(NULL));
  REQUIRE(strcmp(muster_strerror(MUSTER_RANK_DIED), "a rank died") == 0);
  REQUIRE(strcmp(muster_strerror(4711), "unknown error") == 0);
}

// ---- one thread at a time

static void* call_from_here(void* team) {
  FAILS(muster_barrier(team), MUSTER_INVALID_ARGUMENT,
        "barrier: called while another call of Muster is under way");
  return NULL;
}

/// A reduction that calls, and has another thread call.
static void calls_back(void* context, void* to, const void* left, const void* right, size_t count) {
  pthread_t other;
  (void)left;
  (void)right;
  (void)to;
  (void)count;
  call_from_here(context);
  REQUIRE(pthread_create(&other, NULL, call_from_here, context) == 0);
  REQUIRE(pthread_join(other, NULL) == 0);
}

static void alone(muster_team* team) {
  muster_op op;
  double mine[2] = {0};
  double all[2];
  MUST(muster_op_create(team, calls_back, team, sizeof(double), 1, &op));
  MUST(muster_allreduce(team, mine, all, 2, MUSTER_DOUBLE, op));
  MUST(muster_op_free(team, &op));
}

// ---- what other ranks say

static void mismatched(muster_team* team) {
  muster_team* apart;
  double mine[4] = {0};
  double all[64];
  MUST(muster_duplicate(team, &apart));
  const size_t count = muster_rank(team) == 0 ? 3 : 4;
  FAILS(muster_allreduce(apart, mine, all, count, MUSTER_DOUBLE, MUSTER_SUM),
        MUSTER_MISMATCHED_CALL, "rank 0");
  FAILS(muster_failure(apart), MUSTER_MISMATCHED_CALL, "allreduce");
  FAILS(muster_barrier(apart), MUSTER_MISMATCHED_CALL, "allreduce");
  MUST(muster_free(apart));
  MUST(muster_barrier(team));
}

static void revoked(muster_team* team) {
  muster_team* apart;
  muster_team* rest;
  int sum = 1;
  MUST(muster_duplicate(team, &apart));
  FAILS(muster_revoke(NULL, "no more input"), MUSTER_INVALID_ARGUMENT, "revoke: team is NULL");
  if (muster_rank(team) == 0) MUST(muster_revoke(apart, "no more input"));
  FAILS(muster_barrier(apart), MUSTER_STOPPED, "rank 0 revoked the team: no more input");
  REQUIRE(muster_error_rank() == 0);
  MUST(muster_shrink(apart, &rest));
  MUST(muster_allreduce(rest, MUSTER_IN_PLACE, &sum, 1, MUSTER_INT32, MUSTER_SUM));
  REQUIRE(sum == muster_size(team));
  MUST(muster_free(apart));
  MUST(muster_free(rest));
}

int main(void) {
  muster_team* world;
  REQUIRE(strcmp(muster_error_text(), "success") == 0);
  MUST(muster_init(&world));
  everywhere(world);
  own(world);
  requests_and_teams(world);
  alone(world);
  if (muster_size(world) > 1) mismatched(world);
  revoked(world);
  if (muster_rank(world) == 0) printf("%d ranks, all right\n", muster_size(world));
  MUST(muster_finalize(world));
}
