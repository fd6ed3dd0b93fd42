#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include <muster/base/descriptor.hpp>

#include "transports/tcp/buffered_socket.hpp"
#include "transports/tcp/byte_ring.hpp"
#include "transports/tcp/peer_connection.hpp"

namespace muster::tcp {

class endpoint;

/// A connection of ranks of two machines with one subflow: a socket, from when one of them first
/// needs it.
///
/// Short frames are gathered in a ring of bytes and leave with one system call. Bodies go from the
/// sender's memory straight to the system, in pieces, between which short frames may go; they come
/// straight into their place. Long pieces the system reads where they are, where that is asked for.
class socket_connection final : public peer_connection {
public:
  /// \param by     outlives this
  /// \param window a power of two: see `stream::connection::window`
  socket_connection(stream::connections& of, std::size_t peer, endpoint& by, std::size_t window);

  // ---- peer_connection

  bool is_open(std::size_t) const noexcept override { return is_open(); }
  bool is_open() const noexcept override { return socket_.is_open(); }
  void open(std::size_t, descriptor socket, registration watch) noexcept override;
  void close() noexcept override;
  bool is_closed() const noexcept override { return is_closed_; }
  void note(std::size_t, bool readable, bool writable, bool ends) noexcept override;
  void bring(std::size_t, std::span<const std::byte> bytes) override { socket_.bring(bytes); }
  void stop_bringing(std::size_t, bool ends) noexcept override { socket_.stop_bringing(ends); }
  bool advance() noexcept override { return pull(); }
  bool is_active() const noexcept override {
    return socket_.is_readable() || socket_.has_ended() || owes() || socket_.in().size() > front();
  }
  bool is_over() const noexcept override { return socket_.has_ended() && front() == 0; }
  bool flush() noexcept override;
  bool has_delivered() noexcept override;
  bool tend() noexcept override { return false; }

  // ---- connection

  std::size_t window() const noexcept override { return window_; }
  bool has_room(std::size_t bytes) noexcept override;
  void send(const stream::frame& what, std::span<const std::byte> head,
            std::span<const std::byte> body) noexcept override;
  bool has_sent_all() noexcept override { return flush(); }
  std::size_t put(stream::link& by, stream::frame what, std::span<const std::byte> head,
                  std::span<const std::byte> body) noexcept override;
  bool fills_places() const noexcept override { return true; }
  void withdraw(stream::link& by) noexcept override;
  /// What is under way between machines nobody knows.
  bool all_heard() noexcept override { return false; }

private:
  struct outgoing_body {
    stream::link* by;  // null: nobody waits for it any more
    stream::frame what;
    std::span<const std::byte> left;
    std::uint64_t zero_copy_sends = 0;  // of the socket, with its last one; 0: it had none
  };
  /// A body that the system reads where it is.
  struct leaving_body {
    stream::link* by;
    std::uint64_t zero_copy_sends;
  };
  /// What one system call takes.
  struct batch;

  std::size_t unread() noexcept override;
  void peek(std::span<std::byte> to) const noexcept override { socket_.in().peek(to); }
  void skip(std::size_t bytes) noexcept override { socket_.in().skip(bytes); }
  void give_back() noexcept override {}
  std::size_t receive(std::span<std::byte> to) noexcept override {
    return socket_.take(to, most_behind());
  }
  void note_filled() noexcept override {
    if (bodies_to_come_ != 0) --bodies_to_come_;
  }
  void refuse(const stream::frame& next) noexcept override;

  std::size_t most_behind() const noexcept;
  bool has_sent_frames() const noexcept;
  /// Of each part what the system does not take is left.
  void send_at_once(std::span<std::span<const std::byte>> parts) noexcept;
  void stop_sending() noexcept;
  void begin_piece() noexcept;
  bool piece_has_begun() const noexcept { return head_left_ + piece_left_ != 0; }
  void keep_piece(outgoing_body& body) noexcept;
  void add_piece(batch& all) const noexcept;
  moved send_batch() noexcept;
  bool piece_is_zero_copy() const noexcept;
  moved send_piece_zero_copy() noexcept;
  void note_left() noexcept;
  void await_left(const stream::link& by) noexcept;
  void count_sent(std::size_t bytes, bool piece_was_first) noexcept;
  void count_piece_sent(std::size_t bytes) noexcept;

  endpoint& by_;
  std::size_t window_;
  buffered_socket socket_;
  bool is_closed_ = false;
  std::size_t bodies_to_come_ = 0;  // that this rank has invited, about
  byte_ring out_;
  std::deque<outgoing_body> bodies_;
  std::deque<leaving_body> leaving_;
  // The piece of the first body that has begun.
  stream::frame piece_{};
  std::size_t head_left_ = 0;    // of its frame
  std::size_t piece_left_ = 0;   // of its bytes
  std::vector<std::byte> kept_;  // the rest of one that was taken back
};

}  // namespace muster::tcp
