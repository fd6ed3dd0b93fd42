#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include <muster/coro/ended_part.hpp>
#include <muster/coro/pooled.hpp>
#include <muster/coro/task.hpp>
#include <muster/run/link_waits.hpp>
#include <muster/run/operation_state.hpp>
#include <muster/run/posted_places.hpp>
#include <muster/wire/link.hpp>

namespace muster {

/// The verbs between ranks of any nodes.
///
/// In one of two schemes, by length alone. Short messages are copied on their way, whether the
/// receiver is there or not: their coming is the first that it hears of the sender. Long ones go
/// *zero-copy*: the receiver first invites the sender, who hears by that that it is there, and
/// then sends straight into its memory.
class messages : protected operation_state {
public:
  /// Sends bytes to a rank; complete when they may be changed. In order per pair. They are the
  /// caller's, `shared_scratch` or `scratch`, which outlive the operation whatever becomes of it.
  /// A short message for which there is room goes when this is called, not when it is awaited; the
  /// next one to that rank is sent when this is complete.
  task<> send(std::size_t rank, std::span<const std::byte> bytes);
  /// Receives the next bytes from a rank into their place: `invite`, then `receive`.
  task<> expect(std::size_t rank, std::span<std::byte> bytes);
  /// Lets a rank send its next message into `place`, if messages so long are zero-copy; else does
  /// nothing. The place is the caller's, `shared_scratch` or `scratch`: the rank may write there
  /// until the message is received or the operation has ended.
  task<> invite(std::size_t rank, std::span<std::byte> place);
  /// Receives a message to which its sender was invited, into that place, or one that is too short
  /// for that.
  task<> receive(std::size_t rank, std::span<std::byte> bytes);
  bool is_zero_copy(std::size_t bytes) const noexcept;
  /// Of a block that came another way.
  /// \throws error `errc::mismatched_call` where this rank expects another length
  void check_length(std::size_t from, std::size_t sent, std::size_t expected) const;
  /// A short message that is no payload but says how the algorithm goes on: where a simulation
  /// leaves payload out, it is sent nevertheless. At most `most_note` bytes, which both ends know.
  task<> send_note(std::size_t rank, std::span<const std::byte> note);
  task<> receive_note(std::size_t rank, std::span<std::byte> note);
  static constexpr std::size_t most_note = 48;
  /// Ranks in the order in which they are heard of: their messages come, or their invitations. Of
  /// what has come already the rank that comes first in `ranks` is first.
  peer_arrivals messages_from(pooled_list<std::size_t> ranks) {
    return {*this, wire::coming::message, std::move(ranks)};
  }
  peer_arrivals invitations_from(pooled_list<std::size_t> ranks) {
    return {*this, wire::coming::invitation, std::move(ranks)};
  }

  /// Waits for the next message of whoever of these ranks of a node sends one; `receive` takes it.
  /// It is not zero-copy: nobody knows whom to invite.
  task<std::size_t> sender_among(std::span<const std::size_t> ranks);

protected:
  using operation_state::operation_state;

  /// The places that were posted, of an operation that has ended.
  void forget_posted() noexcept { posted_.forget(); }

private:
  task<> send_short(std::size_t rank, std::span<const std::byte> bytes);
  task<> wait_until_left(std::size_t rank);
  task<> send_pieces(std::size_t rank, std::span<const std::byte> bytes);
  task<> send_zero_copy(std::size_t rank, std::span<const std::byte> bytes);
  /// What comes next from a rank, which may also be a question, is of this operation and of so many
  /// bytes.
  bool is_expected(const message_header& header, std::size_t bytes) const noexcept;
  /// It is not: throws. Where that has to be asked, it waits for a while to hear what the rank
  /// called instead, so that the error names both calls.
  task<> refuse_head(const wire::link& on, message_header header, std::size_t from,
                     std::size_t bytes);
  task<> hear_call(const wire::link& on, std::size_t from);

  ended_part sent_{engine()};
  posted_places posted_;  // kept where verbs are checked
};

}  // namespace muster
