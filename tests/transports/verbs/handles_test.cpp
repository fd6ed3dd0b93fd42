// Owners of what libibverbs makes.

#include "transports/verbs/handles.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <utility>

namespace muster::testing {
namespace {

struct thing {
  int destroyed = 0;
};

int destroy(thing* one) {
  ++one->destroyed;
  return 0;
}

using thing_handle = verbs::handle<thing, &destroy>;

TEST_CASE("what is held is destroyed once, wherever it was moved") {
  thing first;
  thing second;
  {
    thing_handle one(&first);
    thing_handle other(std::move(one));
    CHECK(other.get() == &first);
    other = thing_handle(&second);
    CHECK(first.destroyed == 1);
    CHECK(other.is_own());
  }
  CHECK(first.destroyed == 1);
  CHECK(second.destroyed == 1);
}

TEST_CASE("what is given away is not destroyed") {
  thing one;
  {
    CHECK(thing_handle(&one).release() == &one);
  }
  CHECK(one.destroyed == 0);
}

TEST_CASE("a forked child leaves alone what it inherited, and destroys its own") {
  thing inherited;
  thing own;
  thing_handle before(&inherited);
  thing_handle later;
  const pid_t child = ::fork();
  if (child == 0) {
    const bool was_own = before.is_own();
    before.reset();
    later = thing_handle(&own);
    later.reset();
    ::_exit(!was_own && inherited.destroyed == 0 && own.destroyed == 1 ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  CHECK(before.is_own());
}

}  // namespace
}  // namespace muster::testing
