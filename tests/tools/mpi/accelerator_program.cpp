// Buffers in an accelerator's memory: calls that are written alike with buffers here and there,
// memory that both can touch, copies that the driver refuses. The program "collectives" has the
// rest. Arguments: `driver=PATH` of a stand-in, `fatal` to end by a refused copy.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <muster/base/random.hpp>

#include "tests/tools/mpi/accelerator.hpp"
#include "tests/tools/mpi/functions.hpp"
#include "tests/tools/mpi/job.hpp"
#include "tests/tools/mpi/outcome.hpp"

namespace {

using namespace muster::testing;
using mpi = functions<int>;

/// Ints of one memory or the other.
class numbers {
public:
  explicit numbers(std::size_t count) : near_(count), far_(count * sizeof(int)) {}

  std::vector<int>& near() { return near_; }
  void* place() { return far_.place(near_.data(), 0); }
  void hand_over() { far_.upload(near_.data()); }
  void take_back() { far_.download(near_.data()); }

private:
  std::vector<int> near_;
  far_copy far_;
};

/// A call, and what it has to bring.
class exchange {
public:
  explicit exchange(job& mine, int number)
      : job_(mine), number_(number), sent_(all()), received_(all()) {
    for (std::size_t i = 0; i < all(); ++i) sent_.near()[i] = value(mine.rank(), i);
    std::ranges::fill(received_.near(), -1);
    sent_.hand_over();
    received_.hand_over();
  }

  void call() {
    switch (kind()) {
      case 0:
        mpi::alltoall.blocking(sent_.place(), length, MPI_INT, received_.place(), length, MPI_INT,
                               MPI_COMM_WORLD);
        break;
      case 1:
        mpi::allreduce.blocking(sent_.place(), received_.place(), length, MPI_INT, MPI_SUM,
                                MPI_COMM_WORLD);
        break;
      default:
        mpi::bcast.blocking(buffer(), length, MPI_INT, 0, MPI_COMM_WORLD);
    }
  }
  MPI_Request start() {
    MPI_Request request = MPI_REQUEST_NULL;
    switch (kind()) {
      case 0:
        mpi::alltoall.nonblocking(sent_.place(), length, MPI_INT, received_.place(), length,
                                  MPI_INT, MPI_COMM_WORLD, &request);
        break;
      case 1:
        mpi::allreduce.nonblocking(sent_.place(), received_.place(), length, MPI_INT, MPI_SUM,
                                   MPI_COMM_WORLD, &request);
        break;
      default:
        mpi::bcast.nonblocking(buffer(), length, MPI_INT, 0, MPI_COMM_WORLD, &request);
    }
    return request;
  }
  void verify() {
    sent_.take_back();
    received_.take_back();
    const auto ranks = static_cast<std::size_t>(job_.size());
    const auto own = static_cast<std::size_t>(job_.rank());
    for (std::size_t i = 0; i < (kind() == 0 ? ranks * length : length); ++i) {
      int expected = value(0, i);
      if (kind() == 0) expected = value(static_cast<int>(i / length), own * length + i % length);
      for (int rank = 1; kind() == 1 && rank < job_.size(); ++rank) expected += value(rank, i);
      const bool sends_it = kind() == 2 && own == 0;
      const int is = sends_it ? sent_.near()[i] : received_.near()[i];
      if (!job_.check_equal(is, expected, "call ", number_, ", element ", i)) return;
    }
  }

private:
  static constexpr int length = 5;
  int kind() const { return number_ % 3; }
  std::size_t all() const { return static_cast<std::size_t>(length * job_.size()); }
  int value(int rank, std::size_t i) const {
    return number_ * 100'000 + rank * 1000 + static_cast<int>(i);
  }
  void* buffer() { return job_.rank() == 0 ? sent_.place() : received_.place(); }

