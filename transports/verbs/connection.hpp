#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "transports/stream/frame.hpp"
#include "transports/tcp/peer_connection.hpp"
#include "transports/verbs/adapter.hpp"
#include "transports/verbs/control.hpp"
#include "transports/verbs/control_channel.hpp"
#include "transports/verbs/incoming_stream.hpp"
#include "transports/verbs/notice.hpp"
#include "transports/verbs/outgoing_stream.hpp"
#include "transports/verbs/pair_memory.hpp"
#include "transports/verbs/subflow.hpp"

namespace muster::tcp {
class endpoint;
}

namespace muster::verbs {

/// A connection of ranks of two machines by queue pairs: one for each pair of ports that they
/// share.
///
/// Frames are one stream of bytes, cut into packets of whole frames. A packet is written into a
/// ring in its receiver's memory, and its notice comes with it, in the order of its queue pair;
/// packets take turns among the queue pairs, and the receiver puts them in order. Long messages are
/// written in pieces, straight into their places; the packet behind a piece says that it has
/// landed.
///
/// A queue pair is stopped when it fails, or is not needed. What it carried and did not arrive goes
/// again by the others; since both sides have stopped it by then, nothing comes late. The pair's
/// sockets arrange that.
class connection final : public tcp::peer_connection {
public:
  /// \param by, at outlive this
  connection(stream::connections& of, std::size_t peer, adapter& by, tcp::endpoint& at,
             std::size_t window);
  ~connection() override;

  // ---- tcp::peer_connection

  bool is_open(std::size_t socket) const noexcept override {
    return sockets_.socket(socket).is_open();
  }
  bool is_open() const noexcept override { return sockets_.is_open(); }
  void open(std::size_t which, descriptor socket, tcp::registration watch) noexcept override;
  void close() noexcept override;
  bool is_closed() const noexcept override { return is_closed_; }
  void note(std::size_t socket, bool readable, bool writable, bool ends) noexcept override;
  void bring(std::size_t socket, std::span<const std::byte> bytes) override {
    sockets_.socket(socket).bring(bytes);
  }
  void stop_bringing(std::size_t socket, bool ends) noexcept override {
    sockets_.socket(socket).stop_bringing(ends);
  }
  bool advance() noexcept override;
  bool is_active() const noexcept override;
  bool is_over() const noexcept override { return sockets_.has_ended() && !in_.has_more_than(0); }
  bool flush() noexcept override;
  bool has_delivered() noexcept override;
  bool tend() noexcept override;

  // ---- stream::connection

  std::size_t window() const noexcept override { return window_; }
  bool has_room(std::size_t bytes) noexcept override;
  void send(const stream::frame& what, std::span<const std::byte> head,
            std::span<const std::byte> body) noexcept override;
  bool has_sent_all() noexcept override;
  std::size_t put(stream::link& by, stream::frame what, std::span<const std::byte> head,
                  std::span<const std::byte> body) noexcept override;
  bool fills_places() const noexcept override { return true; }
  void withdraw(stream::link& by) noexcept override;
  std::size_t token_bytes() const noexcept override { return sizeof(place_token); }
  std::shared_ptr<void> open_place(stream::link& of, std::uint64_t number,
                                   std::span<std::byte> place,
                                   std::span<std::byte> token) noexcept override;
  bool all_heard() noexcept override { return false; }

  // ---- for the adapter

  /// A notice has come by a queue pair.
  void note_notice(std::size_t subflow, std::uint32_t immediate) noexcept;
  /// Its requests up to this one are complete.
  void note_complete(std::size_t subflow, std::uint32_t request) noexcept;
  /// It has failed. Called when all completions were taken.
  void lose(std::size_t subflow, std::string_view why) noexcept;
  /// Its peer has said what cannot be.
  void refuse(const std::string& what) noexcept;
  /// Reads what the peer says by the pair's sockets.
  void hear() noexcept;
  /// What is carried by this port goes by others.
  void lose_rail(std::size_t rail, std::string_view why) noexcept;
  /// Ends its queue pairs until they are needed, if they are not now.
  bool rest() noexcept;
  /// When it was last used, as of `adapter::moment`.
  std::uint64_t last_used() const noexcept { return last_used_; }

private:
  /// With which an invitation says where its place is.
  struct place_token {
    std::uint64_t address;  ///< 0: it cannot be written into; the body comes in frames
    std::array<std::uint32_t, reach::most_rails> keys;
  };
  static_assert(sizeof(place_token) <= most_token);

