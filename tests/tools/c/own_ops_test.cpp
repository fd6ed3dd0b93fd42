// The numbers of a C program's own reductions.

#include "tools/c/own_ops.hpp"

#include <doctest/doctest.h>

#include <memory>
#include <optional>
#include <string>

#include <muster/base/error.hpp>
#include <muster/call/reduction.hpp>

namespace muster::c {
namespace {

std::shared_ptr<const custom_reduction> some_op() {
  return std::make_shared<const custom_reduction>();
}

std::optional<error> failure_to_add(own_ops& to) {
  try {
    to.add(some_op());
  } catch (const error& why) {
    return why;
  }
  return std::nullopt;
}

TEST_CASE("a number is one of a reduction that is alive, and is given again when that is gone") {
  own_ops all;
  const auto first = some_op();
  const auto second = some_op();
  CHECK(all.add(first) == 256);
  CHECK(all.add(second) == 257);
  CHECK(all.find(256) == first);
  CHECK(all.find(257) == second);
  for (const int none : {-1, 0, 255, 258, 1 << 24}) CHECK(all.find(none) == nullptr);
  all.remove(256);
  CHECK(all.find(256) == nullptr);
  CHECK(all.add(second) == 256);
  CHECK(all.find(256) == second);
}

TEST_CASE("one reduction too many is refused") {
  own_ops all(3);
  for (int i = 0; i < 3; ++i) all.add(some_op());
  const auto why = failure_to_add(all);
  REQUIRE(why);
  CHECK(why->code() == errc::resource);
  CHECK(why->text() == "op_create: there are 3 reductions of the program's own; expected fewer");
  all.remove(257);
  CHECK(all.add(some_op()) == 257);
  CHECK(failure_to_add(all));
}

}  // namespace
}  // namespace muster::c
