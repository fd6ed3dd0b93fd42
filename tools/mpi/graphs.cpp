// Where a program makes a communicator that has a graph. entries.py writes the MPI_ functions,
// which call these.
#include <mpi.h>

#include "tools/mpi/next.hpp"
#include "tools/mpi/shim.hpp"

using muster::mpi::find_next;
using muster::mpi::shim;

extern "C" int PMPI_Graph_create(MPI_Comm old, int nodes, const int index[], const int edges[],
                                 int reorder, MPI_Comm* made) {
  static const auto beneath = find_next<decltype(&MPI_Graph_create)>("PMPI_Graph_create");
  const int code = beneath(old, nodes, index, edges, reorder, made);
  if (code == MPI_SUCCESS) shim::graph_made(*made);
  return code;
}

extern "C" int PMPI_Dist_graph_create(MPI_Comm old, int nodes, const int sources[],
                                      const int degrees[], const int destinations[],
                                      const int weights[], MPI_Info info, int reorder,
                                      MPI_Comm* made) {
  static const auto beneath = find_next<decltype(&MPI_Dist_graph_create)>("PMPI_Dist_graph_create");
  const int code =
      beneath(old, nodes, sources, degrees, destinations, weights, info, reorder, made);
  if (code == MPI_SUCCESS) shim::graph_made(*made);
  return code;
}

extern "C" int PMPI_Dist_graph_create_adjacent(MPI_Comm old, int indegree, const int sources[],
                                               const int source_weights[], int outdegree,
                                               const int destinations[],
                                               const int destination_weights[], MPI_Info info,
                                               int reorder, MPI_Comm* made) {
  static const auto beneath =
      find_next<decltype(&MPI_Dist_graph_create_adjacent)>("PMPI_Dist_graph_create_adjacent");
  const int code = beneath(old, indegree, sources, source_weights, outdegree, destinations,
                           destination_weights, info, reorder, made);
  if (code == MPI_SUCCESS) shim::graph_made(*made);
  return code;
}
