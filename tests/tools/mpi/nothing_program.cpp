// Calls that move nothing: rank 0 makes them before any other rank does, and is not held up.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "tests/tools/mpi/functions.hpp"
#include "tests/tools/mpi/job.hpp"

namespace {

using namespace muster::testing;
using mpi = functions<int>;

/// Blocking, and begun and waited for.
template <class Forms, class... Arguments>
void make(const Forms& of, Arguments... arguments) {
  of.blocking(arguments...);
  MPI_Request request = MPI_REQUEST_NULL;
  of.nonblocking(arguments..., &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

struct named_call {
  std::string name;
  std::function<void()> make;
};

/// All in which every rank knows that none has anything, from or to the last rank.
std::vector<named_call> empty_calls(const job& mine) {
  static int places[2] = {};
  static std::vector<int> none;
  none.assign(static_cast<std::size_t>(mine.size()), 0);
  const MPI_Comm on = MPI_COMM_WORLD;
  int* const send = &places[0];
  int* const receive = &places[1];
  const int root = mine.size() - 1;
  return {
      {"bcast", [=] { make(mpi::bcast, send, 0, MPI_INT, root, on); }},
      {"reduce", [=] { make(mpi::reduce, send, receive, 0, MPI_INT, MPI_SUM, root, on); }},
      {"allreduce", [=] { make(mpi::allreduce, send, receive, 0, MPI_INT, MPI_SUM, on); }},
      {"scan", [=] { make(mpi::scan, send, receive, 0, MPI_INT, MPI_SUM, on); }},
      {"exscan", [=] { make(mpi::exscan, send, receive, 0, MPI_INT, MPI_SUM, on); }},
      {"reduce_scatter_block",
       [=] { make(mpi::reduce_scatter_block, send, receive, 0, MPI_INT, MPI_SUM, on); }},
      {"reduce_scatter",
       [=] { make(mpi::reduce_scatter, send, receive, none.data(), MPI_INT, MPI_SUM, on); }},
      {"allgather", [=] { make(mpi::allgather, send, 0, MPI_INT, receive, 0, MPI_INT, on); }},
      {"alltoall", [=] { make(mpi::alltoall, send, 0, MPI_INT, receive, 0, MPI_INT, on); }},
      {"scatter", [=] { make(mpi::scatter, send, 0, MPI_INT, receive, 0, MPI_INT, root, on); }},
      {"gather", [=] { make(mpi::gather, send, 0, MPI_INT, receive, 0, MPI_INT, root, on); }},
      {"allgatherv",
       [=] {
         make(mpi::allgatherv, send, 0, MPI_INT, receive, none.data(), none.data(), MPI_INT, on);
       }},
  };
}

void be_ahead(job& mine, const named_call& call) {
  mine.now(call.name);
  constexpr int times = 5;
  if (mine.rank() != 0) MPI_Recv(nullptr, 0, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < times; ++i) call.make();
  for (int to = 1; mine.rank() == 0 && to < mine.size(); ++to) {
    MPI_Send(nullptr, 0, MPI_INT, to, 0, MPI_COMM_WORLD);
  }
  const int one = 1;
  int ranks = 0;
  MPI_Allreduce(&one, &ranks, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  mine.check_equal(ranks, mine.size(), "ranks after ", call.name);
}

}  // namespace

int main(int argc, char** argv) {
  job mine(argc, argv);
  for (const named_call& call : empty_calls(mine)) be_ahead(mine, call);
  return mine.finish();
}
