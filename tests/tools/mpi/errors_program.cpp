// What a wrong call returns, and whom it tells. Arguments: `alone` without the shim; to end by the
// default error handler, `fatal`, or `lengths`, which differ between ranks.

#include <algorithm>
#include <csetjmp>
#include <cstddef>
#include <functional>
#include <numeric>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tests/tools/mpi/functions.hpp"
#include "tests/tools/mpi/job.hpp"
#include "tests/tools/mpi/outcome.hpp"

namespace {

using namespace muster::testing;

/// Calls that are wrong on all ranks in the same way.
struct wrong_call {
  const char* name;
  const char* function;
  int error_class;
  bool only_shim;  ///< the MPIs say something else, or nothing
  std::function<int(MPI_Comm)> call;
};

std::vector<wrong_call> wrong_calls() {
  static int one = 1;
  static std::vector<int> many(64);
  static MPI_Request request = MPI_REQUEST_NULL;
  const auto to = [] { return many.data(); };
  return {
      {"a root that is none", "mpi_bcast", MPI_ERR_ROOT, false,
       [](MPI_Comm on) { return MPI_Bcast(&one, 1, MPI_INT, 1000, on); }},
      {"a negative root", "mpi_reduce", MPI_ERR_ROOT, false,
       [=](MPI_Comm on) { return MPI_Reduce(&one, to(), 1, MPI_INT, MPI_SUM, -77, on); }},
      {"a negative count", "mpi_allreduce", MPI_ERR_COUNT, false,
       [=](MPI_Comm on) { return MPI_Allreduce(&one, to(), -1, MPI_INT, MPI_SUM, on); }},
      {"a negative count", "mpi_ialltoall", MPI_ERR_COUNT, false,
       [=](MPI_Comm on) {
         return MPI_Ialltoall(to(), -1, MPI_INT, to() + 32, -1, MPI_INT, on, &request);
       }},
      {"no type", "mpi_allgather", MPI_ERR_TYPE, false,
       [=](MPI_Comm on) {
         return MPI_Allgather(&one, 1, MPI_DATATYPE_NULL, to(), 1, MPI_INT, on);
       }},
      {"no type", "mpi_ibcast", MPI_ERR_TYPE, false,
       [](MPI_Comm on) { return MPI_Ibcast(&one, 1, MPI_DATATYPE_NULL, 0, on, &request); }},
      {"no operation", "mpi_allreduce", MPI_ERR_OP, false,
       [=](MPI_Comm on) { return MPI_Allreduce(&one, to(), 1, MPI_INT, MPI_OP_NULL, on); }},
      {"no operation", "mpi_iscan", MPI_ERR_OP, false,
       [=](MPI_Comm on) { return MPI_Iscan(&one, to(), 1, MPI_INT, MPI_OP_NULL, on, &request); }},
      {"no buffer", "mpi_alltoall", MPI_ERR_BUFFER, true,
       [=](MPI_Comm on) { return MPI_Alltoall(nullptr, 1, MPI_INT, to(), 1, MPI_INT, on); }},
      {"no counts", "mpi_alltoallv", MPI_ERR_ARG, true,
       [=](MPI_Comm on) {
         return MPI_Alltoallv(to(), nullptr, to(), MPI_INT, to(), to(), to(), MPI_INT, on);
       }},
      {"no displacements", "mpi_alltoallv", MPI_ERR_ARG, true,
       [=](MPI_Comm on) {
         static const std::vector<int> ones(64, 1);
         return MPI_Alltoallv(to(), ones.data(), nullptr, MPI_INT, to(), ones.data(), to(), MPI_INT,
                              on);
       }},
      {"no counts", "mpi_reduce_scatter", MPI_ERR_ARG, true,
       [=](MPI_Comm on) {
         return MPI_Reduce_scatter(to(), to() + 32, nullptr, MPI_INT, MPI_SUM, on);
       }},
      {"blocks of two lengths", "mpi_allgather", MPI_ERR_TRUNCATE, true,
       [=](MPI_Comm on) { return MPI_Allgather(&one, 2, MPI_SHORT, to(), 1, MPI_SHORT, on); }},
  };
}

void check_works(job& mine, MPI_Comm on) {
  int sum = 1;
  const int code = MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, on);
  mine.check_equal(code, MPI_SUCCESS, "the code of a right call after wrong ones");
  mine.check_equal(sum, mine.size(), "the sum of ones after wrong calls");
}

