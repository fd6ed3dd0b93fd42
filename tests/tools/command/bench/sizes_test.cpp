#include "tools/report/sizes.hpp"

#include <doctest/doctest.h>

#include <stdexcept>

namespace muster::bench {
namespace {

using list = std::vector<std::size_t>;

std::string complaint_about(std::string_view sizes) {
  try {
    parse_sizes(sizes);
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("sizes: single ones, with units") {
  CHECK(parse_sizes("8") == list{8});
  CHECK(parse_sizes("4K") == list{4096});
  CHECK(parse_sizes("4k") == list{4096});
  CHECK(parse_sizes("4KiB") == list{4096});
  CHECK(parse_sizes("1M") == list{1048576});
  CHECK(parse_sizes("64B") == list{64});
  CHECK(parse_sizes("1G") == list{std::size_t{1} << 30});
}

TEST_CASE("sizes: ranges contain their end and step by 8 or as told") {
  CHECK(parse_sizes("8..512") == list{8, 64, 512});
  CHECK(parse_sizes("8..1M") == list{8, 64, 512, 4096, 32768, 262144, 1048576});
  CHECK(parse_sizes("8..64x2") == list{8, 16, 32, 64});
  CHECK(parse_sizes("8..40x4") == list{8, 32, 40});
  CHECK(parse_sizes("64..64") == list{64});
}

TEST_CASE("sizes: lists are sorted, each size once") {
  CHECK(parse_sizes("1K,8,1024,8..64x2") == list{8, 16, 32, 64, 1024});
}

TEST_CASE("sizes: what is wrong is said with what was expected") {
  for (const char* text : {"", "x", "8,", "-8", "8Q", "8KX", "9", "0", "64..8", "8..64x1", "8..64x",
                           "8...64", "99999999999999999999", "2G", "17179869184G"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_sizes(text), std::invalid_argument);
  }
  CHECK(complaint_about("12") == "'12' is not a multiple of 8 bytes (the messages are doubles)");
  CHECK(complaint_about("8,huge") == "'huge' is not a size such as 8, 64K or 1M (at most 1G)");
}

TEST_CASE("ranks: lists of counts") {
  CHECK(parse_ranks("8") == list{8});
  CHECK(parse_ranks("16,2,4,2") == list{2, 4, 16});
  for (const char* text : {"", "0", "x", "2,", "2..4", "-1", "5000"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(parse_ranks(text), std::invalid_argument);
  }
}

TEST_CASE("sizes and times as people read them") {
  CHECK(readable_bytes(0) == "0 B");
  CHECK(readable_bytes(8) == "8 B");
  CHECK(readable_bytes(4096) == "4 KiB");
  CHECK(readable_bytes(1536) == "1.5 KiB");
  CHECK(readable_bytes(1048576) == "1 MiB");
  CHECK(readable_time(0.128) == "0.13 µs");
  CHECK(readable_time(4.7) == "4.70 µs");
  CHECK(readable_time(47.12) == "47.1 µs");
  CHECK(readable_time(471.2) == "471 µs");
  CHECK(readable_time(1234) == "1.23 ms");
  CHECK(readable_time(2.5e6) == "2.50 s");
}

}  // namespace
}  // namespace muster::bench
