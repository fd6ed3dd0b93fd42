#pragma once

/// Muster for C programs: collectives that block, and ones that a request stands for. Valid in C11
/// and C++.
///
///     muster_team *world;
///     int failed = muster_init(&world);
///     if (!failed) failed = muster_allreduce(world, mine, total, 1000, MUSTER_DOUBLE, MUSTER_SUM);
///     if (failed) fprintf(stderr, "%s\n", muster_error_text());
///     muster_finalize(world);
///
/// Functions that can fail return MUSTER_SUCCESS, which is 0, or another of the codes below. No
/// exception leaves them.
///
/// Threads: at most one thread at a time calls functions that take a team, or a request that is
/// pending. A call from a second thread, or from a reduction of the program's own, returns
/// MUSTER_INVALID_ARGUMENT and changes nothing. Operations go on inside these calls alone; there is
/// no thread. MUSTER_PROGRESS changes nothing here.
///
/// A process that this one forks is no rank, and calls none of these functions.

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- errors

enum {
  MUSTER_SUCCESS = 0,
  MUSTER_INVALID_ARGUMENT = 1,   ///< an argument is outside what the call accepts; nothing was sent
  MUSTER_MISMATCHED_CALL = 2,    ///< ranks of one team called different things
  MUSTER_RANK_DIED = 3,          ///< the process of a rank ended abnormally
  MUSTER_RANK_LEFT = 4,          ///< a rank ended normally without taking part in the operation
  MUSTER_STOPPED = 5,            ///< the operation was canceled, or its team freed
  MUSTER_DEADLINE_EXCEEDED = 6,  ///< a deadline passed before the operation completed
  MUSTER_BOOTSTRAP = 7,          ///< the job could not be joined or its memory could not be mapped
  MUSTER_RESOURCE = 8            ///< memory or another resource of the system ran out
};

/// What a code means in general, in a few words: static text, never NULL.
const char* muster_strerror(int code);
/// Of the last call on this thread that returned another code than MUSTER_SUCCESS: what happened,
/// with the names of the call, the argument or the rank. Never NULL; valid until the next such call
/// on this thread.
const char* muster_error_text(void);
/// Of the same call: the rank at fault, -1 where there is no single one.
int muster_error_rank(void);
/// The version of the library, such as "0.1.0".
const char* muster_version(void);

// ---- joining the job

/// An ordered set of ranks that perform collectives together, as this process sees it.
typedef struct muster_team muster_team;

/// Joins the job that `muster run` or another launcher started this process in; a process that
/// nobody started as a rank is a team of one. Blocks until all ranks of the job have come. Once in
/// a process: a second call is an invalid argument.
/// \param world the team of all ranks of the job, until muster_finalize; NULL where the call fails
/// Errors: MUSTER_BOOTSTRAP, where the job cannot be joined.
int muster_init(muster_team** world);

/// As muster_init, in a process that `muster run --respawn` has started in the place of a rank that
/// failed: the team that the other ranks get from muster_grow. Blocks until all have called that.
/// In another process it does nothing.
/// \param world NULL where this process is one of the job's first ranks: it calls muster_init
int muster_rejoin(muster_team** world);

/// For muster_init_with: everybody's `mine`, `bytes` long, in rank order in `all`. Returns 0 on
/// success.
typedef int muster_allgather_function(void* context, const void* mine, void* all, size_t bytes);
/// As muster_init, of processes of one machine that others than Muster started: they tell each
/// other by `allgather` what it takes. It is called before this returns, and not afterwards.
int muster_init_with(int rank, int size, muster_allgather_function* allgather, void* context,
                     muster_team** world);

/// Leaves the job, on the thread that called muster_init. Frees all teams, as muster_free does.
/// Other ranks can finish what needs nothing more of this one. NULL is ignored.
int muster_finalize(muster_team* world);

