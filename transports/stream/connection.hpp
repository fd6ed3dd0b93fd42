#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <muster/wire/link.hpp>

#include "transports/stream/frame.hpp"

namespace muster::stream {

class connections;
class link;

/// All that one rank and another say to each other, whatever the team and lane: frames, in two
/// streams of bytes. What carries them is for those that derive from this.
///
/// Frames of different links come in one order, but are wanted in another. A frame whose link is
/// receiving stays where it is, at the *front* of what has come, until it is taken from there; what
/// nobody receives yet goes into its link's inbox, so that it is in nobody's way.
class connection {
public:
  /// \param of   outlives this
  /// \param peer a rank of the job
  connection(connections& of, std::size_t peer) noexcept : of_(of), peer_(peer) {}
  virtual ~connection() = default;
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  /// Bytes of `frame::kind::news`.
  static constexpr std::size_t most_news = 1536;

  std::size_t peer() const noexcept { return peer_; }
  /// An operation uses one of its links from now on, or no longer.
  void note_opened() noexcept { ++*links_open_; }
  void note_closed() noexcept { --*links_open_; }
  /// Where links that are in use are counted, for the life of this.
  void count_in(std::size_t& links_open) noexcept { links_open_ = &links_open; }
  /// Bytes of messages that one link may have under way; the longest frame but for bodies is half
  /// as long at most.
  virtual std::size_t window() const noexcept = 0;

  // ---- to the peer

  /// Whether a frame of so many bytes can be sent. If not, this rank is woken when it can.
  virtual bool has_room(std::size_t bytes) noexcept = 0;
  /// There is room for it.
  virtual void send(const frame& what, std::span<const std::byte> head,
                    std::span<const std::byte> body) noexcept = 0;
  /// Sends a frame that brings nothing as soon as there is room.
  void owe(const frame& what);
  /// The same for news. \param bytes at most `most_news`, which follow
  void owe_news(const frame& what, std::vector<std::byte> bytes);
  bool owes() const noexcept { return !owed_.empty(); }
  /// Whether nothing waits here that was sent.
  virtual bool has_sent_all() noexcept = 0;

  // ---- long messages

  /// Sends the message `what`, which begins with `head`, and for which there is room, then `body`,
  /// which is read until `link::body_has_left`.
  /// \returns the message's length
  virtual std::size_t put(link& by, frame what, std::span<const std::byte> head,
                          std::span<const std::byte> body) noexcept = 0;
  /// Whether bodies come by themselves into places that were posted. If not, `fetch` gets one.
  virtual bool fills_places() const noexcept = 0;
  /// Whether their sender is told by `frame::kind::placed` when they may be changed.
  virtual bool confirms_bodies() const noexcept { return !fills_places(); }
  /// One more of a link's bodies was confirmed.
  virtual void note_confirmed(link&) noexcept {}
  /// Gets what a message was put with, of which `to` has the head taken.
  /// \param what tells its sender, but for its kind
  virtual wire::link::body_state fetch(link& to, const frame& what, std::span<std::byte> place) {
    static_cast<void>(to);
    static_cast<void>(what);
    static_cast<void>(place);
    return wire::link::body_state::refused;  // they come by themselves
  }
  /// Reads nothing more of what a link has put, and lets nothing more be written where it has
  /// posted.
  virtual void withdraw(link& by) noexcept = 0;

  // ---- places that the peer writes into by itself

  /// Bytes with which an invitation says how; 0: bodies come in frames.
  virtual std::size_t token_bytes() const noexcept { return 0; }
  static constexpr std::size_t most_token = 40;
  /// Whether another can be opened. If not, this rank is woken when it can.
  virtual bool can_open_place() const noexcept { return true; }
  /// A place is posted for the body of a link that has this number: writes its token.
  /// \returns what has to be kept until the place is over
  virtual std::shared_ptr<void> open_place(link& of, std::uint64_t number,
                                           std::span<std::byte> place,
                                           std::span<std::byte> token) noexcept {
    static_cast<void>(of);
    static_cast<void>(number);
    static_cast<void>(place);
    static_cast<void>(token);
    return nullptr;
  }

  // ---- from the peer

  /// Gives all that has come to the links that it is for. True if there was something new.
  bool pull();
  /// Bytes of the front that are left, where it is this link's.
  std::size_t front_of(const link& one) const noexcept { return front_for_ == &one ? left_ : 0; }
  void peek_front(std::span<std::byte> to) const noexcept { peek(to); }
  void skip_front(std::size_t bytes) noexcept;
  /// The front goes to its link, which cannot do with it alone.
  void take_in_front();
  /// All that has come goes to its links, the front included.
  void take_in();
  /// The link will be no more.
  void forget(link& one) noexcept;
  /// Whether nothing is on its way to a link.
  virtual bool all_heard() noexcept = 0;

protected:
  /// Whether this process has it from one that forked it, and may change nothing that others see.
  virtual bool is_inherited() const noexcept { return false; }
  connections& of() const noexcept { return of_; }
  /// Bytes of the front, which nobody has taken yet.
  std::size_t front() const noexcept { return front_for_ == nullptr ? 0 : left_; }

  // Bytes from the peer that have come, in order.
  virtual std::size_t unread() noexcept = 0;
  /// The first of them.
  virtual void peek(std::span<std::byte> to) const noexcept = 0;
  virtual void skip(std::size_t bytes) noexcept = 0;
  /// The peer may use the room of all that was skipped.
  virtual void give_back() noexcept = 0;
  /// Takes as many of them as there are, where a body comes; how many.
  virtual std::size_t receive(std::span<std::byte> to) noexcept = 0;
  /// A place that was posted has its body.
  virtual void note_filled() noexcept {}
  /// The peer has withdrawn where it posted: invitations of the link that its frames name so are
  /// not used any more. False: there is no such link.
  bool refuse_invitations(const frame& name);
  /// What comes next cannot be: nothing more will be read from this peer.
  virtual void refuse(const frame& next) noexcept = 0;

private:
  struct owed_frame {
    frame what;
    std::vector<std::byte> bytes;
  };
  void send_owed();
  /// True where the next frame could be dealt with, or is the front now, or a body.
  bool open_next();
  bool is_sane(const frame& next) const noexcept;
  void deliver(const frame& next);
  void read_news(const frame& next);
  void read_landing(const frame& next, link& to);
  /// For a team of which this rank has no links.
  void set_aside(const frame& next);
  bool receive_body();
  void copy_out(const frame& next, link& to);

  connections& of_;
  std::size_t peer_;
  std::size_t* links_open_ = nullptr;
  std::vector<owed_frame> owed_;
  link* front_for_ = nullptr;
  std::size_t left_ = 0;      // of the front
  link* body_for_ = nullptr;  // null where nobody wants it any more
  std::size_t body_left_ = 0;
};

}  // namespace muster::stream