  job& job_;
  int number_;
  numbers sent_;
  numbers received_;
};

void check_alike(job& mine) {
  for (int number = 0; number < 120; ++number) {
    mine.now("blocking call " + std::to_string(number));
    exchange one(mine, number);
    one.call();
    one.verify();
  }
  for (int round = 0; round < 20; ++round) {
    mine.now("round " + std::to_string(round) + " of nonblocking calls");
    std::vector<std::unique_ptr<exchange>> all;
    std::vector<MPI_Request> requests;
    for (int number = 0; number < 12; ++number) {
      all.push_back(std::make_unique<exchange>(mine, round * 12 + number));
      requests.push_back(all.back()->start());
    }
    MPI_Waitall(static_cast<int>(requests.size()), requests.data(), MPI_STATUSES_IGNORE);
    for (const auto& one : all) one->verify();
  }
}

/// Memory that the CPU may touch is not copied.
void check_managed(job& mine) {
  mine.now("managed memory");
  const stand_in& driver = *accelerator::driver();
  auto* const both = static_cast<int*>(driver.allocate_managed(2 * sizeof(int)));
  const std::size_t before = driver.copies();
  both[0] = mine.rank() + 1;
  MPI_Allreduce(&both[0], &both[1], 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  mine.check_equal(both[1], mine.size() * (mine.size() + 1) / 2, "the sum");
  mine.check_equal(driver.copies(), before, "the number of copies");
  driver.free(both);
}

/// Of a gather in place only what others give is written, and only what it gives is read.
void check_what_is_copied(job& mine) {
  mine.now("what is copied");
  const stand_in& driver = *accelerator::driver();
  const auto ranks = static_cast<std::size_t>(mine.size());
  auto* const far = static_cast<int*>(driver.allocate(ranks * sizeof(int)));
  std::vector<int> near(ranks, -1);
  near[static_cast<std::size_t>(mine.rank())] = mine.rank();
  driver.upload(far, near.data(), ranks * sizeof(int));
  const std::size_t before = driver.copies();
  MPI_Allgather(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, far, 1, MPI_INT, MPI_COMM_WORLD);
  driver.download(near.data(), far, ranks * sizeof(int));
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    mine.check_equal(near[rank], static_cast<int>(rank), "block ", rank);
  }
  const bool is_inside = mine.rank() != 0 && mine.rank() != mine.size() - 1;
  mine.check_equal(driver.copies() - before, is_inside ? 3U : 2U, "the number of copies");

  // Every other int: one copy of rows.
  MPI_Datatype spread = MPI_DATATYPE_NULL;
  MPI_Type_vector(50, 1, 2, MPI_INT, &spread);
  MPI_Type_commit(&spread);
  auto* const rows = static_cast<int*>(driver.allocate(99 * sizeof(int)));
  std::vector<int> ints(99);
  for (int i = 0; i < 99; ++i) ints[static_cast<std::size_t>(i)] = mine.rank() == 0 ? i : -i;
  driver.upload(rows, ints.data(), ints.size() * sizeof(int));
  const std::size_t then = driver.copies();
  MPI_Bcast(rows, 1, spread, 0, MPI_COMM_WORLD);
  mine.check_equal(driver.copies() - then, 1U, "the number of copies of rows");
  driver.download(ints.data(), rows, ints.size() * sizeof(int));
  for (int i = 0; i < 99; ++i) {
    const int expected = mine.rank() == 0 || i % 2 == 0 ? i : -i;
    mine.check_equal(ints[static_cast<std::size_t>(i)], expected, "int ", i);
  }
  driver.free(rows);
  driver.free(far);
  MPI_Type_free(&spread);
}

// ---- refused copies

void expect_refused(job& mine, int code, const char* function, const char* argument) {
  const outcome is = outcome_of(code);
  mine.check_equal(is.error_class, MPI_ERR_OTHER, "the error class");
  for (const char* const part : {function, argument, "emcpy", "code 700", "llegal"}) {
    mine.check(is.says(part), "'", is.text, "' does not name ", part);
  }
}

/// An int in the accelerator's memory.
class far_int {
public:
  explicit far_int(int value) : at_(accelerator::driver()->allocate(sizeof value)) {
    accelerator::driver()->upload(at_, &value, sizeof value);
  }
  ~far_int() { accelerator::driver()->free(at_); }
  far_int(const far_int&) = delete;
  far_int& operator=(const far_int&) = delete;

