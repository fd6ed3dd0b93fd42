#include "transports/sim/arena.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <memory>
#include <new>

namespace muster::sim {
namespace {

constexpr std::size_t first_piece = std::size_t{64} << 10;
constexpr std::size_t huge_page = std::size_t{2} << 20;

}  // namespace

arena::~arena() {
  for (const piece& each : pieces_) {
    ::operator delete(each.memory, each.bytes, std::align_val_t(each.alignment));
  }
}

void* arena::do_allocate(std::size_t bytes, std::size_t alignment) {
  if (std::align(alignment, bytes, next_, left_) == nullptr) {
    grow(bytes + alignment);
    std::align(alignment, bytes, next_, left_);
  }
  void* const result = next_;
  next_ = static_cast<std::byte*>(next_) + bytes;
  left_ -= bytes;
  return result;
}

// What is never used of a piece takes no memory, but for the rest of a page.
void arena::grow(std::size_t least) {
  std::size_t bytes = pieces_.empty() ? first_piece : 2 * pieces_.back().bytes;
  while (bytes < least) bytes *= 2;
  const bool is_huge = bytes >= huge_page;
  const std::size_t alignment = is_huge ? huge_page : alignof(std::max_align_t);
  pieces_.reserve(pieces_.size() + 1);
  void* const memory = ::operator new(bytes, std::align_val_t(alignment));
  pieces_.push_back({memory, bytes, alignment});
  // Where the system has no huge pages it takes small ones.
  if (is_huge) ::madvise(memory, bytes, MADV_HUGEPAGE);
  next_ = memory;
  left_ = bytes;
}

}  // namespace muster::sim
