#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include <muster/wire/arrival_set.hpp>

namespace muster::wire {

/// What a rank waits for that others send.
enum class coming : std::size_t { message, invitation };

/// This rank's way to one peer in one lane, and back: messages in order, in one of two schemes.
///
/// A *short* one is copied on its way, whether its receiver is there or not. A *long* one goes
/// zero-copy: the receiver posts the place where it wants it, which invites the sender, and the
/// sender puts it straight there. Both sides know from the collective what comes, so there are no
/// tags; what does not fit yet waits for room. Nothing here waits: each call is an attempt whose
/// end can be asked for.
///
/// All calls come from the thread that drives this rank's engine.
class link {
public:
  /// Bytes of short messages that may be on their way at once, at most.
  static constexpr std::size_t capacity = 64 * 1024;
  /// The longest head of a message.
  static constexpr std::size_t most_head = 64;

  // ---- to the peer

  /// Whether `bytes` more can be sent. Sooner or later there is room for `machine::message_piece`
  /// and a head; for more there need not be.
  virtual bool has_room(std::size_t bytes) const noexcept = 0;
  /// Sends `head`, at most `most_head` bytes, then `body`; there is room for both. The peer sees
  /// both at once.
  virtual void send(std::span<const std::byte> head, std::span<const std::byte> body) noexcept = 0;
  /// Whether the peer has posted a place of which this rank has not taken the invitation.
  virtual bool is_invited() const noexcept = 0;
  /// Reads what the peer says with its next invitation, and leaves that there, or takes it.
  virtual void peek_invitation(std::span<std::byte> head) const noexcept = 0;
  virtual void take_invitation(std::span<std::byte> head) noexcept = 0;
  /// Whether a long message can begin: sooner or later.
  virtual bool can_put() const noexcept = 0;
  /// Sends `head`, then `body` into the place of the invitation taken first of those not used yet.
  /// It is much like lending: what `body` shows is read until it `has_left`.
  virtual void put(std::span<const std::byte> head, std::span<const std::byte> body) noexcept = 0;
  /// Whether all that was sent has left this rank's memory, which may then be changed.
  virtual bool has_left() const noexcept = 0;
  /// Of a body that was put and has left: whether the peer was not allowed to take it.
  virtual bool was_refused() const noexcept = 0;

  // ---- from the peer

  /// Whether a place can be posted: sooner or later.
  virtual bool can_post() const noexcept = 0;
  /// Posts where the peer's next long message is to go, and invites it with `head`, at most
  /// `most_head` bytes. The place is this rank's no more until the message is in it, or until
  /// `links::withdraw`.
  virtual void post(std::span<const std::byte> head, std::span<std::byte> place) noexcept = 0;
  /// Whether `bytes` have come that were not taken: of heads, and of short messages.
  virtual bool holds(std::size_t bytes) const noexcept = 0;
  /// Reads the head of what comes next, whose bytes have come, and leaves it there.
  virtual void peek(std::span<std::byte> head) const noexcept = 0;
  /// Receives the next bytes, which have come.
  virtual void take(std::span<std::byte> to) noexcept = 0;
  /// After the head of a long message was taken: has its body come into the place posted first,
  /// `body` says when. Called between `begin_reading` and `end_reading`, since the sender may be
  /// about to take its memory back.
  virtual void begin_taking(std::span<std::byte> place) noexcept = 0;
  enum class body_state { under_way, in_place, refused };
  /// Of the body whose taking began last. Where the system refuses, it is lost, and the sender
  /// finds that it `was_refused`.
  virtual body_state body() const noexcept = 0;

  /// From now on tells `who` when something of this kind comes, not of what has come before.
  virtual void listen(coming what, listener& who) noexcept { listeners_of(what).add(who); }
  virtual void ignore(coming what, const listener& who) noexcept { listeners_of(what).remove(who); }

protected:
  ~link() = default;
  /// To be called when something has come that can be taken.
  void has_come(coming what) noexcept { listeners_of(what).tell(); }

private:
  listeners& listeners_of(coming what) noexcept {
    return listeners_[static_cast<std::size_t>(what)];
  }

  std::array<listeners, 2> listeners_;
};

/// A rank's links to the others of a team.
class links {
public:
  /// What a link is opened for. Whoever opens one to `receive` waits for nothing else until it has
  /// taken what comes, whole.
  enum class purpose { send, invite, receive, listen };
  /// The link to a rank, which may be this one, in a lane; for use until it is closed. Opened
  /// again before that, it is the same.
  /// \throws error `errc::resource`
  virtual link& open(std::size_t lane, std::size_t peer, purpose what) = 0;
  virtual void close(link& used, purpose what) noexcept = 0;
  /// After the team is broken: returns when no rank can still be writing where this one has posted.
  virtual void withdraw() noexcept = 0;

protected:
  ~links() = default;
};

/// A link that an operation holds.
class open_link {
public:
  open_link(links& of, std::size_t lane, std::size_t peer, links::purpose what)
      : links_(of), link_(of.open(lane, peer, what)), what_(what) {}
  ~open_link() { links_.close(link_, what_); }
  open_link(const open_link&) = delete;
  open_link& operator=(const open_link&) = delete;

  link& operator*() const noexcept { return link_; }
  link* operator->() const noexcept { return &link_; }

private:
  links& links_;
  link& link_;
  links::purpose what_;
};

}  // namespace muster::wire
