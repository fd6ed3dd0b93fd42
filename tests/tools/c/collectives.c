// Every collective of the C interface beside what it is to give, blocking, begun and waited for,
// and in place. Started by `muster run`.

#include <stdbool.h>
#include <stdint.h>

#include "tests/tools/c/require.h"

/// What rank `rank` contributes as element i.
static int32_t value(int rank, size_t i) { return (rank + 1) * 1000 + (int32_t)(i % 97); }

/// A call that is made on a team, with blocks or vectors of `count` elements.
struct round {
  muster_team* team;
  int rank;
  int size;
  size_t count;
  int root;
  bool later;     // begun, and waited for
  bool in_place;  // where it can be
  muster_request request;
};

static int32_t* filled(int rank, size_t count) {
  int32_t* const data = malloc(count * sizeof *data + 1);
  for (size_t i = 0; i < count; ++i) data[i] = value(rank, i);
  return data;
}
static int32_t* cleared(size_t count) {
  int32_t* const data = malloc(count * sizeof *data + 1);
  for (size_t i = 0; i < count; ++i) data[i] = -1;
  return data;
}
static size_t all(const struct round* of) { return of->count * (size_t)of->size; }

static void barrier(struct round* of) {
  MUST(of->later ? muster_ibarrier(of->team, &of->request) : muster_barrier(of->team));
  MUST(muster_wait(&of->request));
}

static void bcast(struct round* of) {
  int32_t* const data = of->rank == of->root ? filled(of->root, of->count) : cleared(of->count);
  MUST(of->later ? muster_ibcast(of->team, data, of->count, MUSTER_INT32, of->root, &of->request)
                 : muster_bcast(of->team, data, of->count, MUSTER_INT32, of->root));
  MUST(muster_wait(&of->request));
  for (size_t i = 0; i < of->count; ++i) REQUIRE(data[i] == value(of->root, i));
  free(data);
}

/// The sum of what ranks from 0 to `end` - 1 contribute.
static int32_t sum(int end, size_t i) {
  int32_t total = 0;
  for (int rank = 0; rank < end; ++rank) total += value(rank, i);
  return total;
}

static void reduce(struct round* of) {
  const bool at_root = of->rank == of->root;
  int32_t* const mine = filled(of->rank, of->count);
  int32_t* const result = of->in_place ? filled(of->rank, of->count) : cleared(of->count);
  const void* const send = of->in_place ? MUSTER_IN_PLACE : mine;
  void* const receive = at_root || of->in_place ? result : NULL;
  MUST(of->later
           ? muster_ireduce(of->team, send, receive, of->count, MUSTER_INT32, MUSTER_SUM, of->root,
                            &of->request)
           : muster_reduce(of->team, send, receive, of->count, MUSTER_INT32, MUSTER_SUM, of->root));
  MUST(muster_wait(&of->request));
  for (size_t i = 0; at_root && i < of->count; ++i) REQUIRE(result[i] == sum(of->size, i));
  free(mine);
  free(result);
}

static void allreduce(struct round* of) {
  int32_t* const mine = filled(of->rank, of->count);
  int32_t* const result = of->in_place ? filled(of->rank, of->count) : cleared(of->count);
  const void* const send = of->in_place ? MUSTER_IN_PLACE : mine;
  const muster_op op = of->root == 0 ? MUSTER_SUM : MUSTER_SUM | MUSTER_IN_ARRIVAL_ORDER;
  MUST(of->later
           ? muster_iallreduce(of->team, send, result, of->count, MUSTER_INT32, op, &of->request)
           : muster_allreduce(of->team, send, result, of->count, MUSTER_INT32, op));
  MUST(muster_wait(&of->request));
  for (size_t i = 0; i < of->count; ++i) REQUIRE(result[i] == sum(of->size, i));
  free(mine);
  free(result);
}

static void scan(struct round* of) {
  int32_t* const mine = filled(of->rank, of->count);
  int32_t* const result = of->in_place ? filled(of->rank, of->count) : cleared(of->count);
  const void* const send = of->in_place ? MUSTER_IN_PLACE : mine;
  MUST(of->later
           ? muster_iscan(of->team, send, result, of->count, MUSTER_INT32, MUSTER_SUM, &of->request)
           : muster_scan(of->team, send, result, of->count, MUSTER_INT32, MUSTER_SUM));
  MUST(muster_wait(&of->request));
  for (size_t i = 0; i < of->count; ++i) REQUIRE(result[i] == sum(of->rank + 1, i));
  free(mine);
  free(result);
}

