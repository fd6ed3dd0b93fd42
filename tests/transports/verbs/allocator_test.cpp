// What the C library gives back to the system is not registered any more.

#include <doctest/doctest.h>
#include <malloc.h>

#include <cstddef>
#include <cstdlib>
#include <new>
#include <span>
#include <vector>

#include "tests/transports/verbs/watched_cache.hpp"

namespace muster::testing {
namespace {

constexpr std::size_t large = std::size_t{8} << 20;  // a mapping of its own

std::span<std::byte> allocate(std::size_t bytes) {
  auto* const made = static_cast<std::byte*>(std::malloc(bytes));
  if (made == nullptr) throw std::bad_alloc();
  return {made, bytes};
}

/// The whole pages of some bytes.
std::span<std::byte> inner(std::span<std::byte> some) {
  const address_range all = address_range::of(some).rounded_to(page);
  return address_range{all.begin + page, all.end - page}.bytes();
}

TEST_CASE("a large block that was freed") {
  fake_registrar by;
  watched_cache one(by);
  if (!one.is_watching()) return;
  ::mallopt(M_MMAP_THRESHOLD, 1 << 20);
  std::size_t again = 0;
  std::byte* before = nullptr;
  for (int turn = 0; turn < 20; ++turn) {
    const auto block = allocate(large);
    if (block.data() == before) ++again;
    CHECK_FALSE(one.is_hit(block));
    CHECK(one.is_hit(block));
    before = block.data();
    std::free(block.data());
  }
  CHECK(again != 0);
}

TEST_CASE("a large block that has grown") {
  fake_registrar by;
  watched_cache one(by);
  if (!one.is_watching()) return;
  ::mallopt(M_MMAP_THRESHOLD, 1 << 20);
  auto block = allocate(large);
  const auto other = allocate(large);  // may be in the way
  for (std::size_t bytes = large; bytes <= 8 * large; bytes *= 2) {
    void* const grown = std::realloc(block.data(), bytes);
    REQUIRE(grown != nullptr);
    const bool has_moved = grown != block.data();
    block = {static_cast<std::byte*>(grown), bytes};
    if (has_moved) CHECK_FALSE(one.is_hit(block.first(large)));
    one.hold(block);
    CHECK(one.is_hit(block));
  }
  std::free(other.data());
  std::free(block.data());
}

TEST_CASE("the end of the heap that was trimmed") {
  fake_registrar by;
  watched_cache one(by);
  if (!one.is_watching()) return;
  ::mallopt(M_MMAP_THRESHOLD, 1 << 30);
  ::mallopt(M_TRIM_THRESHOLD, 1 << 30);
  const auto block = allocate(large);
  one.hold(inner(block));
  std::free(block.data());
  CHECK(one.is_hit(inner(block)));  // the library has it, not the system
  ::malloc_trim(0);
  const auto again = allocate(large);
  if (again.data() == block.data()) CHECK_FALSE(one.is_hit(inner(again)));
  std::free(again.data());
}

TEST_CASE("free memory amid the heap that was trimmed") {
  fake_registrar by;
  watched_cache one(by);
  if (!one.is_watching()) return;
  ::mallopt(M_MMAP_THRESHOLD, 1 << 30);
  const auto block = allocate(large);
  const auto last = allocate(page);
  const auto middle = inner(block);
  one.hold(middle);
  std::free(block.data());
  ::malloc_trim(0);
  const auto again = allocate(large);
  if (again.data() == block.data()) CHECK_FALSE(one.is_hit(middle));
  std::free(again.data());
  std::free(last.data());
}

}  // namespace
}  // namespace muster::testing
