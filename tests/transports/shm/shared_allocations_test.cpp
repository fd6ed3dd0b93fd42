// Memory that several ranks use and leave, and rings for all.

#include "transports/shm/shared_allocations.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <thread>
#include <vector>

#include <muster/base/error.hpp>

#include "tests/harness/failure.hpp"
#include "transports/shm/segment.hpp"
#include "transports/shm/team_memory.hpp"

namespace muster::testing {
namespace {

constexpr std::size_t allocation_bytes = 1 << 16;

bool is_zero(std::span<const std::byte> allocation) {
  return std::ranges::all_of(allocation.subspan(sizeof(shm::allocation_head)),
                             [](std::byte each) { return each == std::byte{0}; });
}

TEST_CASE("an allocation is used again when all its users have released it, and is zero then") {
  const shm::segment memory = shm::segment::create("test", allocation_bytes);
  shm::shared_allocations allocations({&memory, {memory.base(), memory.bytes()}});
  for (int round = 0; round < 3; ++round) {
    const std::span<std::byte> allocation = allocations.allocate(allocation_bytes, 2);
    CHECK(is_zero(allocation));
    std::memset(allocation.data() + sizeof(shm::allocation_head), 7,
                allocation.size() - sizeof(shm::allocation_head));
    int cleaned = 0;
    shm::shared_allocations::release(allocation.data(), [&] { ++cleaned; });
    CHECK(cleaned == 0);
    const auto why = failure_of([&] { allocations.allocate(allocation_bytes, 1); });
    REQUIRE(why);
    CHECK(why->code() == errc::resource);
    shm::shared_allocations::release(allocation.data(), [&] { ++cleaned; });
    CHECK(cleaned == 1);
  }
  allocations.withdraw(allocations.allocate(allocation_bytes, 5).data());
  CHECK(is_zero(allocations.allocate(allocation_bytes, 1)));
}

TEST_CASE("allocations left behind stay few, though nobody asks for the last of the memory") {
  const shm::segment memory = shm::segment::create("test", 1000 * allocation_bytes);
  shm::shared_allocations allocations({&memory, {memory.base(), memory.bytes()}});
  const std::byte* furthest = nullptr;
  for (int i = 0; i < 5000; ++i) {
    const std::span<std::byte> allocation = allocations.allocate(allocation_bytes, 1);
    furthest = std::max<const std::byte*>(furthest, allocation.data());
    shm::shared_allocations::release(allocation.data(), [] {});
  }
  CHECK(furthest < memory.base() + 10 * allocation_bytes);
}

}  // namespace
}  // namespace muster::testing
