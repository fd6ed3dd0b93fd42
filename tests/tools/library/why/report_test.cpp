#include "tools/library/why/report.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "tools/library/why/look.hpp"
#include "transports/shm/job.hpp"

namespace muster::why::testing {
namespace {

constexpr std::int64_t one_second_ns = 1'000'000'000;

shm::job two_ranks() {
  shm::job_options options;
  options.places.resize(2);
  options.one_process = true;
  return shm::job::create(options);
}

/// For what is written, while it lives.
class folder {
public:
  folder() { REQUIRE(::mkdtemp(name_.data()) != nullptr); }
  ~folder() { std::filesystem::remove_all(name_); }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;

  const std::string& name() const { return name_; }
  /// Of the only file that is there.
  std::string text() const {
    const std::filesystem::directory_iterator all(name_);
    REQUIRE(std::distance(begin(all), end(all)) == 1);
    std::ifstream file(std::filesystem::directory_iterator(name_)->path());
    return {std::istreambuf_iterator<char>(file), {}};
  }

private:
  std::string name_ = "/tmp/muster-report.XXXXXX";
};

TEST_CASE(
    "why: of a cause files are written once in a second, whichever rank of a machine writes") {
  const shm::job job = two_ranks();
  const folder at;
  const files first(job, at.name(), 0);
  const files second(job, at.name(), 1);
  std::atomic<std::int64_t>& last =
      job.flights().written_ns[static_cast<std::size_t>(cause::breakage)];
  const std::int64_t before = time_of_day();
  REQUIRE(first.write_json(cause::breakage, "one reason"));
  CHECK(last.load() >= before);
  // However long it takes to come here, no second has passed.
  last = time_of_day() + 3600 * one_second_ns;
  CHECK_FALSE(first.write_json(cause::breakage, "another reason"));
  CHECK_FALSE(second.write_json(cause::breakage, "another reason"));
  CHECK(at.text().find("one reason") != std::string::npos);
  last = time_of_day() - one_second_ns;
  CHECK(first.write_json(cause::breakage, "a third reason"));
  CHECK(at.text().find("a third reason") != std::string::npos);
}

TEST_CASE("why: causes have their turns by themselves") {
  const shm::job job = two_ranks();
  const folder at;
  const files one(job, at.name(), 0);
  CHECK(one.write_json(cause::breakage, "a breakage"));
  CHECK(one.write_json(cause::signal, "a signal"));
  CHECK(at.text().find("a signal") != std::string::npos);
}

}  // namespace
}  // namespace muster::why::testing
