#pragma once

#include <cstddef>
#include <memory_resource>
#include <vector>

namespace muster::sim {

/// Memory for what lives as long as a simulation: it is given back all at once.
///
/// Thousands of ranks are visited in no order, and with small pages nearly each visit would miss
/// the TLB several times. So memory is taken in larger and larger pieces, and those that are large
/// enough lie on huge pages.
class arena final : public std::pmr::memory_resource {
public:
  arena() = default;
  ~arena() override;
  arena(const arena&) = delete;
  arena& operator=(const arena&) = delete;

private:
  void* do_allocate(std::size_t bytes, std::size_t alignment) override;
  void do_deallocate(void*, std::size_t, std::size_t) override {}
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }
  void grow(std::size_t least);

  struct piece {
    void* memory;
    std::size_t bytes;
    std::size_t alignment;
  };
  std::vector<piece> pieces_;
  void* next_ = nullptr;  // free, to the end of the last piece
  std::size_t left_ = 0;
};

}  // namespace muster::sim
