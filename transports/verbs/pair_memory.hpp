#pragma once

#include <cstddef>
#include <memory>
#include <span>

#include "transports/verbs/adapter.hpp"
#include "transports/verbs/notice.hpp"
#include "transports/verbs/packet_ring.hpp"
#include "transports/verbs/ports.hpp"

namespace muster::verbs {

/// What a connection keeps registered: the stream to its peer, which the devices read, and that
/// from it, which the peer writes, each a ring; and the peer's credits.
class pair_memory {
public:
  /// \param capacity of a ring: a power of two
  /// \throws error `errc::resource`
  pair_memory(adapter& by, std::size_t capacity);

  static std::size_t bytes(std::size_t capacity) noexcept { return 2 * capacity + page; }

  std::size_t capacity() const noexcept { return capacity_; }
  packet_ring outgoing() const noexcept { return {whole_.get(), capacity_}; }
  packet_ring incoming() const noexcept { return {whole_.get() + capacity_, capacity_}; }
  credit* credits() const noexcept {
    return reinterpret_cast<credit*>(whole_.get() + 2 * capacity_);
  }
  const device_region& region() const noexcept { return *region_; }

private:
  static constexpr std::size_t page = 4096;
  struct unmap {
    std::size_t bytes;
    void operator()(std::byte* at) const noexcept;
  };

  std::size_t capacity_;
  std::unique_ptr<std::byte, unmap> whole_;
  std::unique_ptr<device_region> region_;
};

}  // namespace muster::verbs
