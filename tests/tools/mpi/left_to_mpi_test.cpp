// Calls that are left to the MPI, as the team sees them.

#include <doctest/doctest.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <muster/muster.hpp>

#include <muster/run/perform.hpp>

#include "tools/mpi/left_to_mpi.hpp"

namespace muster::mpi {
namespace {

arguments sum_of(std::vector<int>& numbers) {
  arguments call;
  call.what = collective::allreduce;
  call.type = datatype::int32;
  call.op = reduction::sum;
  call.receive = reinterpret_cast<std::byte*>(numbers.data());
  call.count = numbers.size();
  return call;
}

/// Of a team whose calls choose from the MPI's algorithms, too.
void on_two_ranks(const std::function<void(team&)>& work) {
  const std::vector<algorithm> rows = with_mpi(default_algorithms());
  run_threads(2, work, {.algorithms = rows});
}

TEST_CASE("one that is chosen by hand takes its place and changes nothing") {
  on_two_ranks([](team& of) {
    of.choose(collective::allreduce, left_to_mpi);
    std::vector<int> ones(4, 1);
    arguments call = sum_of(ones);
    call.may_be_left = leavable::blocking;
    CHECK(chosen_algorithm(of, call) == left_to_mpi);
    start(of.engine(), perform(of, call)).wait();
    CHECK(ones == std::vector<int>(4, 1));
  });
}

TEST_CASE("where nobody could carry the call out, another is chosen, also by hand") {
  on_two_ranks([](team& of) {
    of.choose(collective::allreduce, left_to_mpi);
    std::vector<int> ones(4, 1);
    CHECK(chosen_algorithm(of, sum_of(ones)) != left_to_mpi);
    start(of.engine(), perform(of, sum_of(ones))).wait();
    CHECK(ones == std::vector<int>(4, 2));
  });
}

TEST_CASE("calls that are alike but for that they may be left are not taken for each other") {
  on_two_ranks([](team& of) {
    of.select_by(std::make_shared<const selection_table>(std::vector<selection_table::rule>{
        {.what = collective::allreduce, .algorithm = std::string(left_to_mpi)}}));
    for (int turn = 0; turn < 6; ++turn) {
      std::vector<int> ones(4, 1);
      arguments call = sum_of(ones);
      call.may_be_left = turn % 2 == 0 ? leavable::blocking : leavable::nonblocking;
      start(of.engine(), perform(of, call)).wait();
      CHECK(ones == std::vector<int>(4, turn % 2 == 0 ? 1 : 2));
    }
  });
}

TEST_CASE("nothing is left unless somebody says so") {
  on_two_ranks([](team& of) {
    std::vector<int> ones(4, 1);
    arguments call = sum_of(ones);
    call.may_be_left = leavable::blocking;
    CHECK(chosen_algorithm(of, call) != left_to_mpi);
  });
}

TEST_CASE("a rule for nonblocking calls is none for blocking ones, and none for others") {
  on_two_ranks([](team& of) {
    of.select_by(std::make_shared<const selection_table>(std::vector<selection_table::rule>{
        {.what = collective::allreduce, .algorithm = std::string(left_with_request)}}));
    std::vector<int> ones(4, 1);
    arguments call = sum_of(ones);
    CHECK(chosen_algorithm(of, call) != left_with_request);
    call.may_be_left = leavable::blocking;
    CHECK(chosen_algorithm(of, call) != left_with_request);
    call.may_be_left = leavable::nonblocking;
    CHECK(chosen_algorithm(of, call) == left_with_request);
    start(of.engine(), perform(of, call)).wait();
    CHECK(ones == std::vector<int>(4, 1));
  });
}

TEST_CASE("what may be left is known for each collective, form and shape") {
  on_two_ranks([](team& of) {
    of.select_by(std::make_shared<const selection_table>(std::vector<selection_table::rule>{
        {.what = collective::allreduce, .algorithm = std::string(left_with_request)},
        {.what = collective::bcast, .nodes = {2, 4}, .algorithm = std::string(left_to_mpi)}}));
    CHECK(of.selector().leaves_some(collective::allreduce, leavable::nonblocking));
    CHECK(!of.selector().leaves_some(collective::allreduce, leavable::blocking));
    CHECK(!of.selector().leaves_some(collective::bcast, leavable::blocking));
    of.choose(collective::bcast, left_to_mpi);
    CHECK(of.selector().leaves_some(collective::bcast, leavable::blocking));
    of.choose(collective::bcast, "");
    CHECK(!of.selector().leaves_some(collective::bcast, leavable::blocking));
  });
}

TEST_CASE("a call that moves nothing is not left") {
  on_two_ranks([](team& of) {
    of.choose(collective::allreduce, left_to_mpi);
    std::vector<int> none;
    arguments call = sum_of(none);
    call.may_be_left = leavable::blocking;
    CHECK(chosen_algorithm(of, call) != left_to_mpi);
  });
}

TEST_CASE("calls can be left whose lengths all ranks know") {
  CHECK(leavable_as(collective::bcast, form::blocking) == leavable::blocking);
  CHECK(leavable_as(collective::bcast, form::nonblocking) == leavable::nonblocking);
  CHECK(leavable_as(collective::bcast, form::persistent) == leavable::no);
  CHECK(leavable_as(collective::allgatherv, form::blocking) == leavable::no);
  CHECK(leavable_as(collective::neighbor_alltoall, form::nonblocking) == leavable::no);
}

}  // namespace
}  // namespace muster::mpi
