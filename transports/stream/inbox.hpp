#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace muster::stream {

/// Part of an inbox.
struct inbox_chunk {
  inbox_chunk* next;
  std::array<std::byte, 504> bytes;
};

/// Memory for inboxes, which goes from one to another: after a while none is allocated any more.
class inbox_memory {
public:
  inbox_memory() = default;
  inbox_memory(const inbox_memory&) = delete;
  inbox_memory& operator=(const inbox_memory&) = delete;

  inbox_chunk& take() {
    inbox_chunk& one = free_ == nullptr ? take_unused() : *std::exchange(free_, free_->next);
    one.next = nullptr;
    return one;
  }
  void give_back(inbox_chunk& one) noexcept { one.next = std::exchange(free_, &one); }

private:
  inbox_chunk& take_unused();

  inbox_chunk* free_ = nullptr;
  std::vector<std::unique_ptr<inbox_chunk[]>> blocks_;
  std::span<inbox_chunk> unused_;  // of the last block, which no memory stands behind yet
};

/// Bytes that have come and that nobody has taken yet, in order.
class inbox {
public:
  /// \param from outlives this
  explicit inbox(inbox_memory& from) noexcept : memory_(from) {}
  ~inbox() { skip(size_); }
  inbox(const inbox&) = delete;
  inbox& operator=(const inbox&) = delete;

  std::size_t size() const noexcept { return size_; }
  /// Some of `bytes` more at the end, at least one, to be filled at once.
  std::span<std::byte> append(std::size_t bytes);
  /// As many of the first bytes as there are and fit; how many.
  std::size_t peek(std::span<std::byte> to) const noexcept;
  /// There are so many.
  void skip(std::size_t bytes) noexcept;

private:
  inbox_memory& memory_;
  inbox_chunk* first_ = nullptr;
  inbox_chunk* last_ = nullptr;
  std::size_t begin_ = 0;  // in the first chunk
  std::size_t end_ = 0;    // in the last one
  std::size_t size_ = 0;
};

}  // namespace muster::stream
