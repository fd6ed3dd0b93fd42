#include <muster/muster.h>

#include <cstddef>
#include <memory>
#include <utility>

#include <muster/call/arguments.hpp>
#include <muster/coro/task.hpp>
#include <muster/progress/engine.hpp>

#include "tools/c/errors.hpp"
#include "tools/c/form.hpp"
#include "tools/c/job.hpp"
#include "tools/c/operation.hpp"
#include "tools/c/team.hpp"

namespace {

using muster::collective;
using muster::c::form;
using muster::c::visit;

/// Which collective it is, and what fills its form in.
template <class Fill>
struct call {
  collective what;
  Fill fill;

  const char* name() const noexcept { return muster::name(what).data(); }
};
template <class Fill>
call(collective, Fill) -> call<Fill>;

/// Without a future, which would cost another coroutine.
void run_to_end(muster::engine& by, muster::task<> work) {
  work.begin({&by, &by.scope()});
  if (!work.done()) by.drive_until([&work] { return work.done(); });
  work.take();
}

template <class Fill>
int run(muster_team* on, const call<Fill>& by) {
  return muster::c::guarded(by.name(), [&] {
    muster_team& team = muster::c::required_team(by.name(), on);
    const visit alone(team.in(), by.name());
    team.drop_ended();
    form made(team, by.what);
    by.fill(made);
    run_to_end(team.in().engine(), made.make());
  });
}

template <class Fill>
int begin(muster_team* on, const call<Fill>& by, muster_request* request) {
  return muster::c::guarded(by.name(), [&] {
    muster_request& to = muster::c::required(by.name(), "request", request);
    to = nullptr;
    muster_team& team = muster::c::required_team(by.name(), on);
    const visit alone(team.in(), by.name());
    form made(team, by.what);
    by.fill(made);
    auto pending = std::make_unique<muster_operation>(team, by.name());
    pending->uses(made.op());
    pending->begin(made.make());
    to = pending.release();
  });
}

auto barrier() {
  return call{collective::barrier, [](form&) {}};
}

auto bcast(void* buffer, size_t count, muster_type type, int root) {
  return call{collective::bcast, [=](form& of) {
                of.elements(count, type);
                of.root(root);
                of.buffer(buffer);
              }};
}

auto reduce(const void* send, void* receive, size_t count, muster_type type, muster_op op,
            int root) {
  return call{collective::reduce, [=](form& of) {
                of.combined(count, type, op);
                of.root(root);
                of.buffers(send, receive);
              }};
}

/// Without a root.
auto combined(collective what, const void* send, void* receive, size_t count, muster_type type,
              muster_op op) {
  return call{what, [=](form& of) {
                of.combined(count, type, op);
                of.buffers(send, receive);
              }};
}

auto reduce_scatter(const void* send, void* receive, const size_t* counts, muster_type type,
                    muster_op op) {
  return call{collective::reduce_scatter, [=](form& of) {
                of.combined(0, type, op);
                of.send_layout("counts", counts, nullptr);
                of.count_own_block();
                of.buffers(send, receive);
              }};
}

/// A block of `count` elements for each rank, or from each: with a root.
auto rooted(collective what, const void* send, void* receive, size_t count, muster_type type,
            int root) {
  return call{what, [=](form& of) {
                of.elements(count, type);
                of.root(root);
                of.buffers(send, receive);
              }};
}

/// The same without.
auto moved(collective what, const void* send, void* receive, size_t count, muster_type type) {
  return call{what, [=](form& of) {
                of.elements(count, type);
                of.buffers(send, receive);
              }};
}

auto scatterv(const void* send, const size_t* counts, const size_t* displacements, void* receive,
              size_t count, muster_type type, int root) {
  return call{collective::scatterv, [=](form& of) {
                of.elements(count, type);
                of.root(root);
                if (of.is_at_root()) of.send_layout("counts", counts, displacements);
                of.buffers(send, receive);
              }};
}

auto gatherv(const void* send, size_t count, void* receive, const size_t* counts,
             const size_t* displacements, muster_type type, int root) {
  return call{collective::gatherv, [=](form& of) {
                of.elements(count, type);
                of.root(root);
                if (of.is_at_root()) of.receive_layout("counts", counts, displacements);
                of.buffers(send, receive);
              }};
}

auto allgatherv(const void* send, size_t count, void* receive, const size_t* counts,
                const size_t* displacements, muster_type type) {
  return call{collective::allgatherv, [=](form& of) {
                of.elements(count, type);
                of.receive_layout("counts", counts, displacements);
                of.buffers(send, receive);
              }};
}

auto alltoallv(const void* send, const size_t* send_counts, const size_t* send_displacements,
               void* receive, const size_t* receive_counts, const size_t* receive_displacements,
               muster_type type) {
  return call{collective::alltoallv, [=](form& of) {
                of.elements(0, type);
                of.receive_layout("receive_counts", receive_counts, receive_displacements);
                if (send != MUSTER_IN_PLACE) {
                  of.send_layout("send_counts", send_counts, send_displacements);
                }
                of.buffers(send, receive);
              }};
}

/// With neighbors, and blocks of one length.
auto exchanged(collective what, const void* send, void* receive, size_t count, muster_type type,
               const muster_neighbors* with) {
  return call{what, [=](form& of) {
                of.elements(count, type);
                of.neighbors(with);
                of.buffers(send, receive);
              }};
}

auto neighbor_allgatherv(const void* send, size_t count, void* receive, const size_t* counts,
                         const size_t* displacements, muster_type type,
                         const muster_neighbors* with) {
  return call{collective::neighbor_allgatherv, [=](form& of) {
                of.elements(count, type);
                of.neighbors(with);
                of.receive_layout("counts", counts, displacements);
                of.buffers(send, receive);
              }};
}

auto neighbor_alltoallv(const void* send, const size_t* send_counts,
                        const size_t* send_displacements, void* receive,
                        const size_t* receive_counts, const size_t* receive_displacements,
                        muster_type type, const muster_neighbors* with) {
  return call{collective::neighbor_alltoallv, [=](form& of) {
                of.elements(0, type);
                of.neighbors(with);
                of.send_layout("send_counts", send_counts, send_displacements);
                of.receive_layout("receive_counts", receive_counts, receive_displacements);
                of.buffers(send, receive);
              }};
}

}  // namespace

