#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "transports/mpi/arrival_ring.hpp"
#include "transports/mpi/control.hpp"
#include "transports/mpi/messenger.hpp"
#include "transports/stream/connection.hpp"

namespace muster::mpi {

class endpoint;

/// A connection of ranks of two machines by somebody else's messages.
///
/// Frames go in packets of whole frames: messages of one tag. A long message goes as a message of
/// its own, from where it is to where it belongs. Its receiver has posted the receive for it before
/// it said so, with a tag that names the place; so that the MPI takes the bytes straight there.
class connection final : public stream::connection {
public:
  connection(stream::connections& of, std::size_t peer, endpoint& at, std::size_t window);
  ~connection() override;

  // ---- stream::connection

  std::size_t window() const noexcept override { return window_; }
  bool has_room(std::size_t bytes) noexcept override;
  void send(const stream::frame& what, std::span<const std::byte> head,
            std::span<const std::byte> body) noexcept override;
  bool has_sent_all() noexcept override { return packets_.empty(); }
  std::size_t put(stream::link& by, stream::frame what, std::span<const std::byte> head,
                  std::span<const std::byte> body) noexcept override;
  bool fills_places() const noexcept override { return true; }
  void withdraw(stream::link& by) noexcept override;
  std::size_t token_bytes() const noexcept override { return sizeof(std::uint32_t); }
  bool can_open_place() const noexcept override;
  std::shared_ptr<void> open_place(stream::link& of, std::uint64_t number,
                                   std::span<std::byte> place,
                                   std::span<std::byte> token) noexcept override;
  bool all_heard() noexcept override { return false; }

  // ---- for the endpoint

  /// Bytes of the longest packet.
  static std::size_t longest_packet(std::size_t window) noexcept;
  /// Whether it takes another packet now.
  bool takes_packets() const noexcept { return unread_ < window_; }
  void bring(arrived_message packet);
  /// It was listed.
  void advance() { pull(); }
  /// A request of this connection's.
  void note(const messenger::ended& one) noexcept;
  void obey(const control& what);
  /// Whether something of it still has to leave this rank's memory.
  bool has_unsent() const noexcept { return !packets_.empty() || !outgoing_.empty(); }
  /// The peer puts nothing any more: what has not begun to come will not.
  void expect_no_more() noexcept;
  /// Whether anything is under way, to the peer or from it.
  bool is_busy() const noexcept { return has_unsent() || !incoming_.empty(); }
  /// The peer takes nothing any more.
  void close() noexcept { is_closed_ = true; }
  bool is_closed() const noexcept { return is_closed_; }

private:
  struct packet {
    std::vector<std::byte> bytes;
    messenger::request request = 0;
    bool has_left = false;
  };
  /// A part of a long message, or of what nobody wants any more.
  struct transfer {
    messenger::request request;
    stream::link* of;  ///< null: nobody's
    std::uint32_t tag;
    std::uint64_t number;  ///< of the body
    std::uint32_t part;    ///< of that
    std::size_t bytes;
    std::unique_ptr<std::byte[]> nowhere = {};  ///< where it goes, if it is nobody's
  };

  void flush() noexcept;
  void forget_sent() noexcept;
  void end_packet(packet& one) noexcept;
  void end_part(std::list<transfer>::iterator one) noexcept;
  /// Whether a part of a body is under way.
  bool sends_body(const stream::link& of, std::uint64_t number) const noexcept;
  void cut_off(const control& withdrawn);
  void drain(const control& what);
  /// For a long message from the peer: one by which nothing is to come.
  std::uint32_t free_tag() noexcept;
  void stop_sending(const stream::link& by) noexcept;
  void stop_receiving(const stream::link& by) noexcept;
  bool is_last_part(std::list<transfer>::const_iterator one) const noexcept;

  // ---- what has come
  std::size_t unread() noexcept override { return unread_; }
  void peek(std::span<std::byte> to) const noexcept override;
  void skip(std::size_t bytes) noexcept override;
  void give_back() noexcept override {}
  std::size_t receive(std::span<std::byte>) noexcept override { return 0; }
  void refuse(const stream::frame& next) noexcept override;

  endpoint& at_;
  std::size_t window_;
  bool is_closed_ = false;
  std::deque<packet> packets_;  // in their order; the first of them are under way
  std::size_t under_way_ = 0;
  std::vector<std::vector<std::byte>> spare_;
  std::list<transfer> outgoing_;  // under way
  std::list<transfer> incoming_;  // to come
  std::uint32_t last_tag_;
  std::deque<arrived_message> arrived_;
  std::size_t read_ = 0;    // of the first of them
  std::size_t unread_ = 0;  // of all
};

}  // namespace muster::mpi
