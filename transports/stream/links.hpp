#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <muster/wire/link.hpp>

#include "transports/stream/connections.hpp"
#include "transports/stream/inbox.hpp"

namespace muster::stream {

class links;

/// A link that shares its pair's connection with the pair's other links. Of short messages so many
/// bytes may be sent that their receiver has not taken yet, whatever else is on the connection:
/// that bounds its inbox.
class link final : public wire::link {
public:
  link(links& of, std::size_t lane, std::size_t peer);
  ~link();
  link(const link&) = delete;
  link& operator=(const link&) = delete;

  bool has_room(std::size_t bytes) const noexcept override;
  void send(std::span<const std::byte> head, std::span<const std::byte> body) noexcept override;
  bool is_invited() const noexcept override;
  void peek_invitation(std::span<std::byte> head) const noexcept override;
  void take_invitation(std::span<std::byte> head) noexcept override;
  bool can_put() const noexcept override;
  void put(std::span<const std::byte> head, std::span<const std::byte> body) noexcept override;
  bool has_left() const noexcept override;
  bool was_refused() const noexcept override { return was_refused_; }
  bool can_post() const noexcept override;
  void post(std::span<const std::byte> head, std::span<std::byte> place) noexcept override;
  bool holds(std::size_t bytes) const noexcept override;
  void peek(std::span<std::byte> head) const noexcept override;
  void take(std::span<std::byte> to) noexcept override;
  void begin_taking(std::span<std::byte> place) noexcept override;
  body_state body() const noexcept override;

  // ---- for the connection

  /// What the peer has taken, as its frame says. False: it cannot have.
  bool note_taken(const frame& one) noexcept;
  /// Whether somebody takes what comes as soon as it is there.
  bool is_receiving() const noexcept { return receivers_ != 0; }
  bool inbox_is_empty() const noexcept { return messages_.size() == 0; }
  /// Where bytes of a frame go that brings some, or a part of them; then the frame ends.
  /// \param left how many still have to
  std::span<std::byte> room_for(const frame& one, std::size_t left);
  void end_frame(const frame& one) noexcept;
  /// Where what comes of a body goes next: what is left of the place posted first. Empty where
  /// nobody wants it any more.
  std::span<std::byte> place_for_body() const noexcept;
  /// True: it is full.
  bool fill(std::size_t bytes) noexcept;
  /// The body put first of those that have not left is not read any more.
  void body_has_left() noexcept { ++left_; }
  // Bodies are numbered as they are put. How many were, and how many have left.
  std::uint64_t bodies_put() const noexcept { return put_; }
  std::uint64_t bodies_left() const noexcept { return left_; }
  /// The same of the peer's that have come.
  std::uint64_t bodies_come() const noexcept { return came_; }
  /// Where one goes, whole. Empty where nobody wants it any more.
  std::span<std::byte> place_of_body(std::uint64_t number) const noexcept;
  /// The first that has not come is in its place: tells who put it.
  void end_body() noexcept;
  /// The peer has written a part of one into its place. False: it cannot have.
  bool land(const landing& part) noexcept;
  /// Whether the peer may still write where this link has posted.
  bool has_places() const noexcept { return !places_.empty(); }
  /// Takes the token of the invitation taken first of those not used yet; none is left: nothing.
  void take_token(std::span<std::byte> token) noexcept { tokens_.skip(tokens_.peek(token)); }
  /// Of frames to the peer; of no kind in particular, and without bytes.
  frame name() const noexcept;
  /// The peer has withdrawn where it posted: no invitation is to be used, nor any that is on its
  /// way.
  void refuse_invitations() noexcept;

private:
  friend class links;

  struct posted_place {
    std::span<std::byte> bytes;
    std::size_t filled;
    std::shared_ptr<void> kept;  // see `connection::open_place`

    bool is_full() const noexcept { return filled == bytes.size(); }
  };

  void withdraw() noexcept;
  void end_place() noexcept;
  /// Of the next frame to the peer, which learns what was taken.
  frame head_of(frame::kind what, std::size_t bytes) noexcept;
  std::size_t available() const noexcept;
  void skip(std::size_t bytes) noexcept;

  links& of_;
  connection& connection_;
  std::size_t lane_;
  // Bytes of messages, ever.
  std::uint64_t sent_ = 0;
  std::uint64_t consumed_ = 0;  // by the peer, as far as known
  std::uint64_t taken_ = 0;
  std::uint64_t told_ = 0;  // of them, to the peer
  // Bodies that were put, ever, and those of them that have left.
  std::uint64_t put_ = 0;
  std::uint64_t left_ = 0;
  bool was_refused_ = false;  // the last of them
  // Bodies whose taking has begun, ever, and those that are in place.
  std::uint64_t begun_ = 0;
  std::uint64_t came_ = 0;
  bool refused_me_ = false;  // the last of them
  bool refuses_invitations_ = false;
  std::vector<posted_place> places_;  // not yet full
  unsigned receivers_ = 0;
  inbox messages_;
  inbox invitations_;
  inbox tokens_;  // of invitations taken and not used yet
};

/// A rank's links to the members of a team, whatever their node.
class links final : public wire::links {
public:
  /// \param of      outlives this
  /// \param team    its number in the job
  /// \param members the team's, as ranks of the job; outlive this
  /// \param rank    this one, of the team
  /// \param lanes   how many there are
  links(connections& of, std::uint64_t team, std::span<const std::size_t> members, std::size_t rank,
        std::size_t lanes);
  ~links();
  links(const links&) = delete;
  links& operator=(const links&) = delete;

  wire::link& open(std::size_t lane, std::size_t peer, purpose what) override;
  void close(wire::link& used, purpose what) noexcept override;
  void withdraw() noexcept override;

  link& at(std::size_t lane, std::size_t peer);
  /// Whether a frame can be of this team. \param peer that sent it, a rank of the job
  bool are_of(const frame& one, std::size_t peer) const noexcept;
  /// The team was broken: what was sent in it may come when nobody expects it any more.
  void expect_more() noexcept { expects_more_ = true; }

private:
  friend class link;

  connections& connections_;
  std::uint64_t team_;
  std::span<const std::size_t> members_;
  std::size_t rank_;
  std::size_t lanes_;
  bool expects_more_ = false;
  // By lane, then peer: made on first use.
  std::vector<std::vector<std::unique_ptr<link>>> links_;
};

}  // namespace muster::stream