int muster_barrier(muster_team* team) { return run(team, barrier()); }
int muster_ibarrier(muster_team* team, muster_request* request) {
  return begin(team, barrier(), request);
}

int muster_bcast(muster_team* team, void* buffer, size_t count, muster_type type, int root) {
  return run(team, bcast(buffer, count, type, root));
}
int muster_ibcast(muster_team* team, void* buffer, size_t count, muster_type type, int root,
                  muster_request* request) {
  return begin(team, bcast(buffer, count, type, root), request);
}

int muster_reduce(muster_team* team, const void* send, void* receive, size_t count,
                  muster_type type, muster_op op, int root) {
  return run(team, reduce(send, receive, count, type, op, root));
}
int muster_ireduce(muster_team* team, const void* send, void* receive, size_t count,
                   muster_type type, muster_op op, int root, muster_request* request) {
  return begin(team, reduce(send, receive, count, type, op, root), request);
}

int muster_allreduce(muster_team* team, const void* send, void* receive, size_t count,
                     muster_type type, muster_op op) {
  return run(team, combined(collective::allreduce, send, receive, count, type, op));
}
int muster_iallreduce(muster_team* team, const void* send, void* receive, size_t count,
                      muster_type type, muster_op op, muster_request* request) {
  return begin(team, combined(collective::allreduce, send, receive, count, type, op), request);
}

