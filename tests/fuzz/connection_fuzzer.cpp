// A rank's connection of one subflow, by which its peer says anything at all.

#include <cstddef>
#include <cstdint>

#include "tests/fuzz/input.hpp"
#include "tests/fuzz/rank.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  muster::fuzz::input in(data, size);
  muster::fuzz::rank under_test(1);
  under_test.live(in);
  return 0;
}