static void exscan(struct round* of) {
  int32_t* const mine = filled(of->rank, of->count);
  int32_t* const result = of->in_place ? filled(of->rank, of->count) : cleared(of->count);
  const void* const send = of->in_place ? MUSTER_IN_PLACE : mine;
  MUST(of->later ? muster_iexscan(of->team, send, result, of->count, MUSTER_INT32, MUSTER_SUM,
                                  &of->request)
                 : muster_exscan(of->team, send, result, of->count, MUSTER_INT32, MUSTER_SUM));
  MUST(muster_wait(&of->request));
  for (size_t i = 0; i < of->count; ++i) {
    const int32_t before = of->in_place ? value(0, i) : -1;
    REQUIRE(result[i] == (of->rank == 0 ? before : sum(of->rank, i)));
  }
  free(mine);
  free(result);
}

static void reduce_scatter_block(struct round* of) {
  int32_t* const mine = filled(of->rank, all(of));
  int32_t* const result = of->in_place ? filled(of->rank, all(of)) : cleared(of->count);
  const void* const send = of->in_place ? MUSTER_IN_PLACE : mine;
  MUST(of->later ? muster_ireduce_scatter_block(of->team, send, result, of->count, MUSTER_INT32,
                                                MUSTER_SUM, &of->request)
                 : muster_reduce_scatter_block(of->team, send, result, of->count, MUSTER_INT32,
                                               MUSTER_SUM));
  MUST(muster_wait(&of->request));
  const size_t from = of->count * (size_t)of->rank;
  for (size_t i = 0; i < of->count; ++i) REQUIRE(result[i] == sum(of->size, from + i));
  free(mine);
  free(result);
}

/// Rank i has count + i elements; where they begin in all of them.
static void lengths(const struct round* of, size_t* counts, size_t* begins) {
  size_t end = 0;
  for (int rank = 0; rank < of->size; ++rank) {
    counts[rank] = of->count + (size_t)rank;
    begins[rank] = end;
    end += counts[rank];
  }
  begins[of->size] = end;
}
enum { MOST_RANKS = 16 };

static void reduce_scatter(struct round* of) {
  size_t counts[MOST_RANKS];
  size_t begins[MOST_RANKS + 1];
  lengths(of, counts, begins);
  int32_t* const mine = filled(of->rank, begins[of->size]);
  int32_t* const result =
      of->in_place ? filled(of->rank, begins[of->size]) : cleared(counts[of->rank]);
  const void* const send = of->in_place ? MUSTER_IN_PLACE : mine;
  MUST(of->later ? muster_ireduce_scatter(of->team, send, result, counts, MUSTER_INT32, MUSTER_SUM,
                                          &of->request)
                 : muster_reduce_scatter(of->team, send, result, counts, MUSTER_INT32, MUSTER_SUM));
  MUST(muster_wait(&of->request));
  for (size_t i = 0; i < counts[of->rank]; ++i) {
    REQUIRE(result[i] == sum(of->size, begins[of->rank] + i));
  }
  free(mine);
  free(result);
}

static void scatter(struct round* of) {
  const bool at_root = of->rank == of->root;
  const bool in_place = of->in_place && at_root;
  int32_t* const blocks = filled(of->root, all(of));
  int32_t* const block = cleared(of->count);
  const void* const send = at_root ? blocks : NULL;
  void* const receive = in_place ? MUSTER_IN_PLACE : block;
  MUST(of->later ? muster_iscatter(of->team, send, receive, of->count, MUSTER_INT32, of->root,
                                   &of->request)
                 : muster_scatter(of->team, send, receive, of->count, MUSTER_INT32, of->root));
  MUST(muster_wait(&of->request));
  const size_t from = of->count * (size_t)of->rank;
  for (size_t i = 0; i < of->count; ++i) {
    REQUIRE((in_place ? blocks + from : block)[i] == value(of->root, from + i));
  }
  free(blocks);
  free(block);
}

/// This rank's contribution, and a place for everybody's, where that is filled in already.
static int32_t* place_for_all(const struct round* of, size_t total, size_t own, size_t from) {
  int32_t* const result = cleared(total);
  for (size_t i = 0; of->in_place && i < own; ++i) result[from + i] = value(of->rank, i);
  return result;
}

static void gather(struct round* of) {
  const bool at_root = of->rank == of->root;
  int32_t* const mine = filled(of->rank, of->count);
  int32_t* const result = place_for_all(of, all(of), of->count, of->count * (size_t)of->rank);
  const void* const send = of->in_place && at_root ? MUSTER_IN_PLACE : mine;
  void* const receive = at_root ? result : NULL;
  MUST(of->later ? muster_igather(of->team, send, receive, of->count, MUSTER_INT32, of->root,
                                  &of->request)
                 : muster_gather(of->team, send, receive, of->count, MUSTER_INT32, of->root));
  MUST(muster_wait(&of->request));
  for (size_t i = 0; at_root && i < all(of); ++i) {
    REQUIRE(result[i] == value((int)(i / of->count), i % of->count));
  }
  free(mine);
  free(result);
}

