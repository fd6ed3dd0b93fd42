#pragma once

#include <cstddef>
#include <span>

#include <muster/coro/frame_pool.hpp>

namespace muster {

/// Working memory of an operation: taken piece by piece, given back all at once. Comes from the
/// frame pool, like `pooled`.
class scratch_memory {
public:
  scratch_memory() = default;
  ~scratch_memory() { clear(); }
  scratch_memory(const scratch_memory&) = delete;
  scratch_memory& operator=(const scratch_memory&) = delete;

  std::span<std::byte> take(std::size_t bytes) {
    auto* const memory = static_cast<std::byte*>(frame_pool::allocate(sizeof(piece) + bytes));
    last_ = new (memory) piece{last_};
    return {memory + sizeof(piece), bytes};
  }
  void clear() noexcept {
    if (last_ != nullptr) release_all();
  }

private:
  struct alignas(std::max_align_t) piece {
    piece* before;
  };
  // Apart from the question, which every operation asks in its end.
  [[gnu::noinline]] void release_all() noexcept {
    while (last_ != nullptr) {
      piece* const before = last_->before;
      frame_pool::release(last_);
      last_ = before;
    }
  }

  piece* last_ = nullptr;
};

}  // namespace muster