/// This process's rank in the team, from 0; -1 for NULL. Any thread.
int muster_rank(const muster_team* team);
/// How many ranks the team has; -1 for NULL. Any thread.
int muster_size(const muster_team* team);
/// Why the team is broken: the code that every further call on it returns, with its text.
/// MUSTER_SUCCESS while it is whole. An operation that fails breaks its team on every rank, unless
/// an argument was invalid.
int muster_failure(muster_team* team);
/// Breaks a team that is whole: operations under way on it, on any rank, and all later ones end
/// with MUSTER_STOPPED, and a text that names this rank and has `why`. For a rank that cannot go
/// on, and for which the others would wait; muster_shrink goes on. Waits for nobody.
/// \param why NULL: no reason is said
int muster_revoke(muster_team* team, const char* why);

// ---- elements and reductions

/// What elements are.
typedef int muster_type;
enum {
  MUSTER_BYTE,
  MUSTER_INT8,
  MUSTER_UINT8,
  MUSTER_INT16,
  MUSTER_UINT16,
  MUSTER_INT32,
  MUSTER_UINT32,
  MUSTER_INT64,
  MUSTER_UINT64,
  MUSTER_FLOAT,
  MUSTER_DOUBLE,
  MUSTER_FLOAT16,         ///< IEEE 754 binary16
  MUSTER_BFLOAT16,        ///< the upper half of a float
  MUSTER_COMPLEX_FLOAT,   ///< two floats
  MUSTER_COMPLEX_DOUBLE,  ///< two doubles
  MUSTER_BOOL,            ///< one byte, 0 or 1
  MUSTER_INT16_INDEXED,  ///< struct { int16_t value; int32_t index; }, and so on: for MUSTER_MINLOC
                         ///< and MUSTER_MAXLOC
  MUSTER_INT32_INDEXED,
  MUSTER_INT64_INDEXED,
  MUSTER_FLOAT_INDEXED,
  MUSTER_DOUBLE_INDEXED
};

/// The type of elements of so many bytes, which are moved as they are, and which a reduction of the
/// program's own combines. Collectives whose blocks vary do not take it: they take MUSTER_BYTE.
/// Needs no freeing.
int muster_type_opaque(size_t bytes, muster_type* type);

/// What reductions combine with.
typedef int muster_op;
enum {
  MUSTER_SUM = 1,  ///< integers wrap around
  MUSTER_PRODUCT,
  MUSTER_MIN,
  MUSTER_MAX,
  MUSTER_LOGICAL_AND,
  MUSTER_LOGICAL_OR,
  MUSTER_LOGICAL_XOR,
  MUSTER_BIT_AND,
  MUSTER_BIT_OR,
  MUSTER_BIT_XOR,
  MUSTER_MINLOC,  ///< the lowest index of equal values
  MUSTER_MAXLOC,
  /// Added to any of these, where results need not be the same to the bit from run to run: begins
  /// with those that are there. All ranks of one call still see the same.
  MUSTER_IN_ARRIVAL_ORDER = 1 << 24
};

/// A reduction of the program's own: to[i] = left[i] op right[i] for `count` elements, which may
/// lie at any address. `to` may be `left` or `right`. It is taken to be associative.
typedef void muster_function(void* context, void* to, const void* left, const void* right,
                             size_t count);
/// Makes `combine` an op for elements of `bytes` bytes, of any type as long, for this team and all
/// others of the job.
/// \param commutative 0: operands are combined in rank order, lower ranks on the left
int muster_op_create(muster_team* team, muster_function* combine, void* context, size_t bytes,
                     int commutative, muster_op* op);
/// Frees what muster_op_create made, and sets it to 0. Operations that use it go on.
int muster_op_free(muster_team* team, muster_op* op);

// ---- requests

/// An operation that was begun by a function with an `i` in its name. NULL: none, which counts as
/// complete.
typedef struct muster_operation* muster_request;