static void allgather(struct round* of) {
  int32_t* const mine = filled(of->rank, of->count);
  int32_t* const result = place_for_all(of, all(of), of->count, of->count * (size_t)of->rank);
  const void* const send = of->in_place ? MUSTER_IN_PLACE : mine;
  MUST(of->later ? muster_iallgather(of->team, send, result, of->count, MUSTER_INT32, &of->request)
                 : muster_allgather(of->team, send, result, of->count, MUSTER_INT32));
  MUST(muster_wait(&of->request));
  for (size_t i = 0; i < all(of); ++i) {
    REQUIRE(result[i] == value((int)(i / of->count), i % of->count));
  }
  free(mine);
  free(result);
}

static void alltoall(struct round* of) {
  int32_t* const mine = filled(of->rank, all(of));
  int32_t* const result = of->in_place ? filled(of->rank, all(of)) : cleared(all(of));
  const void* const send = of->in_place ? MUSTER_IN_PLACE : mine;
  MUST(of->later ? muster_ialltoall(of->team, send, result, of->count, MUSTER_INT32, &of->request)
                 : muster_alltoall(of->team, send, result, of->count, MUSTER_INT32));
  MUST(muster_wait(&of->request));
  for (size_t i = 0; i < all(of); ++i) {
    const size_t from = of->count * (size_t)of->rank + i % of->count;
    REQUIRE(result[i] == value((int)(i / of->count), from));
  }
  free(mine);
  free(result);
}

static void scatterv(struct round* of) {
  const bool at_root = of->rank == of->root;
  const bool in_place = of->in_place && at_root;
  size_t counts[MOST_RANKS];
  size_t begins[MOST_RANKS + 1];
  lengths(of, counts, begins);
  int32_t* const blocks = filled(of->root, begins[of->size]);
  int32_t* const block = cleared(counts[of->rank]);
  const void* const send = at_root ? blocks : NULL;
  void* const receive = in_place ? MUSTER_IN_PLACE : block;
  const size_t* const known = at_root ? counts : NULL;
  MUST(of->later ? muster_iscatterv(of->team, send, known, NULL, receive, counts[of->rank],
                                    MUSTER_INT32, of->root, &of->request)
                 : muster_scatterv(of->team, send, known, begins, receive, counts[of->rank],
                                   MUSTER_INT32, of->root));
  MUST(muster_wait(&of->request));
  for (size_t i = 0; i < counts[of->rank]; ++i) {
    const size_t at = begins[of->rank] + i;
    REQUIRE((in_place ? blocks[at] : block[i]) == value(of->root, at));
  }
  free(blocks);
  free(block);
}

static void require_all(const struct round* of, const int32_t* result, const size_t* counts,
                        const size_t* begins) {
  for (int rank = 0; rank < of->size; ++rank) {
    for (size_t i = 0; i < counts[rank]; ++i) REQUIRE(result[begins[rank] + i] == value(rank, i));
  }
}

static void gatherv(struct round* of) {
  const bool at_root = of->rank == of->root;
  size_t counts[MOST_RANKS];
  size_t begins[MOST_RANKS + 1];
  lengths(of, counts, begins);
  int32_t* const mine = filled(of->rank, counts[of->rank]);
  int32_t* const result = place_for_all(of, begins[of->size], counts[of->rank], begins[of->rank]);
  const void* const send = of->in_place && at_root ? MUSTER_IN_PLACE : mine;
  void* const receive = at_root ? result : NULL;
  MUST(of->later ? muster_igatherv(of->team, send, counts[of->rank], receive, counts, NULL,
                                   MUSTER_INT32, of->root, &of->request)
                 : muster_gatherv(of->team, send, counts[of->rank], receive, counts, begins,
                                  MUSTER_INT32, of->root));
  MUST(muster_wait(&of->request));
  if (at_root) require_all(of, result, counts, begins);
  free(mine);
  free(result);
}

