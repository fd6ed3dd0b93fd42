#include "tools/command/bench/jobs.hpp"

#include <doctest/doctest.h>
#include <signal.h>

#include <algorithm>
#include <fstream>
#include <memory>
#include <thread>

#include "tests/support/says.hpp"
#include "tools/command/bench/libraries.hpp"

namespace muster::bench {
namespace {

using namespace std::chrono_literals;

constexpr const char* fake_job = "tests/tools/command/bench/fake_job";

class fixture {
public:
  std::unique_ptr<job> start(const std::string& conduct, int ranks = 3) {
    return std::make_unique<job>("fake", command{{fake_job, std::to_string(ranks), conduct}, {}},
                                 static_cast<std::size_t>(ranks), folder.path(), interrupts, 5s);
  }

  std::string failure_of(const std::string& conduct, std::chrono::milliseconds patience = 5s) {
    try {
      start(conduct)->run({}, patience);
    } catch (const job_failure& failure) {
      return failure.what();
    }
    return "";
  }

  /// Ranks that still run; one that ended lately is given a moment to be gone.
  std::size_t ranks_alive() const {
    std::size_t alive = 0;
    for (int tries = 0; tries < 100; ++tries) {
      alive = 0;
      std::ifstream file(folder.path() / "ranks");
      for (pid_t id = 0; file >> id;) alive += kill(id, 0) == 0 && !is_zombie(id) ? 1 : 0;
      if (alive == 0) break;
      std::this_thread::sleep_for(10ms);
    }
    return alive;
  }

  temporary_folder folder{"muster-test"};
  interrupt_watch interrupts;

private:
  static bool is_zombie(pid_t id) {
    std::ifstream file("/proc/" + std::to_string(id) + "/stat");
    std::string text;
    std::getline(file, text);
    return text.find(") Z ") != std::string::npos;
  }
};

using testing::says;

std::size_t fake_segments() {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
    if (entry.path().filename().native().starts_with("muster-fake-job-")) count += 1;
  }
  return count;
}

TEST_CASE_FIXTURE(fixture, "jobs: the slowest rank counts, and the ranks leave when told") {
  {
    const auto running = start("well");
    for (int i = 0; i < 3; ++i) {
      const job_answer answer = running->run({}, 5s);
      CHECK(answer.slowest_us == 30);
      CHECK(answer.average_us == doctest::Approx(20));
      CHECK(answer.period_us == 31);
      CHECK(answer.verified);
      CHECK(answer.algorithm == "fake");
    }
    CHECK(running->version() == "fake 1.0");
  }
  CHECK(ranks_alive() == 0);
}

TEST_CASE_FIXTURE(fixture, "jobs: one rank's wrong result is everybody's") {
  CHECK_FALSE(start("wrong")->run({}, 5s).verified);
}

TEST_CASE_FIXTURE(fixture, "jobs: a rank that dies is named, with the end of its launcher") {
  const std::string failure = failure_of("die");
  CHECK(says(failure, "rank 2 died"));
  CHECK(says(failure, "fake_job is up"));
  CHECK(ranks_alive() == 0);
}

TEST_CASE_FIXTURE(fixture, "jobs: a rank that hangs is not waited for, and killed") {
  CHECK(says(failure_of("hang", 200ms), "1 of 3 ranks gave no answer within 0.2 s"));
  CHECK(ranks_alive() == 0);
}

TEST_CASE_FIXTURE(fixture, "jobs: a rank outside the launcher's process group is killed, too") {
  CHECK(says(failure_of("stray", 200ms), "1 of 3 ranks gave no answer"));
  CHECK(ranks_alive() == 0);
}

TEST_CASE_FIXTURE(fixture, "jobs: no segment stays behind a rank that was killed") {
  const std::size_t before = fake_segments();
  CHECK(says(failure_of("segment", 200ms), "1 of 3 ranks gave no answer"));
  CHECK(fake_segments() == before);
}

TEST_CASE_FIXTURE(fixture, "jobs: a rank's own complaint is passed on") {
  CHECK(says(failure_of("complain"), "rank 2: no such thing"));
}

TEST_CASE_FIXTURE(fixture, "jobs: a library that refuses an order goes on with others") {
  const auto running = start("refuse");
  for (int i = 0; i < 2; ++i) CHECK(running->run({}, 5s).refusal == "no such algorithm");
}

TEST_CASE_FIXTURE(fixture, "jobs: a job that is not complete does not start") {
  CHECK(says(failure_of("twin"), "rank 1 did not come"));
  CHECK(says(failure_of("stranger"), "a job of 77 ranks, not 3"));
  CHECK(ranks_alive() == 0);
}

TEST_CASE_FIXTURE(fixture, "jobs: a launcher that ends early is told with its status") {
  const command nothing{{"/bin/sh", "-c", "echo no MPI today; exit 3"}, {}};
  std::string failure;
  try {
    job("none", nothing, 2, folder.path(), interrupts, 5s);
  } catch (const job_failure& error) {
    failure = error.what();
  }
  CHECK(says(failure, "exited with status 3"));
  CHECK(says(failure, "no MPI today"));
}

TEST_CASE_FIXTURE(fixture, "jobs: a program that is not there") {
  std::string failure;
  try {
    job("none", command{{"/no/such/mpirun"}, {}}, 2, folder.path(), interrupts, 5s);
  } catch (const job_failure& error) {
    failure = error.what();
  }
  CHECK(says(failure, "/no/such/mpirun: No such file or directory"));
}

TEST_CASE_FIXTURE(fixture, "jobs: an interrupt ends the waiting and the job") {
  {
    const auto running = start("hang");
    std::jthread interrupter([main = getpid()] {
      std::this_thread::sleep_for(100ms);
      kill(main, SIGTERM);
    });
    CHECK_THROWS_AS(running->run({}, 30s), interrupted);
  }
  CHECK(ranks_alive() == 0);
}

TEST_CASE_FIXTURE(fixture, "processes: the last lines of a log, without rulers and blanks") {
  const auto file = folder.path() / "log";
  std::ofstream(file) << "one\n\n-----\ntwo\nthree\n   \n";
  CHECK(last_lines(file, 2) == "two\nthree");
  CHECK(last_lines(folder.path() / "none", 2).empty());
}

TEST_CASE("processes: a temporary folder goes with all that is in it") {
  std::filesystem::path path;
  {
    const temporary_folder folder("muster-test");
    path = folder.path();
    CHECK(path.native().size() < 40);
    std::ofstream(path / "file") << "text";
    CHECK(std::filesystem::exists(path / "file"));
  }
  CHECK_FALSE(std::filesystem::exists(path));
}

TEST_CASE("libraries: what is excluded is said to the preloaded library alone") {
  program_places places{"muster", "workers", library::openmpi};
  const auto is_told = [&](library which, std::size_t hosts) {
    const command launch = launch_command(which, {.ranks = 2, .hosts = hosts}, 2, places);
    return std::ranges::find(launch.arguments, "MUSTER_ENABLE=ibarrier") != launch.arguments.end();
  };
  CHECK_FALSE(is_told(library::muster, 1));
  places.excluded = true;
  CHECK(is_told(library::muster, 1));
  CHECK(is_told(library::muster, 2));
  CHECK_FALSE(is_told(library::openmpi, 1));
}

}  // namespace
}  // namespace muster::bench
