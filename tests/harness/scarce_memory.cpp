#include "tests/harness/scarce_memory.hpp"

#include <cstdlib>
#include <new>

namespace muster::testing {
namespace {

struct scarcity {
  std::size_t bytes = 0;  // 0: of no size
  std::size_t left = 0;   // until one is refused; 0: none will be
  std::size_t refused = 0;

  bool refuses(std::size_t wanted) noexcept {
    const bool is_last = left != 0 && --left == 0;
    if (!is_last && (wanted != bytes || bytes == 0)) return false;
    ++refused;
    return true;
  }
};

scarcity& here() noexcept {
  thread_local scarcity one;
  return one;
}

void* allocate(std::size_t bytes, std::size_t alignment) {
  if (here().refuses(bytes)) throw std::bad_alloc();
  const std::size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  void* const memory = std::aligned_alloc(alignment, rounded == 0 ? alignment : rounded);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

scarce_memory::scarce_memory(std::size_t bytes) noexcept { here() = {.bytes = bytes}; }
scarce_memory::scarce_memory(number which) noexcept { here() = {.left = which.of_those_to_come}; }
scarce_memory::~scarce_memory() { here() = {}; }
std::size_t scarce_memory::refused() noexcept { return here().refused; }

}  // namespace muster::testing

void* operator new(std::size_t bytes) {
  return muster::testing::allocate(bytes, alignof(std::max_align_t));
}
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return muster::testing::allocate(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { std::free(memory); }
