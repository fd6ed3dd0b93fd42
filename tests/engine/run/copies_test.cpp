// Copies of payload: every way of copying, wherever the buffers begin, moves what it should and
// nothing else.

#include <doctest/doctest.h>

#include <cstddef>
#include <cstring>
#include <vector>

#include <muster/base/copy_bytes.hpp>
#include <muster/team/timed_copy.hpp>

#include "tools/conformance/random.hpp"

namespace muster::testing {
namespace {

constexpr std::size_t page = 4096;
constexpr std::byte untouched{0xEE};

/// Checks one copy of `bytes` between places so far into their pages.
template <class Copy>
void check_copy(Copy& copy, std::size_t from_offset, std::size_t to_offset, std::size_t bytes) {
  std::vector<std::byte> from(from_offset + bytes + 1);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<std::byte>(i * 7 + i / 251);
  std::vector<std::byte> to(to_offset + bytes + page, untouched);
  copy(to.data() + to_offset, from.data() + from_offset, bytes);
  CAPTURE(from_offset);
  CAPTURE(to_offset);
  CAPTURE(bytes);
  CHECK(std::memcmp(to.data() + to_offset, from.data() + from_offset, bytes) == 0);
  bool is_kept = true;
  for (std::size_t i = 0; i < to.size(); ++i) {
    is_kept = is_kept && (i - to_offset < bytes || to[i] == untouched);
  }
  CHECK(is_kept);
}

template <class Copy>
void check_copies(Copy copy) {
  for (const std::size_t bytes : {0, 1, 63, 64, 65, 127, 128, 2047, 2048, 2049, 4096, 70000}) {
    for (const std::size_t from : {0, 1, 16, 63}) {
      for (const std::size_t to : {0, 1, 16, 63}) check_copy(copy, from, to, bytes);
    }
  }
  INFO(how_to_replay());
  random_stream random(run_seed());
  for (int i = 0; i < 300; ++i) {
    const std::size_t from = random.below(page);
    const std::size_t to = random.below(page);
    check_copy(copy, from, to, random.below(20000));
  }
}

TEST_CASE("copy_bytes copies as memcpy does") {
  check_copies(
      [](std::byte* to, const std::byte* from, std::size_t bytes) { copy_bytes(to, from, bytes); });
}

TEST_CASE("stream_copy copies as memcpy does") {
  check_copies([](std::byte* to, const std::byte* from, std::size_t bytes) {
    stream_copy(to, from, bytes);
  });
}

TEST_CASE("a timed copy copies as memcpy does, whichever way it tries") {
  timed_copy copy;
  check_copies(
      [&](std::byte* to, const std::byte* from, std::size_t bytes) { copy(to, from, bytes); });
}

TEST_CASE("nothing is copied from nowhere") {
  timed_copy copy;
  for (int i = 0; i < 8; ++i) copy(nullptr, nullptr, 0);
  stream_copy(nullptr, nullptr, 0);
  copy_bytes(nullptr, nullptr, 0);
  check_copy(copy, 0, 0, 100000);
}

TEST_CASE("copies are timed from the least size on, one for each power of two") {
  copies_to_stage stage;
  CHECK(stage.of(8 * 1024 - 1) == nullptr);
  CHECK(stage.of(8 * 1024) != nullptr);
  CHECK(stage.of(8 * 1024) == stage.of(16 * 1024 - 1));
  CHECK(stage.of(8 * 1024) != stage.of(16 * 1024));
  CHECK(stage.of(std::size_t{1} << 40) == stage.of(std::size_t{1} << 50));
}

}  // namespace
}  // namespace muster::testing
