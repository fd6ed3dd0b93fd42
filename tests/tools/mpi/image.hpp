#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tests/tools/mpi/shapes.hpp"

namespace muster::testing {

/// Where a message lies in a buffer: so many elements of a shape, from a byte on.
struct block {
  std::ptrdiff_t at = 0;
  std::size_t count = 0;
  const shape* of = nullptr;
};

/// A buffer, as large as its blocks need, with a margin around. What no message is written to keeps
/// the guard's value.
class image {
public:
  image(std::span<const block> blocks, unsigned char guard);

  /// All of it, and from where on what MPI is given is.
  std::span<unsigned char> bytes() noexcept { return bytes_; }
  std::ptrdiff_t origin() const noexcept { return origin_; }
  void clear();
  /// Writes the message of a key, of which each byte depends on the key and its place.
  void put(const block& where, std::uint64_t key);
  /// The first byte, counted from the address, that differs from another image's.
  std::optional<std::ptrdiff_t> difference(const image& other) const;
  int byte(std::ptrdiff_t at) const { return bytes_[static_cast<std::size_t>(origin_ + at)]; }

private:
  std::vector<unsigned char> bytes_;
  std::ptrdiff_t origin_ = 0;
  unsigned char guard_;
};

}  // namespace muster::testing
