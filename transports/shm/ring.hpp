#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include <muster/wire/board.hpp>
#include <muster/wire/channel.hpp>
#include <muster/wire/fabric.hpp>

namespace muster::shm {

/// A one-way byte stream between two ranks, in memory that both have mapped.
struct ring {
  alignas(wire::cache_line) wire::counter written;  ///< bytes the sender has put in, ever
  alignas(wire::cache_line) wire::counter read;     ///< bytes the receiver has taken out, ever
  wire::counter refused;  ///< what `read` became with the last body that could not be copied
  /// In the list of those that are free, or of a team's: number + 1 of the next.
  alignas(wire::cache_line) std::atomic<std::uint32_t> next;
  alignas(wire::cache_line) std::array<std::byte, wire::channel::capacity> data;
};

/// One end of a ring.
class ring_channel final : public wire::channel {
public:
  struct ends {
    std::size_t from;  ///< the sender
    bool one_process;  ///< both ranks are threads of it
  };
  /// \param on    of the rank at this end; outlives the channel
  /// \param bytes empty at first
  ring_channel(wire::fabric& on, ring& bytes, const ends& of) noexcept
      : fabric_(on), ring_(bytes), ends_(of) {}

  bool has_room(std::size_t bytes) const noexcept override;
  void put(std::span<const std::byte> head, std::span<const std::byte> body) noexcept override;
  void put_zero_copy(std::span<const std::byte> head,
                     std::span<const std::byte> body) noexcept override;
  bool has_left() const noexcept override;
  bool was_refused() const noexcept override;
  bool holds(std::size_t bytes) const noexcept override;
  void peek(std::span<std::byte> head) const noexcept override;
  void take(std::span<std::byte> to) noexcept override;
  bool take_zero_copy(std::span<std::byte> place) noexcept override;

private:
  wire::fabric& fabric_;
  ring& ring_;
  ends ends_;
  /// Whether the receiver is known to have taken so many bytes, ever.
  bool has_taken(std::uint64_t bytes) const noexcept;

  std::uint64_t lent_until_ = 0;  // what was put in place is read until the receiver took so much
  // At the sender: what it last saw, since a look takes the line from the receiver.
  mutable std::uint64_t read_so_far_ = 0;
};

}  // namespace muster::shm