void check_returned(job& mine, MPI_Comm on) {
  for (const wrong_call& one : wrong_calls()) {
    if (one.only_shim && mine.has("alone")) continue;
    mine.now(std::string(one.function) + " with " + one.name);
    const outcome of = outcome_of(one.call(on));
    mine.check_equal(of.error_class, one.error_class, "the error class");
    if (!mine.has("alone")) {
      mine.check(of.says(one.function), "'", of.text, "' does not name ", one.function);
    }
  }
  check_works(mine, on);
}

/// Who sends nothing may give no type for it: each rank sends to the next one alone.
void check_no_types(job& mine, MPI_Comm on) {
  if (mine.has("alone")) return;  // Open MPI wants types
  mine.now("no types where nothing is sent");
  const auto size = static_cast<std::size_t>(mine.size());
  const auto rank = static_cast<std::size_t>(mine.rank());
  const std::size_t next = (rank + 1) % size;
  const std::size_t before = (rank + size - 1) % size;
  std::vector<int> sends(size);
  std::vector<int> receives(size);
  const std::vector<int> at(size);
  std::vector<MPI_Datatype> sent(size, MPI_DATATYPE_NULL);
  std::vector<MPI_Datatype> received(size, MPI_DATATYPE_NULL);
  sends[next] = receives[before] = 1;
  sent[next] = received[before] = MPI_INT;
  for (const bool blocks : {true, false}) {
    const int word = mine.rank();
    int came = -1;
    if (blocks) {
      MPI_Alltoallw(&word, sends.data(), at.data(), sent.data(), &came, receives.data(), at.data(),
                    received.data(), on);
    } else {
      MPI_Request request = MPI_REQUEST_NULL;
      MPI_Ialltoallw(&word, sends.data(), at.data(), sent.data(), &came, receives.data(), at.data(),
                     received.data(), on, &request);
      MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    mine.check_equal(came, static_cast<int>(before), "the word of the rank before");
  }
}

/// What the MPI says of a result that is to replace what it is made of.
int class_of_alias() {
  int one = 1;
  return outcome_of(MPI_Reduce_local(&one, &one, 1, MPI_INT, MPI_SUM)).error_class;
}

/// Calls whose own data lies where it is to be received: refused where the MPI refuses them.
void check_aliases(job& mine, MPI_Comm on) {
  const auto ranks = static_cast<std::size_t>(mine.size());
  const std::vector<int> ones(ranks, 1);
  std::vector<int> places(ranks);
  std::iota(places.begin(), places.end(), 0);
  std::vector<int> data(ranks);
  std::vector<int> apart(ranks);
  int* const own = &data[static_cast<std::size_t>(mine.rank())];
  const std::vector<std::pair<const char*, std::function<int(int*)>>> calls = {
      {"mpi_allreduce",
       [&](int* to) { return MPI_Allreduce(data.data(), to, 1, MPI_INT, MPI_SUM, on); }},
      {"mpi_exscan", [&](int* to) { return MPI_Exscan(data.data(), to, 1, MPI_INT, MPI_SUM, on); }},
      {"mpi_alltoall",
       [&](int* to) { return MPI_Alltoall(data.data(), 1, MPI_INT, to, 1, MPI_INT, on); }},
      {"mpi_allgather",
       [&](int* to) { return MPI_Allgather(own, 1, MPI_INT, to, 1, MPI_INT, on); }},
      {"mpi_allgatherv",
       [&](int* to) {
         return MPI_Allgatherv(own, 1, MPI_INT, to, ones.data(), places.data(), MPI_INT, on);
       }},
  };
  for (const auto& [function, call] : calls) {
    mine.now(std::string(function) + " with one buffer for both");
    // Once more: what a call was found to be is kept.
    for (int i = 0; i < 2; ++i) {
      mine.check_equal(call(apart.data()), MPI_SUCCESS, "the code with two buffers");
      const outcome of = outcome_of(call(data.data()));
      mine.check_equal(of.error_class, class_of_alias(), "the error class");
      mine.check(of.error_class == MPI_SUCCESS || mine.has("alone") || of.says(function), "'",
                 of.text, "' does not name ", function);
    }
  }
  check_works(mine, on);
}

int& handled() {
  static int times = 0;
  return times;
}

void count_error(MPI_Comm*, int*, ...) { ++handled(); }

/// A communicator's error handler, until the scope ends; then errors are returned again.
class handled_by {
public:
  handled_by(MPI_Comm on, MPI_Comm_errhandler_function* own) : on_(on) {
    MPI_Errhandler handler = MPI_ERRHANDLER_NULL;
    MPI_Comm_create_errhandler(own, &handler);
    MPI_Comm_set_errhandler(on_, handler);
    MPI_Errhandler_free(&handler);
  }
  ~handled_by() { MPI_Comm_set_errhandler(on_, MPI_ERRORS_RETURN); }
  handled_by(const handled_by&) = delete;
  handled_by& operator=(const handled_by&) = delete;

private:
  MPI_Comm on_;
};

void check_own_handler(job& mine, MPI_Comm on) {
  mine.now("an error handler of the program's own");
  const handled_by own(on, count_error);
  int one = 1;
  MPI_Bcast(&one, 1, MPI_INT, 1000, on);
  mine.check_equal(handled(), 1, "the number of errors that it was told of");
}

std::jmp_buf& place_to_go_on() {
  static std::jmp_buf place;
  return place;
}

[[noreturn]] void jump(MPI_Comm*, int*, ...) { std::longjmp(place_to_go_on(), 1); }

/// As programs in C may: the call never returns.
void check_jumping_handler(job& mine, MPI_Comm on) {
  mine.now("an error handler that jumps out of the call");
  const handled_by own(on, jump);
  int one = 1;
  if (setjmp(place_to_go_on()) == 0) {
    MPI_Bcast(&one, 1, MPI_INT, 1000, on);
    mine.check(false, "the call returned");
  }
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(on, &request);
  for (int completed = 0; completed == 0;) MPI_Test(&request, &completed, MPI_STATUS_IGNORE);
}

/// Ranks that do not call the same all learn of it, and of both calls.
void check_mismatch(job& mine, const char* name, const char* first, const char* second,
                    const std::function<int(MPI_Comm)>& call) {
  mine.now(name);
  MPI_Comm on = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &on);
  MPI_Comm_set_errhandler(on, MPI_ERRORS_RETURN);
  int code = call(on);
  // A root may have gone on before the others came; then the next call tells it.
  if (code == MPI_SUCCESS) code = MPI_Barrier(on);
  const outcome of = outcome_of(code);
  mine.check(of.error_class != MPI_SUCCESS, "no error");
  mine.check(of.says(first) && of.says(second), "'", of.text, "' does not name ", first, " and ",
             second);
  MPI_Comm_free(&on);
  check_works(mine, MPI_COMM_WORLD);
}

