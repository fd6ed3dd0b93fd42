#pragma once

#include <Kokkos_Core.hpp>

#include <array>
#include <cstddef>
#include <memory>
#include <mutex>
#include <utility>

/// Memory that packed and staged Views lie in while they travel: taken for a call, used again by
/// the next.
namespace muster::kokkos::detail {

/// Where memory comes from, as functions: one object for each kind of memory.
struct memory_source {
  void* (*allocate)(std::size_t bytes);
  void (*release)(void* memory);
  bool is_kokkos;  ///< nothing may be left of it when Kokkos ends
};

/// Of the host, aligned to cache lines.
extern const memory_source host_memory;

/// Of a memory space of Kokkos.
template <class Space>
inline constexpr memory_source memory_of = {
    .allocate = [](std::size_t bytes) { return Kokkos::kokkos_malloc<Space>("muster", bytes); },
    .release = [](void* memory) { Kokkos::kokkos_free<Space>(memory); },
    .is_kokkos = true};
template <>
inline constexpr const memory_source& memory_of<Kokkos::HostSpace> = host_memory;

class buffer;

/// Buffers that a thread's calls have used. Of those that are given back it keeps some, which the
/// next calls take. Threads may give back what others took.
class buffer_pool : public std::enable_shared_from_this<buffer_pool> {
public:
  static constexpr std::size_t most_buffers = 32;
  static constexpr std::size_t most_bytes = std::size_t{256} << 20;  ///< of all that it keeps

  buffer_pool() = default;
  ~buffer_pool();
  buffer_pool(const buffer_pool&) = delete;
  buffer_pool& operator=(const buffer_pool&) = delete;

  /// The calling thread's.
  static buffer_pool& here();

  buffer take(const memory_source& from, std::size_t bytes);
  /// Gives back to the system what it keeps; all, or what is of Kokkos.
  void clear(bool only_of_kokkos) noexcept;

private:
  friend class buffer;
  struct block {
    const memory_source* from = nullptr;
    void* memory = nullptr;
    std::size_t bytes = 0;
  };
  void give_back(const block& used) noexcept;
  bool find(const memory_source& from, std::size_t bytes, block& found) noexcept;
  void clear_before_kokkos_ends();

  std::mutex mutex_;
  std::array<block, most_buffers> kept_;
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;  // of those kept
  bool is_told_of_end_ = false;
};

/// One that is taken. Move-only; goes back to its pool.
class buffer {
public:
  buffer() = default;
  buffer(buffer&& other) noexcept
      : pool_(std::move(other.pool_)), block_(std::exchange(other.block_, {})) {}
  buffer& operator=(buffer&& other) noexcept {
    std::swap(pool_, other.pool_);
    std::swap(block_, other.block_);
    return *this;
  }
  ~buffer() {
    if (pool_ != nullptr) pool_->give_back(block_);
  }

  std::byte* data() const noexcept { return static_cast<std::byte*>(block_.memory); }

private:
  friend class buffer_pool;
  buffer(std::shared_ptr<buffer_pool> of, const buffer_pool::block& taken) noexcept
      : pool_(std::move(of)), block_(taken) {}

  std::shared_ptr<buffer_pool> pool_;
  buffer_pool::block block_;
};

}  // namespace muster::kokkos::detail