int muster_scan(muster_team* team, const void* send, void* receive, size_t count, muster_type type,
                muster_op op) {
  return run(team, combined(collective::scan, send, receive, count, type, op));
}
int muster_iscan(muster_team* team, const void* send, void* receive, size_t count, muster_type type,
                 muster_op op, muster_request* request) {
  return begin(team, combined(collective::scan, send, receive, count, type, op), request);
}

int muster_exscan(muster_team* team, const void* send, void* receive, size_t count,
                  muster_type type, muster_op op) {
  return run(team, combined(collective::exscan, send, receive, count, type, op));
}
int muster_iexscan(muster_team* team, const void* send, void* receive, size_t count,
                   muster_type type, muster_op op, muster_request* request) {
  return begin(team, combined(collective::exscan, send, receive, count, type, op), request);
}

int muster_reduce_scatter_block(muster_team* team, const void* send, void* receive, size_t count,
                                muster_type type, muster_op op) {
  return run(team, combined(collective::reduce_scatter_block, send, receive, count, type, op));
}
int muster_ireduce_scatter_block(muster_team* team, const void* send, void* receive, size_t count,
                                 muster_type type, muster_op op, muster_request* request) {
  return begin(team, combined(collective::reduce_scatter_block, send, receive, count, type, op),
               request);
}

int muster_reduce_scatter(muster_team* team, const void* send, void* receive, const size_t* counts,
                          muster_type type, muster_op op) {
  return run(team, reduce_scatter(send, receive, counts, type, op));
}
int muster_ireduce_scatter(muster_team* team, const void* send, void* receive, const size_t* counts,
                           muster_type type, muster_op op, muster_request* request) {
  return begin(team, reduce_scatter(send, receive, counts, type, op), request);
}

int muster_scatter(muster_team* team, const void* send, void* receive, size_t count,
                   muster_type type, int root) {
  return run(team, rooted(collective::scatter, send, receive, count, type, root));
}
int muster_iscatter(muster_team* team, const void* send, void* receive, size_t count,
                    muster_type type, int root, muster_request* request) {
  return begin(team, rooted(collective::scatter, send, receive, count, type, root), request);
}

int muster_gather(muster_team* team, const void* send, void* receive, size_t count,
                  muster_type type, int root) {
  return run(team, rooted(collective::gather, send, receive, count, type, root));
}
int muster_igather(muster_team* team, const void* send, void* receive, size_t count,
                   muster_type type, int root, muster_request* request) {
  return begin(team, rooted(collective::gather, send, receive, count, type, root), request);
}

int muster_allgather(muster_team* team, const void* send, void* receive, size_t count,
                     muster_type type) {
  return run(team, moved(collective::allgather, send, receive, count, type));
}
int muster_iallgather(muster_team* team, const void* send, void* receive, size_t count,
                      muster_type type, muster_request* request) {
  return begin(team, moved(collective::allgather, send, receive, count, type), request);
}

int muster_alltoall(muster_team* team, const void* send, void* receive, size_t count,
                    muster_type type) {
  return run(team, moved(collective::alltoall, send, receive, count, type));
}
int muster_ialltoall(muster_team* team, const void* send, void* receive, size_t count,
                     muster_type type, muster_request* request) {
  return begin(team, moved(collective::alltoall, send, receive, count, type), request);
}

int muster_scatterv(muster_team* team, const void* send, const size_t* counts,
                    const size_t* displacements, void* receive, size_t count, muster_type type,
                    int root) {
  return run(team, scatterv(send, counts, displacements, receive, count, type, root));
}
int muster_iscatterv(muster_team* team, const void* send, const size_t* counts,
                     const size_t* displacements, void* receive, size_t count, muster_type type,
                     int root, muster_request* request) {
  return begin(team, scatterv(send, counts, displacements, receive, count, type, root), request);
}

int muster_gatherv(muster_team* team, const void* send, size_t count, void* receive,
                   const size_t* counts, const size_t* displacements, muster_type type, int root) {
  return run(team, gatherv(send, count, receive, counts, displacements, type, root));
}
int muster_igatherv(muster_team* team, const void* send, size_t count, void* receive,
                    const size_t* counts, const size_t* displacements, muster_type type, int root,
                    muster_request* request) {
  return begin(team, gatherv(send, count, receive, counts, displacements, type, root), request);
}