static void allgatherv(struct round* of) {
  size_t counts[MOST_RANKS];
  size_t begins[MOST_RANKS + 1];
  lengths(of, counts, begins);
  int32_t* const mine = filled(of->rank, counts[of->rank]);
  int32_t* const result = place_for_all(of, begins[of->size], counts[of->rank], begins[of->rank]);
  const void* const send = of->in_place ? MUSTER_IN_PLACE : mine;
  MUST(of->later ? muster_iallgatherv(of->team, send, counts[of->rank], result, counts, begins,
                                      MUSTER_INT32, &of->request)
                 : muster_allgatherv(of->team, send, counts[of->rank], result, counts, NULL,
                                     MUSTER_INT32));
  MUST(muster_wait(&of->request));
  require_all(of, result, counts, begins);
  free(mine);
  free(result);
}

// Rank s sends rank r count + s + r elements, the i-th with value(s, 10 r + i).
static void alltoallv(struct round* of) {
  size_t counts[MOST_RANKS];
  size_t begins[MOST_RANKS + 1] = {0};
  for (int peer = 0; peer < of->size; ++peer) {
    counts[peer] = of->count + (size_t)(of->rank + peer);
    begins[peer + 1] = begins[peer] + counts[peer];
  }
  int32_t* const mine = cleared(begins[of->size]);
  for (int peer = 0; peer < of->size; ++peer) {
    for (size_t i = 0; i < counts[peer]; ++i) {
      mine[begins[peer] + i] = value(of->rank, 10 * (size_t)peer + i);
    }
  }
  int32_t* const result = cleared(begins[of->size]);
  if (of->in_place) memcpy(result, mine, begins[of->size] * sizeof *mine);
  const void* const send = of->in_place ? MUSTER_IN_PLACE : mine;
  const size_t* const known = of->in_place ? NULL : counts;
  MUST(of->later
           ? muster_ialltoallv(of->team, send, known, NULL, result, counts, begins, MUSTER_INT32,
                               &of->request)
           : muster_alltoallv(of->team, send, known, NULL, result, counts, NULL, MUSTER_INT32));
  MUST(muster_wait(&of->request));
  for (int peer = 0; peer < of->size; ++peer) {
    for (size_t i = 0; i < counts[peer]; ++i) {
      REQUIRE(result[begins[peer] + i] == value(peer, 10 * (size_t)of->rank + i));
    }
  }
  free(mine);
  free(result);
}

/// A ring: from the rank before this one to the one after it, and from nobody.
struct ring {
  int sources[2];
  int destinations[2];
  muster_neighbors with;
};
static struct ring ring_of(const struct round* of) {
  struct ring made = {.sources = {(of->rank + of->size - 1) % of->size, MUSTER_NO_RANK},
                      .destinations = {(of->rank + 1) % of->size, MUSTER_NO_RANK}};
  return made;
}

static void neighbors(struct round* of) {
  struct ring around = ring_of(of);
  const muster_neighbors with = {.sources = around.sources,
                                 .source_count = 2,
                                 .destinations = around.destinations,
                                 .destination_count = 2};
  const int before = around.sources[0];
  int32_t* const mine = filled(of->rank, 2 * of->count);
  int32_t* const result = cleared(2 * of->count);
  MUST(of->later
           ? muster_ineighbor_allgather(of->team, mine, result, of->count, MUSTER_INT32, &with,
                                        &of->request)
           : muster_neighbor_allgather(of->team, mine, result, of->count, MUSTER_INT32, &with));
  MUST(muster_wait(&of->request));
  for (size_t i = 0; i < of->count; ++i) {
    REQUIRE(result[i] == value(before, i));
    REQUIRE(result[of->count + i] == -1);
  }
  result[0] = -1;
  MUST(of->later
           ? muster_ineighbor_alltoall(of->team, mine, result, of->count, MUSTER_INT32, &with,
                                       &of->request)
           : muster_neighbor_alltoall(of->team, mine, result, of->count, MUSTER_INT32, &with));
  MUST(muster_wait(&of->request));
  for (size_t i = 0; i < of->count; ++i) REQUIRE(result[i] == value(before, i));
  free(mine);
  free(result);
}

