// The memory of a simulation, and the table of its channels.

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <map>
#include <memory_resource>
#include <utility>
#include <vector>

#include "tools/conformance/random.hpp"
#include "transports/sim/arena.hpp"
#include "transports/sim/pointer_table.hpp"

namespace muster::testing {
namespace {

TEST_CASE("an arena's memory is aligned and nobody else's") {
  INFO(how_to_replay());
  random_stream random(run_seed());
  sim::arena memory;
  struct block {
    unsigned char* at;
    std::size_t bytes;
  };
  std::vector<block> blocks;
  for (std::size_t i = 0; i < 2000; ++i) {
    const std::size_t alignment = std::size_t{1} << random.below(8);
    // Some are larger than any piece so far.
    const std::size_t bytes = random.one_in(500) ? (3 << 20) : 1 + random.below(3000);
    auto* const at = static_cast<unsigned char*>(memory.allocate(bytes, alignment));
    CHECK(reinterpret_cast<std::uintptr_t>(at) % alignment == 0);
    std::memset(at, static_cast<int>(i % 251), bytes);
    blocks.push_back({at, bytes});
  }
  std::size_t spoilt = 0;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    spoilt += blocks[i].at[0] != i % 251 || blocks[i].at[blocks[i].bytes - 1] != i % 251;
  }
  CHECK(spoilt == 0);
}

/// Adds and erases at random, against a map: keys below `keys`.
void check_table(std::uint64_t seed, std::size_t steps, std::size_t keys) {
  random_stream random(seed);
  std::vector<int> objects(keys);
  sim::pointer_table<int> table(std::pmr::new_delete_resource());
  std::map<std::uint64_t, int*> expected;
  bool all_well = true;
  for (std::size_t i = 0; i < steps; ++i) {
    const std::uint64_t key = random.below(keys);
    const auto known = expected.find(key);
    all_well = all_well && table.find(key) == (known == expected.end() ? nullptr : known->second);
    if (known != expected.end()) {
      table.erase(key);
      expected.erase(known);
    } else {
      int& object = objects[key];
      table.insert(key, object);
      expected.emplace(key, &object);
    }
    all_well = all_well && table.size() == expected.size();
  }
  for (const auto& [key, object] : expected) all_well = all_well && table.find(key) == object;
  CHECK(all_well);
}

TEST_CASE("a table finds what was added and not erased") {
  INFO(how_to_replay());
  for (std::uint64_t i = 0; i < 50; ++i) check_table(derive(run_seed(), i), 1000, 60);
  check_table(run_seed(), 200'000, 5000);
}

}  // namespace
}  // namespace muster::testing