void check_mismatches(job& mine) {
  const bool is_first = mine.rank() == 0;
  static std::vector<int> data(100);
  static std::vector<int> more(3200);
  check_mismatch(mine, "broadcast against barrier", "bcast", "barrier", [=](MPI_Comm on) {
    return is_first ? MPI_Bcast(data.data(), 100, MPI_INT, 0, on) : MPI_Barrier(on);
  });
  check_mismatch(mine, "roots that differ", "root 0", "root 1", [=](MPI_Comm on) {
    return MPI_Bcast(data.data(), 100, MPI_INT, is_first ? 0 : 1, on);
  });
  check_mismatch(mine, "operations that differ", "sum", "max", [=](MPI_Comm on) {
    return MPI_Allreduce(data.data(), more.data(), 10, MPI_INT, is_first ? MPI_SUM : MPI_MAX, on);
  });
  check_mismatch(mine, "calls that came before", "bcast", "allreduce", [=](MPI_Comm on) {
    const auto give = [on] { return MPI_Bcast(data.data(), 1, MPI_INT, 0, on); };
    const auto add = [on] {
      return MPI_Allreduce(data.data(), more.data(), 1, MPI_INT, MPI_SUM, on);
    };
    for (int i = 0; i < 3; ++i) {
      give();
      add();
    }
    return is_first ? add() : give();
  });
  check_mismatch(mine, "nonblocking exchange against sum", "alltoall", "allreduce",
                 [=](MPI_Comm on) {
                   MPI_Request one = MPI_REQUEST_NULL;
                   if (is_first) {
                     MPI_Ialltoall(data.data(), 1, MPI_INT, more.data(), 1, MPI_INT, on, &one);
                   } else {
                     MPI_Iallreduce(data.data(), more.data(), 1, MPI_INT, MPI_SUM, on, &one);
                   }
                   return MPI_Wait(&one, MPI_STATUS_IGNORE);
                 });
}

