#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <memory>
#include <memory_resource>
#include <new>
#include <utility>
#include <vector>

namespace muster {

/// Memory for the coroutine frames of one engine.
///
/// Frames are taken from and given back to free lists by size, without a lock, by the one thread
/// that the pool is bound to. A frame given back by another thread goes onto a lock-free stack that
/// the pool's thread empties when a list runs dry. A thread with no pool, and frames above
/// `largest`, use the general heap. After warm-up a call allocates nothing from the system.
class frame_pool {
public:
  static constexpr std::size_t granule = 64;    ///< sizes are rounded up to this, in bytes
  static constexpr std::size_t largest = 4096;  ///< the largest pooled frame, in bytes

  frame_pool() = default;
  /// \param memory what it takes from, instead of the general heap; lives as long as the pool
  explicit frame_pool(std::shared_ptr<std::pmr::memory_resource> memory) noexcept
      : memory_(std::move(memory)) {}
  /// No frame may be out any more; see `retire`.
  ~frame_pool();
  frame_pool(const frame_pool&) = delete;
  frame_pool& operator=(const frame_pool&) = delete;

  /// Ends a pool that was made with `new`: at once, or when the last of its frames is given back.
  /// A coroutine that a thread made for another engine may outlive the thread's own.
  static void retire(frame_pool* pool) noexcept;

  /// Binds a pool to the calling thread for the life of the object, then restores the one before.
  class binding {
  public:
    explicit binding(frame_pool* pool) noexcept;
    ~binding();
    binding(const binding&) = delete;
    binding& operator=(const binding&) = delete;

  private:
    frame_pool* before_;
  };

  /// Makes a pool the calling thread's, if it has none; `forget` takes it away again if it is.
  static void adopt(frame_pool* pool) noexcept;
  static void forget(const frame_pool* pool) noexcept;

  /// A frame of at least `bytes`, aligned as `operator new` does, from the calling thread's pool.
  static void* allocate(std::size_t bytes) {
    const std::size_t size_class = (bytes + sizeof(header) + granule - 1) / granule;
    frame_pool* const pool = current_;
    if (pool == nullptr || size_class >= classes) [[unlikely]] {
      return allocate_from_heap(bytes, size_class);
    }
    auto* head = static_cast<header*>(pool->take(size_class));
    *head = {pool, size_class};
    return head + 1;
  }
  /// Returns a frame of `allocate`, from any thread.
  static void release(void* frame) noexcept {
    auto* head = static_cast<header*>(frame) - 1;
    frame_pool* const owner = head->owner;
    if (owner == nullptr || owner != current_) [[unlikely]] {
      return release_elsewhere(head);
    }
    const std::size_t size_class = head->size_class;
    owner->free_[size_class] = new (head) free_frame{owner->free_[size_class]};
  }

private:
  struct header {
    frame_pool* owner;
    std::size_t size_class;
  };
  struct free_frame {
    free_frame* next;
  };
  static constexpr std::size_t classes = largest / granule + 1;

  static void* allocate_from_heap(std::size_t bytes, std::size_t size_class);
  static void release_elsewhere(header* head) noexcept;
  void* take(std::size_t size_class) {
    free_frame* node = free_[size_class];
    if (node == nullptr) [[unlikely]] {
      return refill(size_class);
    }
    free_[size_class] = node->next;
    return node;
  }
  void* refill(std::size_t size_class);
  bool collect_returned() noexcept;
  bool collect(free_frame* node) noexcept;
  std::size_t count_free() const noexcept;
  std::pmr::memory_resource& memory() const noexcept;
  void expect(std::ptrdiff_t more) noexcept;
  /// No frame lies where the pool itself does.
  free_frame* retired() noexcept { return reinterpret_cast<free_frame*>(this); }

  // The pool of the engine that runs on this thread. A coroutine's operator new has no other way to
  // learn it, whatever the coroutine's parameters are.
  // Defined once, in the library: programs and what they load share it. Found without a call.
  static constinit thread_local frame_pool* current_ [[gnu::tls_model("initial-exec")]];

  std::array<free_frame*, classes> free_{};
  std::atomic<free_frame*> returned_{nullptr};
  std::atomic<std::ptrdiff_t> still_out_{0};  // once retired
  struct block {
    void* memory;
    std::size_t bytes;
  };
  std::vector<block> blocks_;
  std::shared_ptr<std::pmr::memory_resource> memory_;  // null: the general heap
};

/// For containers that live no longer than a coroutine.
template <class T>
struct pool_allocator {
  using value_type = T;

  pool_allocator() = default;
  template <class Other>
  explicit(false) pool_allocator(const pool_allocator<Other>&) noexcept {}

  T* allocate(std::size_t count) {
    static_assert(alignof(T) <= alignof(std::max_align_t));
    return static_cast<T*>(frame_pool::allocate(count * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t) noexcept { frame_pool::release(memory); }

  friend bool operator==(const pool_allocator&, const pool_allocator&) = default;
};

/// A vector whose memory comes from the pool: short ones cost no allocation.
template <class T>
using pooled_list = std::vector<T, pool_allocator<T>>;

}  // namespace muster