/// Looks once at all pending operations. Where this one is complete, `*done` becomes 1, the request
/// is freed and becomes NULL, and the code says how it ended; otherwise `*done` becomes 0. Where
/// only a mistake of this call is reported, such as another thread's being here, the request stays
/// as it is.
int muster_test(muster_request* request, int* done);
/// Blocks until the operation is complete; frees the request, which becomes NULL. Polls for a
/// moment, then sleeps. The code says how the operation ended.
int muster_wait(muster_request* request);
/// The same, for so many nanoseconds at most; negative: without a limit. `*done` and the request as
/// in muster_test.
int muster_timedwait(muster_request* request, int64_t nanoseconds, int* done);
/// Blocks until all are complete, and frees all. Of those that failed it returns the first one's
/// code.
int muster_waitall(size_t count, muster_request* requests);
/// Blocks until one is complete, as muster_wait does, and says which. Where none is pending
/// `*which` is `count`.
int muster_waitany(size_t count, muster_request* requests, size_t* which);
/// Asks an operation to end. It is complete soon afterwards, with MUSTER_STOPPED unless it was
/// complete already, and has to be waited for. Its team is then broken on every rank.
int muster_cancel(muster_request request);
/// Frees a request, which becomes NULL; its operation goes on, and nobody learns how it ends. Its
/// buffers belong to it until its team is freed. A team that it makes is freed when it ends.
int muster_request_free(muster_request* request);

// ---- in an event loop
//
//     muster_iallreduce(team, …, &request);
//     for (;;) {
//       muster_test(&request, &done);
//       if (done) break;
//       muster_arm(team, &timeout);
//       poll(&descriptor_and_others, n, timeout);
//     }

/// A descriptor for poll, select and epoll, to be waited for to be readable. Nobody reads it, nor
/// closes it. One for all operations of the job: it is the same for every team, and stays the same
/// until muster_finalize. It tells something only after muster_arm; at any other time it may be
/// readable or not.
int muster_descriptor(muster_team* team, int* descriptor);
/// Before the event loop sleeps: looks at all pending operations for a moment, some microseconds,
/// and where nothing moved has the descriptor become readable as soon as something may. The next
/// call that takes a team or a request takes that back, whatever it is. Afterwards the program
/// tests its requests, since any may have completed.
/// \param timeout how long the loop may sleep, in milliseconds, as poll takes it: 0 where something
/// has moved, or a request has become complete since the last call, -1 without a limit. When it has
/// passed the program goes on as if the descriptor were readable.
int muster_arm(muster_team* team, int* timeout);
/// Looks once at all pending operations, for programs that compute between calls. `*moved` becomes
/// 1 where one got further; NULL: nobody asks.
int muster_progress(muster_team* team, int* moved);

// ---- teams made from teams
//
// Each is a collective of `team`, and takes its place in the team's order. The new team has an
// order of its own. `*made` is set when the call is complete, so with the `i` forms by the function
// that says so. It is NULL where the call fails, and where this rank is in no new team.

enum {
  MUSTER_NO_COLOR = -2147483647 - 1  ///< of a rank that is to be in no team
};
/// Ranks of one color become a team, in the order of their keys, and of their ranks for equal keys.
int muster_split(muster_team* team, int color, int key, muster_team** made);
int muster_isplit(muster_team* team, int color, int key, muster_team** made,
                  muster_request* request);
/// A team of the same ranks in the same order.
int muster_duplicate(muster_team* team, muster_team** made);
int muster_iduplicate(muster_team* team, muster_team** made, muster_request* request);
/// A team of these ranks, in this order. The list, which is copied, is the same on every rank of
/// `team`.
int muster_subset(muster_team* team, size_t count, const int* ranks, muster_team** made);
int muster_isubset(muster_team* team, size_t count, const int* ranks, muster_team** made,
                   muster_request* request);