/// Persistent ones that do not fit each other are named, too, to the error handler; the rest of the
/// communicator goes on.
void check_persistent_mismatch(job& mine) {
  mine.now("persistent broadcast against persistent sum");
  MPI_Comm on = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &on);
  keep_errors(on);
  std::vector<int> data(100);
  int sum = 0;
  MPI_Request right = MPI_REQUEST_NULL;
  MPI_Request wrong = MPI_REQUEST_NULL;
  MPI_Allreduce_init(data.data(), &sum, 1, MPI_INT, MPI_SUM, on, MPI_INFO_NULL, &right);
  if (mine.rank() == 0) {
    MPI_Allgather_init(data.data(), 1, MPI_INT, data.data() + 50, 1, MPI_INT, on, MPI_INFO_NULL,
                       &wrong);
  } else {
    MPI_Barrier_init(on, MPI_INFO_NULL, &wrong);
  }
  told() = {};
  for (int turn = 0; turn < 2; ++turn) {
    MPI_Start(&wrong);
    MPI_Wait(&wrong, MPI_STATUS_IGNORE);
    mine.check(told().says("allgather") && told().says("barrier"), "'", told().text,
               "' does not name allgather and barrier");
  }
  told() = {};
  data[0] = 1;
  MPI_Start(&right);
  MPI_Wait(&right, MPI_STATUS_IGNORE);
  mine.check_equal(sum, mine.size(), "the sum of another persistent operation");
  mine.check_equal(MPI_Barrier(on), MPI_SUCCESS, "the code of the communicator's barrier");
  mine.check_equal(told().error_class, MPI_SUCCESS, "the class of an error that there was not");
  MPI_Request_free(&right);
  MPI_Request_free(&wrong);
  MPI_Comm_free(&on);
}

}  // namespace

int main(int argc, char** argv) {
  job mine(argc, argv);
  if (mine.has("fatal")) {
    int one = 1;
    MPI_Bcast(&one, 1, MPI_INT, 1000, MPI_COMM_WORLD);
    return 0;  // not reached
  }
  if (mine.has("lengths")) {
    std::vector<int> many(1000);
    MPI_Bcast(many.data(), mine.rank() == 0 ? 1000 : 1, MPI_INT, 1, MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, many.data(), 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return 0;  // not reached
  }
  MPI_Comm on = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &on);
  for (const MPI_Comm one : {MPI_COMM_WORLD, on, MPI_COMM_SELF}) {
    MPI_Comm_set_errhandler(one, MPI_ERRORS_RETURN);
  }
  check_returned(mine, MPI_COMM_WORLD);
  check_returned(mine, on);
  check_aliases(mine, on);
  check_no_types(mine, on);
  check_own_handler(mine, on);
  check_jumping_handler(mine, on);
  check_works(mine, on);
  MPI_Comm_free(&on);
  if (mine.size() > 1 && !mine.has("alone")) {
    check_mismatches(mine);
    check_persistent_mismatch(mine);
  }
  return mine.finish();
}