int muster_allgatherv(muster_team* team, const void* send, size_t count, void* receive,
                      const size_t* counts, const size_t* displacements, muster_type type) {
  return run(team, allgatherv(send, count, receive, counts, displacements, type));
}
int muster_iallgatherv(muster_team* team, const void* send, size_t count, void* receive,
                       const size_t* counts, const size_t* displacements, muster_type type,
                       muster_request* request) {
  return begin(team, allgatherv(send, count, receive, counts, displacements, type), request);
}

int muster_alltoallv(muster_team* team, const void* send, const size_t* send_counts,
                     const size_t* send_displacements, void* receive, const size_t* receive_counts,
                     const size_t* receive_displacements, muster_type type) {
  return run(team, alltoallv(send, send_counts, send_displacements, receive, receive_counts,
                             receive_displacements, type));
}
int muster_ialltoallv(muster_team* team, const void* send, const size_t* send_counts,
                      const size_t* send_displacements, void* receive, const size_t* receive_counts,
                      const size_t* receive_displacements, muster_type type,
                      muster_request* request) {
  return begin(team,
               alltoallv(send, send_counts, send_displacements, receive, receive_counts,
                         receive_displacements, type),
               request);
}

int muster_neighbor_allgather(muster_team* team, const void* send, void* receive, size_t count,
                              muster_type type, const muster_neighbors* with) {
  return run(team, exchanged(collective::neighbor_allgather, send, receive, count, type, with));
}
int muster_ineighbor_allgather(muster_team* team, const void* send, void* receive, size_t count,
                               muster_type type, const muster_neighbors* with,
                               muster_request* request) {
  return begin(team, exchanged(collective::neighbor_allgather, send, receive, count, type, with),
               request);
}

int muster_neighbor_alltoall(muster_team* team, const void* send, void* receive, size_t count,
                             muster_type type, const muster_neighbors* with) {
  return run(team, exchanged(collective::neighbor_alltoall, send, receive, count, type, with));
}
int muster_ineighbor_alltoall(muster_team* team, const void* send, void* receive, size_t count,
                              muster_type type, const muster_neighbors* with,
                              muster_request* request) {
  return begin(team, exchanged(collective::neighbor_alltoall, send, receive, count, type, with),
               request);
}

int muster_neighbor_allgatherv(muster_team* team, const void* send, size_t count, void* receive,
                               const size_t* counts, const size_t* displacements, muster_type type,
                               const muster_neighbors* with) {
  return run(team, neighbor_allgatherv(send, count, receive, counts, displacements, type, with));
}
int muster_ineighbor_allgatherv(muster_team* team, const void* send, size_t count, void* receive,
                                const size_t* counts, const size_t* displacements, muster_type type,
                                const muster_neighbors* with, muster_request* request) {
  return begin(team, neighbor_allgatherv(send, count, receive, counts, displacements, type, with),
               request);
}

int muster_neighbor_alltoallv(muster_team* team, const void* send, const size_t* send_counts,
                              const size_t* send_displacements, void* receive,
                              const size_t* receive_counts, const size_t* receive_displacements,
                              muster_type type, const muster_neighbors* with) {
  return run(team, neighbor_alltoallv(send, send_counts, send_displacements, receive,
                                      receive_counts, receive_displacements, type, with));
}
int muster_ineighbor_alltoallv(muster_team* team, const void* send, const size_t* send_counts,
                               const size_t* send_displacements, void* receive,
                               const size_t* receive_counts, const size_t* receive_displacements,
                               muster_type type, const muster_neighbors* with,
                               muster_request* request) {
  return begin(team,
               neighbor_alltoallv(send, send_counts, send_displacements, receive, receive_counts,
                                  receive_displacements, type, with),
               request);
}