/// A team of those ranks of `team` that are alive, which may be broken or whole. Every rank that is
/// alive calls it. It takes no place in the order of `team`.
int muster_shrink(muster_team* team, muster_team** made);
int muster_ishrink(muster_team* team, muster_team** made, muster_request* request);
/// The team of all ranks of the job: those that are alive, and for each that failed the process
/// that `muster run --respawn` has started again, which calls muster_rejoin. Every rank of the job
/// that is alive calls it, with a team of them, broken or whole. Stays pending until all have come.
/// What was chosen for `team` is not chosen for the new one. Errors: MUSTER_INVALID_ARGUMENT, where
/// ranks are not started again; MUSTER_RANK_LEFT, where one has ended well; MUSTER_BOOTSTRAP.
int muster_grow(muster_team* team, muster_team** made);
int muster_igrow(muster_team* team, muster_team** made, muster_request* request);
/// Frees a team that one of these made; local. Operations of the team that are pending end: their
/// requests are complete, with MUSTER_STOPPED, and still have to be waited for or freed; for the
/// other ranks the team is then broken. NULL is ignored; for the world there is muster_finalize.
int muster_free(muster_team* team);

// ---- collectives
//
// All ranks of a team call its collectives in one order; any number may be in flight.
//
// Each comes in two forms. The first blocks until the call is complete on this rank: its buffers
// may be used again, and results are in place; other ranks may still be at work. The second, with
// an `i` in its name, begins the operation and returns at once; `*request` stands for it, and is
// NULL where the call fails. The operation is complete when a test or a wait says so, on the
// thread that calls these. Until then its buffers stay where they are and belong to it. Lists of
// counts, displacements and ranks are copied.
//
// `count` is in elements of `type`: of the whole vector where nothing else is said. A buffer may
// be NULL where it has no elements, and where this rank has no use for it. `root` is a rank.
//
// Errors, of which all but the first two break the team on every rank:
//   - MUSTER_INVALID_ARGUMENT, at once: an argument is wrong; nothing was sent;
//   - MUSTER_RESOURCE: there is no memory;
//   - MUSTER_MISMATCHED_CALL: another rank called something else; the text names both;
//   - MUSTER_RANK_DIED, MUSTER_RANK_LEFT: a rank that is needed is gone;
//   - MUSTER_STOPPED: it was canceled, or its team freed.

/// In place of `send`, or of `receive` at the root of a scatter: the call is in place, and the
/// other buffer is both.
#define MUSTER_IN_PLACE ((void*)1)

/// Completes when all ranks have come.
int muster_barrier(muster_team* team);
int muster_ibarrier(muster_team* team, muster_request* request);

/// Copies `buffer` of rank `root` to that of every rank; the same length everywhere.
int muster_bcast(muster_team* team, void* buffer, size_t count, muster_type type, int root);
int muster_ibcast(muster_team* team, void* buffer, size_t count, muster_type type, int root,
                  muster_request* request);

/// Combines the `send` of all ranks, in rank order, into `receive` of rank `root`. In place, which
/// any rank may be, `receive` is what the rank contributes; the root's becomes the result.
int muster_reduce(muster_team* team, const void* send, void* receive, size_t count,
                  muster_type type, muster_op op, int root);
int muster_ireduce(muster_team* team, const void* send, void* receive, size_t count,
                   muster_type type, muster_op op, int root, muster_request* request);

/// The same, with the result on every rank.
int muster_allreduce(muster_team* team, const void* send, void* receive, size_t count,
                     muster_type type, muster_op op);
int muster_iallreduce(muster_team* team, const void* send, void* receive, size_t count,
                      muster_type type, muster_op op, muster_request* request);

/// Combines the `send` of ranks 0 to i into `receive` of rank i.
int muster_scan(muster_team* team, const void* send, void* receive, size_t count, muster_type type,
                muster_op op);
int muster_iscan(muster_team* team, const void* send, void* receive, size_t count, muster_type type,
                 muster_op op, muster_request* request);

