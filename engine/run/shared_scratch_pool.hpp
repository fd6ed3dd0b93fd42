#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <muster/wire/node_memory.hpp>

namespace muster {

/// A rank's shared scratch on a team, kept between operations, in sizes that are powers of two.
class shared_scratch_pool {
public:
  /// \param of outlives this
  explicit shared_scratch_pool(wire::node_memory& of) noexcept : memory_(of) {}
  ~shared_scratch_pool() { free_idle(); }
  shared_scratch_pool(const shared_scratch_pool&) = delete;
  shared_scratch_pool& operator=(const shared_scratch_pool&) = delete;

  /// At least so many bytes. \throws error `errc::resource`
  std::span<std::byte> take(std::size_t bytes);
  /// Nobody uses it any more.
  void give_back(std::span<std::byte> memory) noexcept { idle_.push_back(memory); }

private:
  void free_idle() noexcept;

  wire::node_memory& memory_;
  std::vector<std::span<std::byte>> idle_;
  std::size_t count_ = 0;  // idle or not
};

}  // namespace muster
