#include <muster/coro/frame_pool.hpp>

#include <new>

namespace muster {
namespace {

constexpr std::size_t batch = 16;  // frames of a block

}  // namespace

constinit thread_local frame_pool* frame_pool::current_ = nullptr;

frame_pool::binding::binding(frame_pool* pool) noexcept : before_(current_) { current_ = pool; }

frame_pool::binding::~binding() { current_ = before_; }

void frame_pool::adopt(frame_pool* pool) noexcept {
  if (current_ == nullptr) current_ = pool;
}

void frame_pool::forget(const frame_pool* pool) noexcept {
  if (current_ == pool) current_ = nullptr;
}

frame_pool::~frame_pool() {
  for (const block& each : blocks_) memory().deallocate(each.memory, each.bytes);
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

std::pmr::memory_resource& frame_pool::memory() const noexcept {
  return memory_ != nullptr ? *memory_ : *std::pmr::new_delete_resource();
}

std::size_t frame_pool::count_free() const noexcept {
  std::size_t count = 0;
  for (const free_frame* node : free_) {
    for (; node != nullptr; node = node->next) ++count;
  }
  return count;
}

void* frame_pool::allocate_from_heap(std::size_t bytes, std::size_t size_class) {
  auto* head = static_cast<header*>(::operator new(bytes + sizeof(header)));
  *head = {nullptr, size_class};
  return head + 1;
}

void frame_pool::release_elsewhere(header* head) noexcept {
  frame_pool* const owner = head->owner;
  if (owner == nullptr) {
    ::operator delete(head);
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

void* frame_pool::refill(std::size_t size_class) {
  if (collect_returned() && free_[size_class] != nullptr) return take(size_class);
  const std::size_t bytes = size_class * granule;
  blocks_.reserve(blocks_.size() + 1);
  auto* made = static_cast<std::byte*>(memory().allocate(bytes * batch));
  blocks_.push_back({made, bytes * batch});
  for (std::size_t i = 1; i < batch; ++i) {
    free_[size_class] = new (made + i * bytes) free_frame{free_[size_class]};
  }
  return made;
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