  void* at() const { return at_; }
  int value() const {
    int is = 0;
    accelerator::driver()->download(&is, at_, sizeof is);
    return is;
  }

private:
  void* at_;
};

int& handled() {
  static int code = MPI_SUCCESS;
  return code;
}
void keep_code(MPI_Comm*, int* code, ...) { handled() = *code; }

/// The call that `make` makes is refused here when it reads, there when it writes; then all works.
void check_refused(job& mine) {
  MPI_Comm on = MPI_COMM_NULL;
  MPI_Comm_dup(MPI_COMM_WORLD, &on);
  // A request's is that of the world.
  for (const MPI_Comm one : {on, MPI_COMM_WORLD}) MPI_Comm_set_errhandler(one, MPI_ERRORS_RETURN);
  const stand_in& driver = *accelerator::driver();
  const far_int send(1);
  const far_int receive(-1);
  const auto sum = [&] { return MPI_Allreduce(send.at(), receive.at(), 1, MPI_INT, MPI_SUM, on); };
  mine.now("a refused copy of what is sent");
  driver.refuse_after(0);  // on all ranks: nobody waits
  expect_refused(mine, sum(), "MPI_Allreduce", "sendbuf");
  mine.now("a refused copy with a text that is longer than the MPI allows");
  driver.lengthen_names(2 * std::size_t{MPI_MAX_ERROR_STRING});
  driver.refuse_after(0);
  const int wordy = sum();
  expect_refused(mine, wordy, "MPI_Allreduce", "sendbuf");
  mine.check_equal(outcome_of(wordy).text.size(), std::size_t{MPI_MAX_ERROR_STRING} - 1,
                   "the length of the text");
  driver.lengthen_names(0);
  mine.now("a refused copy of what is received");
  driver.refuse_after(mine.rank() == 0 ? 1 : 1000);
  const int code = sum();
  if (mine.rank() == 0) {
    expect_refused(mine, code, "MPI_Allreduce", "recvbuf");
  } else {
    mine.check_equal(code, MPI_SUCCESS, "the code on the others");
    mine.check_equal(receive.value(), mine.size(), "the sum on the others");
  }
  MPI_Errhandler own = MPI_ERRHANDLER_NULL;
  MPI_Comm_create_errhandler(keep_code, &own);
  MPI_Comm_set_errhandler(on, own);
  mine.now("a refused copy in a nonblocking call");
  MPI_Request request = MPI_REQUEST_NULL;
  driver.refuse_after(mine.rank() == 0 ? 1 : 1000);
  MPI_Iallreduce(send.at(), receive.at(), 1, MPI_INT, MPI_SUM, on, &request);
  const int waited = MPI_Wait(&request, MPI_STATUS_IGNORE);
  mine.check_equal(waited != MPI_SUCCESS, mine.rank() == 0, "whether waiting fails");
  if (mine.rank() == 0) expect_refused(mine, handled(), "MPI_Iallreduce", "recvbuf");
  mine.now("a refused copy at the start of a persistent call");
  mpi::allreduce.persistent(send.at(), receive.at(), 1, MPI_INT, MPI_SUM, on, MPI_INFO_NULL,
                            &request);
  driver.refuse_after(0);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_refused(mine, handled(), "Allreduce_init", "sendbuf");
  mine.now("calls after refused ones");
  driver.refuse_after(1000);
  MPI_Start(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  mine.check_equal(receive.value(), mine.size(), "the sum of the second start");
  MPI_Request_free(&request);
  mine.check_equal(sum(), MPI_SUCCESS, "the code");
  mine.check_equal(receive.value(), mine.size(), "the sum");
  MPI_Errhandler_free(&own);
  MPI_Comm_free(&on);
}

/// What is data and what are gaps is found by the MPI, which counts an element's bytes in int.
void check_uncountable(job& mine) {
  mine.now("an element with gaps that int cannot count");
  constexpr int half = 1 << 30;
  MPI_Datatype wide = MPI_DATATYPE_NULL;
  MPI_Type_vector(2, half, half + 1, MPI_BYTE, &wide);
  MPI_Type_commit(&wide);
  const far_int begin(1);
  const outcome is = outcome_of(MPI_Bcast(begin.at(), 1, wide, 0, MPI_COMM_WORLD));
  mine.check_equal(is.error_class, MPI_ERR_ARG, "the error class");
  mine.check(is.text.find("expected no more than int can count") != std::string::npos, "'", is.text,
             "' does not say what was expected");
  MPI_Type_free(&wide);
}

}  // namespace

int main(int argc, char** argv) {
  job mine(argc, argv);
  if (mine.has("fatal")) {
    const far_int send(1);
    int sum = 0;
    accelerator::driver()->refuse_after(mine.rank() == 1 ? 0 : 1000);
    MPI_Allreduce(send.at(), &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    return mine.finish();  // not reached
  }
  check_alike(mine);
  check_managed(mine);
  check_what_is_copied(mine);
  mine.check(accelerator::driver()->is_untouched(), "the driver is not as it was left");
  check_refused(mine);
  check_uncountable(mine);
  return mine.finish();
}
