#include "tools/mpi/pieces.hpp"

#include <doctest/doctest.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <muster/base/error.hpp>

namespace muster::mpi {
namespace {

using piece = std::pair<std::int64_t, int>;
constexpr std::size_t most_of_int = 2'147'483'647;

std::vector<piece> pieces_of(std::int64_t elements, std::size_t element_bytes) {
  std::vector<piece> all;
  in_pieces(elements, element_bytes,
            [&](std::int64_t first, int some) { all.emplace_back(first, some); });
  return all;
}

TEST_CASE("pieces: no more than 1 GiB, but for one element") {
  const std::size_t quarter = std::size_t{1} << 28;
  CHECK(pieces_of(9, quarter) == std::vector<piece>{{0, 4}, {4, 4}, {8, 1}});
  CHECK(pieces_of(2, most_of_int) == std::vector<piece>{{0, 1}, {1, 1}});
  CHECK(pieces_of(0, 8).empty());
}

TEST_CASE("pieces: an element whose bytes int cannot count is refused") {
  std::string text;
  try {
    pieces_of(1, most_of_int + 1);
  } catch (const error& why) {
    CHECK(why.code() == errc::invalid_argument);
    text = why.text();
  }
  CHECK(text == "an element takes 2147483648 bytes; expected no more than int can count");
}

}  // namespace
}  // namespace muster::mpi