/// Combines the `send` of ranks 0 to i - 1 into `receive` of rank i; that of rank 0 is left as it
/// was.
int muster_exscan(muster_team* team, const void* send, void* receive, size_t count,
                  muster_type type, muster_op op);
int muster_iexscan(muster_team* team, const void* send, void* receive, size_t count,
                   muster_type type, muster_op op, muster_request* request);

/// Combines the `send` of all ranks, one block of `count` elements for each, and gives block i of
/// the result to rank i. In place, the first block of `receive` becomes the result; what the others
/// hold then is unspecified.
int muster_reduce_scatter_block(muster_team* team, const void* send, void* receive, size_t count,
                                muster_type type, muster_op op);
int muster_ireduce_scatter_block(muster_team* team, const void* send, void* receive, size_t count,
                                 muster_type type, muster_op op, muster_request* request);

/// The same with counts[i] elements for rank i; the same counts on every rank.
int muster_reduce_scatter(muster_team* team, const void* send, void* receive, const size_t* counts,
                          muster_type type, muster_op op);
int muster_ireduce_scatter(muster_team* team, const void* send, void* receive, const size_t* counts,
                           muster_type type, muster_op op, muster_request* request);

/// Sends block i of `send` of rank `root`, `count` elements, to `receive` of rank i. In place at
/// the root: its own block stays in `send`.
int muster_scatter(muster_team* team, const void* send, void* receive, size_t count,
                   muster_type type, int root);
int muster_iscatter(muster_team* team, const void* send, void* receive, size_t count,
                    muster_type type, int root, muster_request* request);

/// Gathers the `send` of all ranks, `count` elements each, in rank order into `receive` of rank
/// `root`. In place at the root: its own block is in `receive`.
int muster_gather(muster_team* team, const void* send, void* receive, size_t count,
                  muster_type type, int root);
int muster_igather(muster_team* team, const void* send, void* receive, size_t count,
                   muster_type type, int root, muster_request* request);

/// The same into `receive` of every rank. In place, each rank's own block is in `receive`.
int muster_allgather(muster_team* team, const void* send, void* receive, size_t count,
                     muster_type type);
int muster_iallgather(muster_team* team, const void* send, void* receive, size_t count,
                      muster_type type, muster_request* request);

/// Sends block i of `send`, `count` elements, to rank i, and receives rank i's block for this rank
/// as block i of `receive`. In place, the blocks of `receive` are replaced by those received.
int muster_alltoall(muster_team* team, const void* send, void* receive, size_t count,
                    muster_type type);
int muster_ialltoall(muster_team* team, const void* send, void* receive, size_t count,
                     muster_type type, muster_request* request);

/// Of those below blocks are of any lengths. counts[i] is how many elements the block for, or from,
/// rank i has, and displacements[i] where it begins, in elements; NULL displacements: blocks follow
/// each other. Blocks that a rank receives do not overlap.

/// Sends the blocks of `send` of rank `root`, which alone need know `send`, `counts` and
/// `displacements`, to `receive` of each rank, which is `count` elements long. In place at the
/// root: its block stays in `send`.
int muster_scatterv(muster_team* team, const void* send, const size_t* counts,
                    const size_t* displacements, void* receive, size_t count, muster_type type,
                    int root);
int muster_iscatterv(muster_team* team, const void* send, const size_t* counts,
                     const size_t* displacements, void* receive, size_t count, muster_type type,
                     int root, muster_request* request);

/// Gathers the `send` of all ranks into the blocks of `receive` of rank `root`, which alone need
/// know `receive`, `counts` and `displacements`. In place at the root: its block is in `receive`.
int muster_gatherv(muster_team* team, const void* send, size_t count, void* receive,
                   const size_t* counts, const size_t* displacements, muster_type type, int root);
