#include <muster/kokkos/buffers.hpp>

#include <bit>
#include <new>

namespace muster::kokkos::detail {
namespace {

constexpr std::align_val_t line{64};

/// A power of two or a part of one, so that calls of about one length share a buffer.
std::size_t rounded(std::size_t bytes) noexcept {
  constexpr std::size_t least = 4096;
  if (bytes <= least) return least;
  const std::size_t step = std::bit_floor(bytes) / 8;
  return (bytes + step - 1) / step * step;
}

}  // namespace

constinit const memory_source host_memory = {
    .allocate = [](std::size_t bytes) { return ::operator new(bytes, line); },
    .release = [](void* memory) { ::operator delete(memory, line); },
    .is_kokkos = false};

buffer_pool::~buffer_pool() { clear(false); }

buffer_pool& buffer_pool::here() {
  // A call does not say which thread's memory it may use otherwise, as with coroutine frames.
  thread_local const std::shared_ptr<buffer_pool> mine = std::make_shared<buffer_pool>();
  return *mine;
}

buffer buffer_pool::take(const memory_source& from, std::size_t bytes) {
  block taken;
  if (!find(from, bytes, taken)) {
    if (from.is_kokkos) clear_before_kokkos_ends();
    const std::size_t all = rounded(bytes);
    taken = {.from = &from, .memory = from.allocate(all), .bytes = all};
  }
  return {shared_from_this(), taken};
}

bool buffer_pool::find(const memory_source& from, std::size_t bytes, block& found) noexcept {
  const std::scoped_lock alone(mutex_);
  std::size_t best = count_;
  for (std::size_t i = 0; i < count_; ++i) {
    const block& each = kept_[i];
    if (each.from != &from || each.bytes < bytes) continue;
    if (best == count_ || each.bytes < kept_[best].bytes) best = i;
  }
  // One that is far too long would be missed by those who need it.
  if (best == count_ || kept_[best].bytes / 4 > rounded(bytes)) return false;
  found = kept_[best];
  bytes_ -= found.bytes;
  kept_[best] = kept_[--count_];
  return true;
}

void buffer_pool::give_back(const block& used) noexcept {
  {
    const std::scoped_lock alone(mutex_);
    if (count_ < most_buffers && bytes_ + used.bytes <= most_bytes) {
      kept_[count_++] = used;
      bytes_ += used.bytes;
      return;
    }
  }
  used.from->release(used.memory);
}

void buffer_pool::clear(bool only_of_kokkos) noexcept {
  const std::scoped_lock alone(mutex_);
  std::size_t left = 0;
  for (std::size_t i = 0; i < count_; ++i) {
    if (only_of_kokkos && !kept_[i].from->is_kokkos) {
      kept_[left++] = kept_[i];
    } else {
      bytes_ -= kept_[i].bytes;
      kept_[i].from->release(kept_[i].memory);
    }
  }
  count_ = left;
}

void buffer_pool::clear_before_kokkos_ends() {
  {
    const std::scoped_lock alone(mutex_);
    if (std::exchange(is_told_of_end_, true)) return;
  }
  // Kokkos's list of hooks is that of the process, and nobody's lock protects it.
  static std::mutex hooks;
  const std::scoped_lock alone(hooks);
  Kokkos::push_finalize_hook([pool = weak_from_this()] {
    if (const auto here = pool.lock()) here->clear(true);
  });
}

}  // namespace muster::kokkos::detail
