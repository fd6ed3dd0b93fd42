#include <muster/team/shape.hpp>

#include <doctest/doctest.h>

#include <utility>
#include <vector>

namespace muster::testing {
namespace {

shape shape_of(const std::vector<std::uint32_t>& nodes) {
  std::vector<place> places(nodes.size());
  for (std::size_t i = 0; i < nodes.size(); ++i) places[i].node = nodes[i];
  return shape(std::move(places));
}

std::vector<std::size_t> ranks_of(const shape& ranks, std::size_t node) {
  const auto all = ranks.ranks_of(node);
  return {all.begin(), all.end()};
}

TEST_CASE("one node") {
  const shape ranks = shape_of({0, 0, 0});
  CHECK(ranks.size() == 3);
  CHECK(ranks.nodes() == 1);
  CHECK(ranks_of(ranks, 0) == std::vector<std::size_t>{0, 1, 2});
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK(ranks.node_of(i) == 0);
    CHECK(ranks.index_of(i) == i);
  }
}

TEST_CASE("nodes are numbered in the order of their lowest rank, whatever they are called") {
  const shape ranks = shape_of({700, 3, 700, 9, 3, 3});
  CHECK(ranks.nodes() == 3);
  CHECK(ranks_of(ranks, 0) == std::vector<std::size_t>{0, 2});
  CHECK(ranks_of(ranks, 1) == std::vector<std::size_t>{1, 4, 5});
  CHECK(ranks_of(ranks, 2) == std::vector<std::size_t>{3});
  CHECK(ranks.node_of(4) == 1);
  CHECK(ranks.index_of(5) == 2);
  CHECK(ranks.place_of(0).node == 700);
}

TEST_CASE("nodes are contiguous where no rank of another lies between two of theirs") {
  CHECK(shape_of({4}).nodes_are_contiguous());
  CHECK(shape_of({2, 2, 2}).nodes_are_contiguous());
  CHECK(shape_of({7, 7, 3, 9, 9}).nodes_are_contiguous());
  CHECK_FALSE(shape_of({7, 3, 7}).nodes_are_contiguous());
  CHECK_FALSE(shape_of({0, 1, 2, 0, 1, 2}).nodes_are_contiguous());
}

TEST_CASE("a team of one") {
  const shape alone = shape_of({5});
  CHECK(alone.size() == 1);
  CHECK(alone.nodes() == 1);
  CHECK(alone.index_of(0) == 0);
}

}  // namespace
}  // namespace muster::testing
