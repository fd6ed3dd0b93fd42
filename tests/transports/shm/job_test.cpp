// Joining a job by what the environment says, true and false.

#include "transports/shm/job.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <string>
#include <vector>

#include <muster/base/error.hpp>

#include "tests/harness/failure.hpp"

namespace muster::testing {
namespace {

shm::job_options options_for(std::size_t ranks, std::size_t nodes) {
  shm::job_options options;
  options.places.resize(ranks);
  for (std::size_t i = 0; i < ranks; ++i) {
    options.places[i].node = static_cast<std::uint32_t>(i * nodes / ranks);
  }
  options.arena_bytes = 1 << 16;
  return options;
}

/// The environment variable for the length of a test.
class environment {
public:
  explicit environment(const std::string& value) {
    ::setenv(shm::job::environment_name, value.c_str(), 1);
  }
  ~environment() { ::unsetenv(shm::job::environment_name); }
  environment(const environment&) = delete;
  environment& operator=(const environment&) = delete;
};

/// What `environment_for` says, about descriptors of its own: joining takes ownership of them.
std::string duplicated_environment(const shm::job& job, std::size_t rank) {
  std::string text = std::to_string(rank);
  for (const int descriptor : job.descriptors_for(rank)) {
    text += "," + std::to_string(::dup(descriptor));
  }
  return text;
}

TEST_CASE("nothing in the environment: no job") {
  ::unsetenv(shm::job::environment_name);
  CHECK_FALSE(shm::job::join().has_value());
}

TEST_CASE("a job that is joined is the one that was made") {
  const shm::job made = shm::job::create(options_for(3, 2));
  for (std::size_t rank = 0; rank < 3; ++rank) {
    const environment set(duplicated_environment(made, rank));
    const auto joined = shm::job::join();
    REQUIRE(joined);
    CHECK(joined->joined_as() == rank);
    CHECK(joined->size() == 3);
    CHECK(joined->places() == made.places());
    CHECK(joined->arena_bytes() == made.arena_bytes());
    CHECK_FALSE(joined->one_process());
    CHECK(joined->line(rank).process.load() == ::getpid());
    made.line(rank).watched.store(77);
    CHECK(joined->line(rank).watched.load() == 77);
    const std::size_t node = made.shape().node_of(rank);
    made.node_base(node)[100] = static_cast<std::byte>(rank + 1);
    CHECK(joined->node_base(node)[100] == static_cast<std::byte>(rank + 1));
  }
}

TEST_CASE("children of a rank are not ranks") {
  const shm::job made = shm::job::create(options_for(1, 1));
  const environment set(duplicated_environment(made, 0));
  const auto joined = shm::job::join();
  REQUIRE(joined);
  CHECK(muster::environment::read(muster::environment::job) == nullptr);
  for (const int descriptor : joined->descriptors_for(0)) {
    CHECK((::fcntl(descriptor, F_GETFD) & FD_CLOEXEC) != 0);
  }
}

void check_refused(const std::string& value) {
  INFO("MUSTER_JOB=", value);
  const environment set(value);
  const auto why = failure_of([] { (void)shm::job::join(); });
  REQUIRE(why);
  CHECK(why->code() == errc::bootstrap);
  CHECK(std::string(why->what()).find("MUSTER_JOB") != std::string::npos);
  CHECK(std::string(why->what()).find("muster run") != std::string::npos);
}

TEST_CASE("words that are no job") {
  for (const char* value : {"", "nonsense", "0", "0,", "-1,3,4,5", "0,900,901,902", "0,x,y",
                            "0,,,,", "99999999999999999999999999,3,4", "0,1e9,2", " 0,1,2"}) {
    check_refused(value);
  }
}

TEST_CASE("descriptors that are somebody else's stay open") {
  check_refused("0,2,2,2");
  CHECK(::fcntl(2, F_GETFD) == 0);
}

TEST_CASE("a rank beyond the job, too few doorbells, too many") {
  const shm::job made = shm::job::create(options_for(2, 1));
  const auto with_descriptors = [&made](std::size_t rank, std::size_t drop, std::size_t add) {
    std::vector<int> all = made.descriptors_for(0);
    all.resize(all.size() - drop);
    all.insert(all.end(), add, made.bell(0));
    std::string text = std::to_string(rank);
    for (const int descriptor : all) text += "," + std::to_string(::dup(descriptor));
    return text;
  };
  check_refused(with_descriptors(2, 0, 0));
  check_refused(with_descriptors(1'000'000, 0, 0));
  check_refused(with_descriptors(0, 1, 0));
  check_refused(with_descriptors(0, 0, 1));
  const environment set(with_descriptors(0, 0, 0));
  CHECK(shm::job::join().has_value());
}

TEST_CASE("memory that is not a job's") {
  const shm::job made = shm::job::create(options_for(1, 1));
  const int node = made.descriptors_for(0)[1];
  const auto text = [&](int control) {
    return "0," + std::to_string(control) + "," + std::to_string(::dup(node)) + "," +
           std::to_string(::dup(made.bell(0)));
  };
  const shm::segment zeroes = shm::segment::create("test", 1 << 16);
  check_refused(text(::dup(zeroes.descriptor())));
  const shm::segment tiny = shm::segment::create("test", 8);
  check_refused(text(::dup(tiny.descriptor())));
}

TEST_CASE("descriptors that are no memory") {
  std::array<int, 2> ends{};
  REQUIRE(::pipe(ends.data()) == 0);
  const environment set("0," + std::to_string(ends[0]) + "," + std::to_string(ends[1]) + ",0");
  const auto why = failure_of([] { (void)shm::job::join(); });
  REQUIRE(why);
  CHECK(why->code() == errc::bootstrap);
}

TEST_CASE("the first failure wins and is cut to what fits") {
  const shm::job made = shm::job::create(options_for(2, 1));
  CHECK_FALSE(made.failed());
  made.fail({.code = errc::rank_died, .rank = 1, .text = std::string(5000, 'x')});
  made.fail({.code = errc::stopped, .rank = 0, .text = "later"});
  const auto why = made.failed();
  REQUIRE(why);
  CHECK(why->code == errc::rank_died);
  CHECK(why->rank == 1);
  CHECK(why->text.size() > 500);
  CHECK(why->text.find_first_not_of('x') == std::string::npos);
}

TEST_CASE("a rank's state is seen by the others") {
  const shm::job made = shm::job::create(options_for(2, 1));
  CHECK(made.line(1).state.load() == static_cast<std::uint32_t>(wire::liveness::alive));
  made.set_state(1, wire::liveness::left);
  CHECK(made.line(1).state.load() == static_cast<std::uint32_t>(wire::liveness::left));
}

}  // namespace
}  // namespace muster::testing