int muster_igatherv(muster_team* team, const void* send, size_t count, void* receive,
                    const size_t* counts, const size_t* displacements, muster_type type, int root,
                    muster_request* request);

/// The same into `receive` of every rank; the same counts on all. In place, each rank's own block
/// is in `receive`.
int muster_allgatherv(muster_team* team, const void* send, size_t count, void* receive,
                      const size_t* counts, const size_t* displacements, muster_type type);
int muster_iallgatherv(muster_team* team, const void* send, size_t count, void* receive,
                       const size_t* counts, const size_t* displacements, muster_type type,
                       muster_request* request);

/// Sends block i of `send` to rank i, and receives rank i's block for this rank as block i of
/// `receive`. In place, the blocks of `receive` are replaced by those received, as long as those
/// sent; what describes `send` is ignored. With MUSTER_BYTE it is MPI's alltoallw.
int muster_alltoallv(muster_team* team, const void* send, const size_t* send_counts,
                     const size_t* send_displacements, void* receive, const size_t* receive_counts,
                     const size_t* receive_displacements, muster_type type);
int muster_ialltoallv(muster_team* team, const void* send, const size_t* send_counts,
                      const size_t* send_displacements, void* receive, const size_t* receive_counts,
                      const size_t* receive_displacements, muster_type type,
                      muster_request* request);

// ---- among neighbors: each rank exchanges blocks with these alone; all ranks of the team make the
// call

enum {
  MUSTER_NO_RANK = -1  ///< a neighbor that is not there: its block is neither read nor written
};
/// The ranks from which a rank receives, and to which it sends, in the order of its blocks. A rank
/// is among the sources of each of its destinations, as often.
typedef struct muster_neighbors {
  const int* sources;
  size_t source_count;
  const int* destinations;
  size_t destination_count;
  /// Not 0: they are pairs of opposite directions, as on a grid; what goes one way comes from the
  /// other.
  int opposite;
} muster_neighbors;

/// Sends `send`, `count` elements, to all destinations, and receives as many from each source.
int muster_neighbor_allgather(muster_team* team, const void* send, void* receive, size_t count,
                              muster_type type, const muster_neighbors* with);
int muster_ineighbor_allgather(muster_team* team, const void* send, void* receive, size_t count,
                               muster_type type, const muster_neighbors* with,
                               muster_request* request);
/// Sends block i of `send`, `count` elements, to destination i, and receives the block of source i
/// as block i of `receive`.
int muster_neighbor_alltoall(muster_team* team, const void* send, void* receive, size_t count,
                             muster_type type, const muster_neighbors* with);
int muster_ineighbor_alltoall(muster_team* team, const void* send, void* receive, size_t count,
                              muster_type type, const muster_neighbors* with,
                              muster_request* request);
/// As muster_neighbor_allgather, with blocks of any lengths in `receive`, one a source.
int muster_neighbor_allgatherv(muster_team* team, const void* send, size_t count, void* receive,
                               const size_t* counts, const size_t* displacements, muster_type type,
                               const muster_neighbors* with);
int muster_ineighbor_allgatherv(muster_team* team, const void* send, size_t count, void* receive,
                                const size_t* counts, const size_t* displacements, muster_type type,
                                const muster_neighbors* with, muster_request* request);
/// As muster_neighbor_alltoall, with blocks of any lengths, one a destination and one a source.
int muster_neighbor_alltoallv(muster_team* team, const void* send, const size_t* send_counts,
                              const size_t* send_displacements, void* receive,
                              const size_t* receive_counts, const size_t* receive_displacements,
                              muster_type type, const muster_neighbors* with);
int muster_ineighbor_alltoallv(muster_team* team, const void* send, const size_t* send_counts,
                               const size_t* send_displacements, void* receive,
                               const size_t* receive_counts, const size_t* receive_displacements,
                               muster_type type, const muster_neighbors* with,
                               muster_request* request);

#ifdef __cplusplus
}
#endif
