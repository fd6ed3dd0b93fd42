// A reduction of the user's own that throws fails its operation, on every rank, at any length.

#include <doctest/doctest.h>

#include <stdexcept>
#include <vector>

#include <muster/muster.hpp>

#include "tests/harness/failure.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

// Of one element, of a stage, and long enough to be lent from where it is.
constexpr std::size_t lengths[] = {1, 1000, 1'000'000};

struct odd_one {};

/// Whether the operation failed, with what its reduction threw or with another rank's error.
template <class Thrown>
bool fails(team& of, const reducer& op, std::size_t length) {
  std::vector<int> data(length, static_cast<int>(of.rank()));
  try {
    start(allreduce(of, data, op)).wait();
  } catch (const Thrown&) {
    return true;
  } catch (const error& why) {
    return why.code() == errc::resource;
  }
  return false;
}

TEST_CASE("what a reduction throws fails the operation and breaks the team") {
  const watchdog alive("throwing reduction");
  const auto failing = make_reduction<int>(
      [](int, int) -> int { throw std::domain_error("these do not go together"); });
  const auto odd = make_reduction<int>([](int, int) -> int { throw odd_one(); });
  for (const std::size_t length : lengths) {
    run_threads(3, [&](team& of) {
      CHECK(fails<std::domain_error>(of, failing, length));
      CHECK(failure_of([&] { start(barrier(of)).wait(); }));
    });
    run_threads(3, [&](team& of) { CHECK(fails<odd_one>(of, odd, length)); });
  }
}

}  // namespace
}  // namespace muster::testing