static void neighbors_with_any_lengths(struct round* of) {
  struct ring around = ring_of(of);
  const muster_neighbors with = {.sources = around.sources,
                                 .source_count = 1,
                                 .destinations = around.destinations,
                                 .destination_count = 1};
  const int before = around.sources[0];
  const size_t sent = of->count + (size_t)of->rank;
  const size_t received = of->count + (size_t)before;
  int32_t* const mine = filled(of->rank, sent);
  int32_t* const result = cleared(received);
  MUST(of->later ? muster_ineighbor_allgatherv(of->team, mine, sent, result, &received, NULL,
                                               MUSTER_INT32, &with, &of->request)
                 : muster_neighbor_allgatherv(of->team, mine, sent, result, &received, NULL,
                                              MUSTER_INT32, &with));
  MUST(muster_wait(&of->request));
  for (size_t i = 0; i < received; ++i) REQUIRE(result[i] == value(before, i));
  memset(result, 0, received * sizeof *result);
  MUST(of->later ? muster_ineighbor_alltoallv(of->team, mine, &sent, NULL, result, &received, NULL,
                                              MUSTER_INT32, &with, &of->request)
                 : muster_neighbor_alltoallv(of->team, mine, &sent, NULL, result, &received, NULL,
                                             MUSTER_INT32, &with));
  MUST(muster_wait(&of->request));
  for (size_t i = 0; i < received; ++i) REQUIRE(result[i] == value(before, i));
  free(mine);
  free(result);
}

// ---- other elements, reductions of the program's own

static void doubles(struct round* of) {
  const double mine[2] = {of->rank + 0.5, -of->rank};
  double result[2];
  MUST(muster_allreduce(of->team, mine, result, 2, MUSTER_DOUBLE, MUSTER_MAX));
  REQUIRE(result[0] == of->size - 0.5 && result[1] == 0);
  struct {
    double value;
    int32_t index;
  } where = {.value = -of->rank, .index = of->rank}, least;
  MUST(muster_allreduce(of->team, &where, &least, 1, MUSTER_DOUBLE_INDEXED, MUSTER_MINLOC));
  REQUIRE(least.value == 1 - of->size && least.index == of->size - 1);
}

/// x -> a x + b: composing two does not commute.
struct line {
  int64_t a, b, calls;
};
static void compose(void* context, void* to, const void* left, const void* right, size_t count) {
  ++*(int*)context;
  for (size_t i = 0; i < count; ++i) {
    struct line f;
    struct line g;
    memcpy(&f, (const char*)left + i * sizeof f, sizeof f);
    memcpy(&g, (const char*)right + i * sizeof g, sizeof g);
    const struct line both = {f.a * g.a, f.a * g.b + f.b, f.calls + g.calls};
    memcpy((char*)to + i * sizeof both, &both, sizeof both);
  }
}

static void own_reduction(struct round* of) {
  muster_type type;
  muster_op op;
  int called = 0;
  MUST(muster_type_opaque(sizeof(struct line), &type));
  MUST(muster_op_create(of->team, compose, &called, sizeof(struct line), 0, &op));
  const struct line mine = {of->rank + 2, of->rank, 1};
  struct line total;
  struct line expected = {2, 0, 1};
  for (int rank = 1; rank < of->size; ++rank) {
    expected.b += expected.a * rank;
    expected.a *= rank + 2;
    ++expected.calls;
  }
  MUST(muster_iallreduce(of->team, &mine, &total, 1, type, op, &of->request));
  MUST(muster_op_free(of->team, &op));  // it goes on
  REQUIRE(op == 0);
  MUST(muster_wait(&of->request));
  REQUIRE(memcmp(&total, &expected, sizeof total) == 0);
  MUST(muster_bcast(of->team, &total, 1, type, of->root));
}

static void rounds(muster_team* team, size_t count, int root, bool later, bool in_place) {
  struct round of = {.team = team,
                     .rank = muster_rank(team),
                     .size = muster_size(team),
                     .count = count,
                     .root = root,
                     .later = later,
                     .in_place = in_place};
  barrier(&of);
  bcast(&of);
  reduce(&of);
  allreduce(&of);
  scan(&of);
  exscan(&of);
  reduce_scatter_block(&of);
  reduce_scatter(&of);
  scatter(&of);
  gather(&of);
  allgather(&of);
  alltoall(&of);
  scatterv(&of);
  gatherv(&of);
  allgatherv(&of);
  alltoallv(&of);
  neighbors(&of);
  neighbors_with_any_lengths(&of);
  doubles(&of);
  own_reduction(&of);
}

int main(void) {
  muster_team* world;
  MUST(muster_init(&world));
  REQUIRE(muster_size(world) <= MOST_RANKS);
  const size_t counts[] = {1, 3, 1000, 40000};
  for (size_t i = 0; i < sizeof counts / sizeof *counts; ++i) {
    for (int how = 0; how < 4; ++how) {
      const int root = how % 2 == 0 ? 0 : muster_size(world) - 1;
      rounds(world, counts[i], root, how / 2 == 1, how % 2 == 1);
      rounds(world, counts[i], root, how / 2 == 0, how % 2 == 1);
    }
  }
  if (muster_rank(world) == 0) printf("%d ranks, all right\n", muster_size(world));
  MUST(muster_finalize(world));
}
