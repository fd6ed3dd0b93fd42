// Ranks that somebody starts by hand: the numbers and the key that they are told.

#include "tools/library/launcher/by_hand.hpp"

#include <doctest/doctest.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <string>

#include <muster/base/descriptor.hpp>
#include <muster/base/error.hpp>

#include "tests/harness/failure.hpp"

namespace muster::testing {
namespace {

/// Of so many bytes, for its owner alone.
class key_file {
public:
  explicit key_file(std::size_t bytes) : file_(::mkstemp(name_.data())) {
    REQUIRE(file_);
    const std::string key(bytes, 'k');
    REQUIRE(::write(file_.get(), key.data(), key.size()) == static_cast<ssize_t>(key.size()));
    ::setenv("MUSTER_KEY_FILE", name_.c_str(), 1);
  }
  ~key_file() {
    ::unlink(name_.c_str());
    ::unsetenv("MUSTER_KEY_FILE");
  }
  key_file(const key_file&) = delete;
  key_file& operator=(const key_file&) = delete;

private:
  std::string name_ = "/tmp/muster-key.XXXXXX";
  descriptor file_;
};

meeting meet_as(const char* rank, const char* size) {
  ::setenv("MUSTER_RENDEZVOUS", "127.0.0.1:20000", 1);
  ::setenv("MUSTER_RANK", rank, 1);
  ::setenv("MUSTER_SIZE", size, 1);
  return launcher::meet_by_hand().value();
}

std::string complaint_of(const char* rank, const char* size) {
  const auto why = failure_of([&] { meet_as(rank, size); });
  REQUIRE(why);
  CHECK(why->code() == errc::bootstrap);
  return why->text();
}

TEST_CASE("ranks and sizes are numbers of 32 bits") {
  const key_file key(16);
  const meeting one = meet_as("4294967294", "4294967295");
  CHECK(one.rank == 4'294'967'294);
  CHECK(one.size == 4'294'967'295);
  CHECK(complaint_of("4294967296", "4294967295") ==
        "MUSTER_RANK is '4294967296'; expected a number up to 4294967295");
  CHECK(complaint_of("0", "4294967296") ==
        "MUSTER_SIZE is '4294967296'; expected a number up to 4294967295");
}

TEST_CASE("a key has 16 bytes at least") {
  {
    const key_file enough(16);
    CHECK(meet_as("0", "2").size == 2);
  }
  const key_file too_short(15);
  CHECK(complaint_of("0", "2").ends_with("of 15 bytes; expected at least 16"));
}

}  // namespace
}  // namespace muster::testing
