#include <muster/coro/frame_pool.hpp>

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <cstring>
#include <memory>
#include <memory_resource>
#include <new>
#include <set>
#include <thread>
#include <utility>
#include <vector>

namespace muster::testing {
namespace {

constexpr std::size_t sizes[] = {1, 48, 49, 200, 1000, 4080, 4081, 100'000};

TEST_CASE("frames are aligned, distinct and writable, with and without a pool") {
  frame_pool pool;
  for (const bool bound : {false, true}) {
    const frame_pool::binding binding(bound ? &pool : nullptr);
    std::set<void*> frames;
    for (const std::size_t bytes : sizes) {
      for (int i = 0; i < 40; ++i) {
        void* frame = frame_pool::allocate(bytes);
        CHECK(reinterpret_cast<std::uintptr_t>(frame) % alignof(std::max_align_t) == 0);
        CHECK(frames.insert(frame).second);
        std::memset(frame, 0x11, bytes);
      }
    }
    for (void* frame : frames) frame_pool::release(frame);
  }
}

TEST_CASE("a frame given back is the next one handed out") {
  frame_pool pool;
  const frame_pool::binding binding(&pool);
  void* first = frame_pool::allocate(100);
  frame_pool::release(first);
  void* second = frame_pool::allocate(100);
  CHECK(first == second);
  frame_pool::release(second);
}

TEST_CASE("sizes of one class share frames, others do not") {
  frame_pool pool;
  const frame_pool::binding binding(&pool);
  void* small = frame_pool::allocate(frame_pool::granule);
  frame_pool::release(small);
  void* large = frame_pool::allocate(10 * frame_pool::granule);
  CHECK(small != large);
  frame_pool::release(large);
}

/// Counts what is taken from it and not given back.
class counted_memory final : public std::pmr::memory_resource {
public:
  explicit counted_memory(std::size_t& taken) noexcept : taken_(taken) {}

private:
  void* do_allocate(std::size_t bytes, std::size_t) override {
    taken_ += bytes;
    return ::operator new(bytes);
  }
  void do_deallocate(void* memory, std::size_t bytes, std::size_t) override {
    taken_ -= bytes;
    ::operator delete(memory);
  }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  std::size_t& taken_;
};

TEST_CASE("a pool takes from the memory it is given, and keeps it until its last frame is back") {
  std::size_t taken = 0;
  auto memory = std::make_shared<counted_memory>(taken);
  const std::weak_ptr<counted_memory> watched = memory;
  auto* const pool = new frame_pool(std::move(memory));
  void* frame = nullptr;
  {
    const frame_pool::binding binding(pool);
    frame = frame_pool::allocate(300);
    CHECK(taken >= 300);
  }
  frame_pool::retire(pool);
  CHECK(!watched.expired());
  CHECK(taken >= 300);
  std::memset(frame, 0x11, 300);
  frame_pool::release(frame);
  CHECK(watched.expired());
  CHECK(taken == 0);
}

TEST_CASE("frames given back by another thread are used again") {
  frame_pool pool;
  const frame_pool::binding binding(&pool);
  std::set<void*> first;
  for (int round = 0; round < 50; ++round) {
    std::vector<void*> frames;
    for (int i = 0; i < 64; ++i) frames.push_back(frame_pool::allocate(300));
    if (round == 0) first.insert(frames.begin(), frames.end());
    if (round == 49) {
      std::size_t used_again = 0;
      for (void* frame : frames) used_again += first.count(frame);
      CHECK(used_again == 64);
    }
    std::thread([&frames] {
      for (void* frame : frames) frame_pool::release(frame);
    }).join();
  }
}

// Two threads with a pool each pass frames to and fro without locks; sanitizers watch.
TEST_CASE("two pools whose threads give back each other's frames") {
  constexpr int frames = 2000;
  std::array<std::atomic<void*>, frames> mailbox{};
  const auto producer = [&mailbox] {
    frame_pool pool;
    const frame_pool::binding binding(&pool);
    for (auto& slot : mailbox) {
      void* frame = frame_pool::allocate(128);
      std::memset(frame, 0x22, 128);
      slot.store(frame, std::memory_order_release);
    }
    // The pool must outlive its frames.
    for (auto& slot : mailbox) {
      while (slot.load(std::memory_order_acquire) != nullptr) std::this_thread::yield();
    }
  };
  std::thread other(producer);
  frame_pool mine;
  const frame_pool::binding binding(&mine);
  for (auto& slot : mailbox) {
    void* frame = nullptr;
    while ((frame = slot.load(std::memory_order_acquire)) == nullptr) std::this_thread::yield();
    frame_pool::release(frame);
    slot.store(nullptr, std::memory_order_release);
  }
  other.join();
}

TEST_CASE("a retired pool lives until its last frame is given back, by any thread") {
  for (int round = 0; round < 100; ++round) {
    auto* pool = new frame_pool;
    std::vector<void*> frames;
    {
      const frame_pool::binding binding(pool);
      for (int i = 0; i < 40; ++i) {
        frames.push_back(frame_pool::allocate(200));
        std::memset(frames.back(), 0x33, 200);
      }
      for (; frames.size() > 30; frames.pop_back()) frame_pool::release(frames.back());
    }
    const auto give_back = [&](std::size_t from, std::size_t to) {
      for (std::size_t i = from; i < to; ++i) frame_pool::release(frames[i]);
    };
    std::jthread one(give_back, 0, 10);
    std::jthread other(give_back, 10, 20);
    frame_pool::retire(pool);
    give_back(20, 30);
  }
  frame_pool::retire(new frame_pool);  // none out
}

TEST_CASE("bindings nest") {
  frame_pool outer;
  frame_pool inner;
  const frame_pool::binding first(&outer);
  void* of_outer = frame_pool::allocate(64);
  frame_pool::release(of_outer);
  {
    const frame_pool::binding second(&inner);
    void* of_inner = frame_pool::allocate(64);
    CHECK(of_inner != of_outer);
    frame_pool::release(of_inner);
  }
  void* again = frame_pool::allocate(64);
  CHECK(again == of_outer);
  frame_pool::release(again);
}

}  // namespace
}  // namespace muster::testing
