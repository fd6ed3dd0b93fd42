// What a program does with requests is the MPI's business, which has the shim called when it looks
// for progress. Taken are the calls that start persistent collectives, that free communicators or
// what an operation under way still needs, for the sake of speed the most usual ways to wait, and
// the texts of Muster's errors, which MPICH mixes up. All other ways to wait and to test are taken
// for MPIs that cannot be told of a request's completion while they look for progress. entries.py
// writes the MPI_ functions, which call these.
#include <mpi.h>
#include <sched.h>

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "tools/mpi/held_type.hpp"
#include "tools/mpi/next.hpp"
#include "tools/mpi/shim.hpp"

using muster::mpi::find_next;
using muster::mpi::held_type;
using muster::mpi::shim;

namespace {

std::span<const MPI_Request> as_span(const MPI_Request requests[], int count) {
  if (requests == nullptr || count < 0) return {};
  return {requests, static_cast<std::size_t>(count)};
}

/// Instead of the MPI's own waiting.
template <class Test>
int look_until(Test test) {
  while (true) {
    int found = 0;
    const int code = test(&found);
    if (code != MPI_SUCCESS || found != 0) return code;
    shim::looked_at();
    ::sched_yield();
  }
}

}  // namespace

extern "C" int PMPI_Start(MPI_Request* request) {
  static const auto beneath = find_next<decltype(&MPI_Start)>("PMPI_Start");
  const int code = beneath(request);
  if (code == MPI_SUCCESS) shim::started(*request);
  return code;
}

extern "C" int PMPI_Startall(int count, MPI_Request requests[]) {
  static const auto beneath = find_next<decltype(&MPI_Startall)>("PMPI_Startall");
  const int code = beneath(count, requests);
  if (code != MPI_SUCCESS) return code;
  for (int i = 0; i < count; ++i) shim::started(requests[i]);
  return code;
}

extern "C" int PMPI_Request_free(MPI_Request* request) {
  static const auto beneath = find_next<decltype(&MPI_Request_free)>("PMPI_Request_free");
  if (request != nullptr && shim::freed(*request)) {
    *request = MPI_REQUEST_NULL;
    return MPI_SUCCESS;
  }
  return beneath(request);
}

extern "C" int PMPI_Op_free(MPI_Op* op) {
  static const auto beneath = find_next<decltype(&MPI_Op_free)>("PMPI_Op_free");
  if (op != nullptr && *op != MPI_OP_NULL && shim::freed_operation(*op)) {
    *op = MPI_OP_NULL;
    return MPI_SUCCESS;
  }
  return beneath(op);
}

extern "C" int PMPI_Type_free(MPI_Datatype* type) {
  static const auto beneath = find_next<decltype(&PMPI_Type_free)>("PMPI_Type_free");
  if (type != nullptr && held_type::puts_off(*type)) {
    *type = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
  }
  return beneath(type);
}

/// By the MPI, of which callbacks may come that call collectives on it.
static int free_communicator(MPI_Comm* comm, int (*beneath)(MPI_Comm*)) {
  if (comm == nullptr || *comm == MPI_COMM_NULL) return beneath(comm);
  const shim::freeing going(*comm);
  return beneath(comm);
}

extern "C" int PMPI_Comm_free(MPI_Comm* comm) {
  static const auto beneath = find_next<decltype(&MPI_Comm_free)>("PMPI_Comm_free");
  return free_communicator(comm, beneath);
}

extern "C" int PMPI_Comm_disconnect(MPI_Comm* comm) {
  static const auto beneath = find_next<decltype(&MPI_Comm_disconnect)>("PMPI_Comm_disconnect");
  return free_communicator(comm, beneath);
}

extern "C" int PMPI_Wait(MPI_Request* request, MPI_Status* status) {
  static const auto beneath = find_next<decltype(&MPI_Wait)>("PMPI_Wait");
  if (request != nullptr) shim::awaited(*request);
  return beneath(request, status);
}

extern "C" int PMPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  static const auto beneath = find_next<decltype(&MPI_Waitall)>("PMPI_Waitall");
  for (int i = 0; requests != nullptr && i < count; ++i) shim::awaited(requests[i]);
  return beneath(count, requests, statuses);
}

extern "C" int PMPI_Waitany(int count, MPI_Request requests[], int* which, MPI_Status* status) {
  static const auto beneath = find_next<decltype(&MPI_Waitany)>("PMPI_Waitany");
  if (!shim::needs_looks(as_span(requests, count))) return beneath(count, requests, which, status);
  static const auto test = find_next<decltype(&MPI_Testany)>("PMPI_Testany");
  return look_until([&](int* found) { return test(count, requests, which, found, status); });
}

extern "C" int PMPI_Waitsome(int count, MPI_Request requests[], int* completed, int which[],
                             MPI_Status statuses[]) {
  static const auto beneath = find_next<decltype(&MPI_Waitsome)>("PMPI_Waitsome");
  if (!shim::needs_looks(as_span(requests, count))) {
    return beneath(count, requests, completed, which, statuses);
  }
  static const auto test = find_next<decltype(&MPI_Testsome)>("PMPI_Testsome");
  return look_until([&](int* found) {
    const int code = test(count, requests, completed, which, statuses);
    *found = *completed;
    return code;
  });
}

extern "C" int PMPI_Test(MPI_Request* request, int* completed, MPI_Status* status) {
  static const auto beneath = find_next<decltype(&MPI_Test)>("PMPI_Test");
  shim::looked_at();
  return beneath(request, completed, status);
}

extern "C" int PMPI_Testall(int count, MPI_Request requests[], int* completed,
                            MPI_Status statuses[]) {
  static const auto beneath = find_next<decltype(&MPI_Testall)>("PMPI_Testall");
  shim::looked_at();
  return beneath(count, requests, completed, statuses);
}

extern "C" int PMPI_Testany(int count, MPI_Request requests[], int* which, int* completed,
                            MPI_Status* status) {
  static const auto beneath = find_next<decltype(&MPI_Testany)>("PMPI_Testany");
  shim::looked_at();
  return beneath(count, requests, which, completed, status);
}

extern "C" int PMPI_Testsome(int count, MPI_Request requests[], int* completed, int which[],
                             MPI_Status statuses[]) {
  static const auto beneath = find_next<decltype(&MPI_Testsome)>("PMPI_Testsome");
  shim::looked_at();
  return beneath(count, requests, completed, which, statuses);
}

extern "C" int PMPI_Request_get_status(MPI_Request request, int* completed, MPI_Status* status) {
  static const auto beneath =
      find_next<decltype(&MPI_Request_get_status)>("PMPI_Request_get_status");
  shim::looked_at();
  return beneath(request, completed, status);
}

extern "C" int PMPI_Error_string(int code, char* text, int* length) {
  static const auto beneath = find_next<decltype(&MPI_Error_string)>("PMPI_Error_string");
  const std::optional<std::string> own = shim::text_of(code);
  if (!own || text == nullptr || length == nullptr) return beneath(code, text, length);
  *length = static_cast<int>(own->copy(text, MPI_MAX_ERROR_STRING - 1));
  text[*length] = '\0';
  return MPI_SUCCESS;
}
