#include "engine/coro/frame_pool.hpp"

#include <new>

namespace muster {
namespace {

// The pool of the engine that runs on this thread. A coroutine's operator new has no other way to
// learn it, whatever the coroutine's parameters are.
constinit thread_local frame_pool* current_pool = nullptr;

constexpr std::size_t batch = 16;  // frames of a block

}  // namespace

frame_pool::binding::binding(frame_pool* pool) noexcept : before_(current_pool) {
  current_pool = pool;
}

frame_pool::binding::~binding() { current_pool = before_; }

void frame_pool::adopt(frame_pool* pool) noexcept {
  if (current_pool == nullptr) current_pool = pool;
}

void frame_pool::forget(const frame_pool* pool) noexcept {
  if (current_pool == pool) current_pool = nullptr;
}

frame_pool::~frame_pool() {
  for (void* block : blocks_) ::operator delete(block);
}

void frame_pool::retire(frame_pool* pool) noexcept {
  // Whoever gives a frame back from now on sees the mark, and counts. acquire: what the others
  // wrote into the frames; release: the lists, for whoever deletes the pool.
  pool->collect(pool->returned_.exchange(pool->retired(), std::memory_order_acq_rel));
  const std::size_t made = pool->blocks_.size() * batch;
  pool->expect(static_cast<std::ptrdiff_t>(made - pool->count_free()));
}

// Frames that come back may be counted before it is known how many were out, so the sum is zero or
// less until then; whoever brings it to zero after that is the last.
void frame_pool::expect(std::ptrdiff_t more) noexcept {
  // acq_rel: the last one's deletion comes after all others' use.
  if (still_out_.fetch_add(more, std::memory_order_acq_rel) + more == 0) delete this;
}

std::size_t frame_pool::count_free() const noexcept {
  std::size_t count = 0;
  for (const free_frame* node : free_) {
    for (; node != nullptr; node = node->next) ++count;
  }
  return count;
}

void* frame_pool::allocate(std::size_t bytes) {
  const std::size_t whole = bytes + sizeof(header);
  const std::size_t size_class = (whole + granule - 1) / granule;
  frame_pool* pool = current_pool;
  if (pool == nullptr || size_class >= classes) {
    auto* head = static_cast<header*>(::operator new(whole));
    *head = {nullptr, size_class};
    return head + 1;
  }
  auto* head = static_cast<header*>(pool->take(size_class));
  *head = {pool, size_class};
  return head + 1;
}

void frame_pool::release(void* frame) noexcept {
  auto* head = static_cast<header*>(frame) - 1;
  frame_pool* owner = head->owner;
  if (owner == nullptr) {
    ::operator delete(head);
    return;
  }
  const std::size_t size_class = head->size_class;
  if (owner == current_pool) {
    auto* node = new (head) free_frame{owner->free_[size_class]};
    owner->free_[size_class] = node;
    return;
  }
  // The class is needed again when the frame comes home: it stays in the header's second word,
  // which free_frame does not cover.
  static_assert(sizeof(free_frame) <= offsetof(header, size_class));
  auto* node = reinterpret_cast<free_frame*>(head);
  node->next = owner->returned_.load(std::memory_order_relaxed);
  do {
    if (node->next == owner->retired()) return owner->expect(-1);
    // release: the pool's thread must see the frame's last writes before it hands it out again.
  } while (!owner->returned_.compare_exchange_weak(node->next, node, std::memory_order_release,
                                                   std::memory_order_relaxed));
}

void* frame_pool::take(std::size_t size_class) {
  free_frame* node = free_[size_class];
  if (node == nullptr) return refill(size_class);
  free_[size_class] = node->next;
  return node;
}

void* frame_pool::refill(std::size_t size_class) {
  if (collect_returned() && free_[size_class] != nullptr) return take(size_class);
  const std::size_t bytes = size_class * granule;
  blocks_.reserve(blocks_.size() + 1);
  auto* block = static_cast<std::byte*>(::operator new(bytes * batch));
  blocks_.push_back(block);
  for (std::size_t i = 1; i < batch; ++i) {
    free_[size_class] = new (block + i * bytes) free_frame{free_[size_class]};
  }
  return block;
}

bool frame_pool::collect_returned() noexcept {
  // acquire: pairs with the release in `release`.
  return collect(returned_.exchange(nullptr, std::memory_order_acquire));
}

bool frame_pool::collect(free_frame* node) noexcept {
  const bool any = node != nullptr;
  while (node != nullptr) {
    free_frame* next = node->next;
    const std::size_t size_class = reinterpret_cast<header*>(node)->size_class;
    node->next = free_[size_class];
    free_[size_class] = node;
    node = next;
  }
  return any;
}

}  // namespace muster
