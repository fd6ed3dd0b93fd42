#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include <muster/base/descriptor.hpp>

#include "transports/tcp/byte_ring.hpp"
#include "transports/tcp/intervals.hpp"
#include "transports/tcp/packet.hpp"
#include "transports/tcp/peer_connection.hpp"
#include "transports/tcp/subflow.hpp"

namespace muster::tcp {

class endpoint;

/// A connection of ranks of two machines by several subflows at once: over several rails, or
/// several on one.
///
/// Frames are one stream of bytes, whose packets take turns among the subflows; the receiver puts
/// them in order. Each subflow sends a part of a body, in stripes, and who is done first goes on
/// with the half of what another has left; they come straight into their place. What a subflow
/// carried and was not consumed goes again on the others when it is lost; what came twice is left
/// out. A subflow that was lost is made again, and used again.
class multipath_connection final : public peer_connection {
public:
  /// \param by     outlives this
  /// \param window a power of two: see `stream::connection::window`
  multipath_connection(stream::connections& of, std::size_t peer, endpoint& by, std::size_t window,
                       std::size_t subflows);

  // ---- peer_connection

  bool is_open(std::size_t subflow) const noexcept override { return subflows_[subflow].is_open(); }
  bool is_open() const noexcept override;
  void open(std::size_t subflow, descriptor socket, registration watch) noexcept override;
  void close() noexcept override;
  bool is_closed() const noexcept override { return is_closed_; }
  void note(std::size_t subflow, bool readable, bool writable, bool ends) noexcept override;
  void bring(std::size_t subflow, std::span<const std::byte> bytes) override {
    subflows_[subflow].bring(bytes);
  }
  void stop_bringing(std::size_t subflow, bool ends) noexcept override {
    subflows_[subflow].stop_bringing(ends);
  }
  bool advance() noexcept override;
  bool is_active() const noexcept override;
  bool is_over() const noexcept override { return has_ended_ && front() == 0; }
  bool flush() noexcept override;
  bool has_delivered() noexcept override;
  bool tend() noexcept override;

  // ---- connection

  std::size_t window() const noexcept override { return window_; }
  bool has_room(std::size_t bytes) noexcept override;
  void send(const stream::frame& what, std::span<const std::byte> head,
            std::span<const std::byte> body) noexcept override;
  bool has_sent_all() noexcept override;
  std::size_t put(stream::link& by, stream::frame what, std::span<const std::byte> head,
                  std::span<const std::byte> body) noexcept override;
  bool fills_places() const noexcept override { return true; }
  bool confirms_bodies() const noexcept override { return true; }
  void note_confirmed(stream::link& by) noexcept override;
  void withdraw(stream::link& by) noexcept override;
  bool all_heard() noexcept override { return false; }

private:
  struct outgoing_body {
    stream::link* by;
    stream::frame what;
    std::uint64_t number;
    std::span<const std::byte> bytes;
    intervals left;         // never sent, or lost with a subflow
    std::size_t parts;      // into which it is divided at first
    std::size_t begun = 0;  // of them
  };
  struct incoming_body {
    stream::link* to;
    std::uint64_t number;
    intervals came;
  };

  std::size_t unread() noexcept override;
  void peek(std::span<std::byte> to) const noexcept override { in_.peek(to); }
  void skip(std::size_t bytes) noexcept override { in_.skip(bytes); }
  void give_back() noexcept override;
  std::size_t receive(std::span<std::byte> to) noexcept override;
  void refuse(const stream::frame& next) noexcept override;

  // To the peer.
  bool begin_packet(subflow& by) noexcept;
  void begin_frames(subflow& by, interval bytes) noexcept;
  bool begin_stripe(subflow& by) noexcept;
  static interval next_run(outgoing_body& of) noexcept;
  packet head_of(packet::kind what, interval bytes) const noexcept;
  bool stream_is_sent() const noexcept { return next_ == out_.end() && again_.empty(); }
  /// Of a link and a body's number.
  template <class Which, class GoOn>
  void drop_bodies(Which which, GoOn go_on) noexcept;
  outgoing_body* find(const subflow::stripe& of) noexcept;

  // From the peer.
  void read_from(subflow& from) noexcept;
  bool accept(subflow& from) noexcept;
  bool note_consumed(std::uint64_t consumed) noexcept;
  std::span<std::byte> place_for(const subflow& from) noexcept;
  std::span<std::byte> place_in_stream(std::uint64_t at, std::size_t bytes) noexcept;
  stream::link* link_of(const packet& stripe) noexcept;
  std::span<std::byte> place_of(const packet& stripe) noexcept;
  void note_taken(subflow& from, std::size_t bytes) noexcept;
  void end_stripe(const packet& stripe) noexcept;
  void end_bodies(stream::link& to) noexcept;

  /// It carries nothing any more: what it carried is sent by others.
  void lose(subflow& one) noexcept;
  bool is_last(const subflow& one) const noexcept;

  endpoint& by_;
  std::size_t window_;
  bool is_closed_ = false;
  bool has_ended_ = false;
  bool has_heard_ = false;  // since the last `advance`
  std::vector<subflow> subflows_;
  std::size_t turn_ = 0;  // of the subflow to use next
  // The stream to the peer: what it has consumed of it is no more in the ring.
  byte_ring out_;
  std::uint64_t next_ = 0;  // the first byte never sent
  intervals again_;
  std::deque<outgoing_body> bodies_;
  // The stream from the peer.
  byte_ring in_;
  intervals ahead_;  // that came before what comes before them
  std::uint64_t told_ = 0;
  bool is_to_tell_ = false;  // how much was consumed
  std::vector<incoming_body> coming_;
};

}  // namespace muster::tcp
