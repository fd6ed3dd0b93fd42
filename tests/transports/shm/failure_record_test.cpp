// What a team's ranks leave on record when they break it, also where one ends while it does.

#include <doctest/doctest.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <new>
#include <optional>
#include <string>
#include <thread>

#include <muster/base/error.hpp>

#include "transports/shm/team_memory.hpp"

namespace muster::testing {
namespace {

using shm::failure_record;

/// One that processes share.
class shared_record {
public:
  shared_record()
      : memory_(::mmap(nullptr, sizeof(failure_record), PROT_READ | PROT_WRITE,
                       MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    REQUIRE(memory_ != MAP_FAILED);
  }
  ~shared_record() { ::munmap(memory_, sizeof(failure_record)); }
  shared_record(const shared_record&) = delete;
  shared_record& operator=(const shared_record&) = delete;

  failure_record& operator*() const noexcept { return *static_cast<failure_record*>(memory_); }
  failure_record* operator->() const noexcept { return &**this; }

private:
  void* memory_;
};

/// A process that claims the record and ends.
void claim_in_child(failure_record& record) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(record.claim() ? 0 : 1);
  int status = 1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(status == 0);
}

TEST_CASE("the first failure wins") {
  const shared_record record;
  CHECK_FALSE(record->read());
  CHECK(record->write({.code = errc::stopped, .rank = 3, .text = "first"}));
  CHECK_FALSE(record->write({.code = errc::rank_died, .rank = 4, .text = "second"}));
  const auto why = record->read();
  REQUIRE(why);
  CHECK(why->code == errc::stopped);
  CHECK(why->rank == 3);
  CHECK(why->text == "first");
}

TEST_CASE("a text that is too long is cut") {
  const shared_record record;
  CHECK(record->write({.code = errc::stopped, .rank = 0, .text = std::string(5000, 'x')}));
  CHECK(record->read()->text == std::string(1023, 'x'));
}

TEST_CASE("one that a living process is writing says nothing yet") {
  const shared_record record;
  CHECK(record->claim());
  CHECK_FALSE(record->read());
  CHECK_FALSE(record->write({.code = errc::stopped, .rank = 0, .text = "other"}));
}

TEST_CASE("whoever reads one whose writer has ended says so in its place, once") {
  const shared_record record;
  claim_in_child(*record);
  std::array<std::optional<wire::failure>, 4> seen;
  {
    std::array<std::jthread, 4> readers;
    for (std::size_t i = 0; i < readers.size(); ++i) {
      readers[i] = std::jthread([&, i] {
        while (!seen[i]) seen[i] = record->read();
      });
    }
  }
  for (const auto& why : seen) {
    CHECK(why->code == errc::rank_died);
    CHECK(why->rank == no_rank);
    CHECK(why->text.find("ended while it said why it failed") != std::string::npos);
    CHECK(why->text == seen[0]->text);
  }
}

}  // namespace
}  // namespace muster::testing