  struct outgoing_body {
    stream::link* by;
    stream::frame name;  ///< of frames about it
    std::uint64_t number;
    std::span<const std::byte> bytes;
    place_token to;
    std::shared_ptr<device_region> from;  ///< null: it goes in frames
    std::uint64_t begun = 0;              ///< bytes of it that are in pieces
    std::uint64_t landed = 0;             ///< and that nobody reads any more

    bool goes_in_frames() const noexcept { return from == nullptr; }
    bool has_begun_all() const noexcept { return begun == bytes.size(); }
  };

  void connect() noexcept;
  bool tend_sockets() noexcept;

  // ---- what is posted
  void stage(std::initializer_list<std::span<const std::byte>> frames) noexcept;
  bool has_work() const noexcept;
  bool post_some(subflow& by) noexcept;
  bool next_posting(subflow& by, posting& next) noexcept;
  bool begin_piece(subflow& by, posting& next) noexcept;
  void stage_body_frames() noexcept;
  void add(request_chain& chain, subflow& by, posting next) noexcept;
  void add_piece(request_chain& chain, subflow& by, const piece& part) noexcept;
  void add_packet(request_chain& chain, subflow& by, const posting& next) noexcept;
  static void signal_if_due(request_chain& chain, subflow& by) noexcept;
  static std::uint64_t next_request(subflow& by) noexcept;
  void post(subflow& by, request_chain& chain) noexcept;
  void post_alone(subflow& by, request_chain& chain) noexcept;
  void post_credit(subflow& by) noexcept;
  void post_nothing(subflow& by) noexcept;
  void tell_credits() noexcept;
  void end_piece(const piece& part) noexcept;
  void end_bodies() noexcept;
  outgoing_body* find(const stream::link* by, std::uint64_t number) noexcept;
  void cancel(posting& one) noexcept;

  // ---- what has come
  bool is_inherited() const noexcept override { return by_.is_inherited(); }
  std::size_t unread() noexcept override { return in_.unread(); }
  void peek(std::span<std::byte> to) const noexcept override { in_.peek(to); }
  void skip(std::size_t bytes) noexcept override { in_.skip(bytes); }
  void give_back() noexcept override { tell_credits(); }
  std::size_t receive(std::span<std::byte> to) noexcept override;
  void refuse(const stream::frame& next) noexcept override;
  void note_peer(subflow& by, std::uint64_t consumed, std::uint32_t taken) noexcept;
  void take_notice(subflow& by) noexcept;

  // ---- queue pairs, by the pair's sockets
  void read_control() noexcept;
  void end_if_broken() noexcept;
  void obey(const control& head, std::span<const std::byte> bytes) noexcept;
  void offer_all() noexcept;
  void offer(std::size_t which) noexcept;
  void join(std::size_t which, const queue_pair_offer& peer) noexcept;
  void open_if_ready(subflow& one) noexcept;
  void note_open(subflow& one) noexcept;
  void stop(std::size_t which, std::string_view why) noexcept;
  void end(std::size_t which, std::span<const std::byte> bytes) noexcept;
  void repeat(const posting& one, std::span<const std::uint64_t> arrived) noexcept;
  void make_pair(std::size_t which);
  void note_shortage(subflow& one, std::string_view why) noexcept;
  void note_failed(subflow& one) noexcept;
  bool any_open() const noexcept;
  std::size_t rail_of(std::size_t which) const noexcept;
  std::size_t index_of(const subflow& one) const noexcept;
  std::string name_of(std::size_t which) const;

  // ---- withdrawing
  void stop_reading(const stream::link& by) noexcept;
  void forget_bodies(const stream::link& by) noexcept;
  void stop_writing_to(const stream::link& by) noexcept;
  bool reads(const stream::link& by) const noexcept;
  stream::link* find(const link_name& whose) noexcept;
  void obey_withdraw(const link_name& whose) noexcept;
  void confirm_withdrawals() noexcept;

  adapter& by_;
  tcp::endpoint& at_;
  std::size_t window_;
  pair_memory memory_;
  bool is_closed_ = false;
  bool has_heard_ = false;  // since the last `advance`
  std::uint64_t last_used_ = 0;
  std::vector<subflow> subflows_;
  std::size_t turn_ = 0;            // of the subflow to use next
  subflow::moment broken_since_{};  // that each attempt has failed

  // To the peer.
  outgoing_stream out_;
  ring_queue<posting> waiting_;
  ring_queue<posting> again_;  // that was posted before, and did not arrive
  std::deque<outgoing_body> bodies_;
  // From the peer.
  incoming_stream in_;
  std::uint64_t told_ = 0;  // of what was consumed

  control_channel sockets_;
  std::vector<link_name> to_confirm_;
  std::optional<link_name> awaited_;  // until the peer confirms
};

}  // namespace muster::verbs
