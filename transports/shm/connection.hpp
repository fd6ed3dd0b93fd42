#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "transports/shm/frame.hpp"
#include "transports/shm/job.hpp"
#include "transports/shm/ring.hpp"

namespace muster::shm {

class connections;
class link;

/// All that one rank and another say to each other, whatever the team and lane: frames, in a ring
/// for each direction.
///
/// Frames of different links come in one order, but are wanted in another. A frame whose link is
/// receiving stays where it is, at the *front* of the ring, until it is taken from there; what
/// nobody receives yet goes into its link's inbox, so that it is in nobody's way.
class connection {
public:
  /// \param of   outlives this
  /// \param peer a rank of the job
  connection(connections& of, std::size_t peer) noexcept;

  std::size_t peer() const noexcept { return peer_; }

  // ---- to the peer

  /// Whether a frame of so many bytes can be sent. If not, the peer is asked to look, should this
  /// rank go to sleep.
  bool has_room(std::size_t bytes) noexcept;
  void send(const frame& what, std::span<const std::byte> head,
            std::span<const std::byte> body) noexcept;
  /// Sends a frame as soon as there is room.
  /// \param count the bytes that follow, of `frame::kind::consumed`
  void owe(const frame& what, std::uint64_t count = 0);
  bool owes() const noexcept { return !owed_.empty(); }
  /// Whether room has been looked for in vain since this was asked last.
  bool was_crowded() noexcept { return std::exchange(is_crowded_, false); }

  // ---- from the peer

  /// Gives all that has come to the links that it is for. True if there was something new.
  bool pull();
  /// Bytes of the front that are left, where it is this link's.
  std::size_t front_of(const link& one) const noexcept { return front_for_ == &one ? left_ : 0; }
  void peek_front(std::span<std::byte> to) const noexcept { in_->peek(to); }
  void skip_front(std::size_t bytes) noexcept;
  /// The front goes to its link, which cannot do with it alone.
  void take_in_front();
  /// The link will be no more.
  void forget(const link& one) noexcept;
  /// Whether nothing is on its way to a link.
  bool all_heard() const noexcept { return !in_ || in_->unread() == left_; }

private:
  struct owed_frame {
    frame what;
    std::uint64_t count;
  };
  void send_owed();
  bool is_connected() noexcept;
  /// True where the next frame could be dealt with, or is the front now.
  bool open_next();
  void deliver(const frame& next);
  void copy_out(std::span<std::byte> to) noexcept;
  void copy_out(const frame& next, link& to);

  connections& of_;
  std::size_t peer_;
  std::optional<ring_writer> out_;  // once there is something to say
  std::optional<ring_reader> in_;   // once the peer has said something
  std::vector<owed_frame> owed_;
  bool is_crowded_ = false;
  link* front_for_ = nullptr;
  std::size_t left_ = 0;  // of the front
};

}  // namespace muster::shm
