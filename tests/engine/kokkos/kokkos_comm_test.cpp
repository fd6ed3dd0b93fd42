// Calls of KokkosComm that go over Muster, against its interface as this project wrote it down.

#include <doctest/doctest.h>
#include <Kokkos_Core.hpp>

#include <KokkosComm/KokkosComm.hpp>
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <muster/kokkos_comm.hpp>

#include "tests/engine/kokkos/ranks.hpp"
#include "tests/support/says.hpp"

namespace muster::testing {
namespace {

namespace kc = KokkosComm;
using space = muster::kokkos::comm_space;
using exec = Kokkos::DefaultHostExecutionSpace;
using communicator = kc::Communicator<space, exec>;

TEST_CASE("messages") {
  run_threads(3, [](team& on) {
    auto comm = communicator::from_raw(&on);
    require(comm.size() == 3 && comm.rank() == static_cast<int>(on.rank()), "a communicator");
    const int next = (comm.rank() + 1) % 3;
    const int before = (comm.rank() + 2) % 3;
    const Kokkos::View<double**, Kokkos::LayoutLeft> mine("mine", 3, 4);
    const Kokkos::View<double**, Kokkos::LayoutLeft> theirs("theirs", 3, 4);
    Kokkos::deep_copy(mine, comm.rank() + 1.0);
    const auto row = Kokkos::subview(mine, 1, Kokkos::ALL);
    auto into = Kokkos::subview(theirs, 2, Kokkos::ALL);
    auto out = kc::send(comm, row, next);
    auto in = kc::recv(comm, into, before);
    kc::wait(in);
    kc::wait(out);
    require(theirs(2, 3) == before + 1.0 && theirs(1, 3) == 0, "send and recv");
    kc::wait(kc::exchange(comm, mine, before, theirs, next));
    require(theirs(0, 0) == next + 1.0, "exchange");

    std::vector<kc::Request<space>> all;
    all.push_back(kc::send(comm, mine, next));
    all.push_back(kc::recv(comm, theirs, before));
    kc::wait_all(all);
    require(theirs(2, 3) == before + 1.0, "wait_all");
    all.clear();
    require(!kc::wait_any(all), "wait_any of none");
    all.push_back(kc::exchange(comm, mine, next, theirs, before));
    require(kc::wait_any(all) == 0 && kc::test(all[0]), "wait_any");
  });
}

TEST_CASE("collectives") {
  run_threads(4, [](team& on) {
    auto comm = communicator::from_raw(&on);
    const int me = comm.rank();
    const Kokkos::View<std::int64_t*> mine("mine", 8);
    const Kokkos::View<std::int64_t*> result("result", 8);
    const Kokkos::View<std::int64_t*> all("all", 32);
    for (int i = 0; i < 8; ++i) mine(i) = 10 * me + i;
    namespace ke = kc::Experimental;
    kc::wait(ke::allreduce(comm, mine, result, kc::Sum{}));
    require(result(7) == 60 + 28, "allreduce");
    kc::wait(ke::allreduce(comm, mine, result, kc::Max{}));
    require(result(7) == 37, "allreduce, Max");
    kc::wait(ke::allreduce(comm, mine, result, kc::BOr{}));
    require(result(0) == (0 | 10 | 20 | 30), "allreduce, BOr");
    kc::wait(ke::reduce(comm, mine, result, 2, kc::Prod{}));
    require(me != 2 || result(1) == 1 * 11 * 21 * 31, "reduce");
    kc::wait(ke::allgather(comm, mine, all));
    require(all(8 * 3 + 5) == 35, "allgather");
    kc::wait(ke::alltoall(comm, mine, result, 2));
    require(result(6) == 30 + 2 * me, "alltoall");
    auto data = mine;
    kc::wait(ke::broadcast(comm, data, 1));
    require(mine(4) == 14, "broadcast");
    const Kokkos::View<indexed<double>*> places("places", 2);
    const Kokkos::View<indexed<double>*> least("least", 2);
    places(1) = {.value = 4.0 - me, .index = me};
    kc::wait(ke::allreduce(comm, places, least, kc::MinLoc{}));
    require(least(1).value == 1 && least(1).index == 3, "MinLoc");
  });
}

TEST_CASE("communicators made of communicators") {
  run_threads(4, [](team& on) {
    auto comm = communicator::from_raw(&on);
    std::optional<communicator> half = comm.split(comm.rank() % 2, -comm.rank());
    require(half && half->size() == 2 && half->rank() == (comm.rank() < 2 ? 1 : 0), "split");
    const Kokkos::View<int*> mine("mine", 1);
    const Kokkos::View<int*> total("total", 1);
    mine(0) = comm.rank();
    kc::wait(kc::Experimental::allreduce(*half, mine, total, kc::Sum{}));
    require(total(0) == 2 + 2 * (comm.rank() % 2), "of one half");
    std::optional<communicator> none = comm.split(comm.rank() == 0 ? -1 : 3, 0);
    require(none.has_value() == (comm.rank() != 0), "no color");
    std::optional<communicator> copy = comm.duplicate();
    communicator moved = std::move(*copy);
    kc::wait(kc::Experimental::allreduce(moved, mine, total, kc::Sum{}));
    require(total(0) == 6, "duplicate");
  });
}

TEST_CASE("what is wrong is named") {
  std::string count;
  std::array<std::string, 2> lengths;
  run_threads(2, [&](team& on) {
    auto comm = communicator::from_raw(&on);
    const Kokkos::View<int*> mine("mine", 8);
    Kokkos::View<int*> theirs("theirs", 8);
    try {
      kc::wait(kc::Experimental::alltoall(comm, mine, theirs, 3));
    } catch (const error& why) {
      if (on.rank() == 0) count = why.what();
    }
    const Kokkos::View<int*> shorter("shorter", 4);
    auto out = kc::send(comm, shorter, 1 - comm.rank());
    auto in = kc::recv(comm, theirs, 1 - comm.rank());
    kc::wait(out);
    try {
      kc::wait(in);
    } catch (const error& why) {
      lengths[on.rank()] = why.what();
    }
    start(muster::barrier(on)).wait();  // the team is whole
  });
  CHECK(says(count, "KokkosComm::alltoall: count is 3; expected 4"));
  CHECK(says(lengths[0], "a message of 4 elements came from rank 1; expected 8"));
}

}  // namespace
}  // namespace muster::testing
