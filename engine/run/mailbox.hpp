#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/coro/task.hpp>
#include <muster/run/team.hpp>
#include <muster/wire/link.hpp>

namespace muster {

/// Messages that a rank of a team sends others and receives, matched by sender and tag: see
/// `team::send` and `team::receive`.
///
/// Short ones are copied on their way. Of a long one an offer goes first; the receiver that wants
/// it invites it into its place. What comes from a peer is read by one of those who wait for
/// something from there, for all of them; what nobody wants yet is kept.
class mailbox {
public:
  explicit mailbox(team& of) : of_(of) {}
  mailbox(const mailbox&) = delete;
  mailbox& operator=(const mailbox&) = delete;

  /// \throws error `errc::invalid_argument` where the team has no such rank
  static void require_rank(const team& of, std::string_view argument, std::size_t rank);

  /// Whose messages they are: each has tags of its own.
  enum class owner : std::uint32_t { program, sparse, sequencer };
  struct label {
    std::uint64_t tag;
    mailbox::owner owner = mailbox::owner::program;
    bool operator==(const label&) const = default;
  };

  task<> send(std::size_t to, label tag, std::span<const std::byte> bytes);
  /// \param element what comes is a multiple of so many bytes
  /// \returns bytes that came
  task<std::size_t> receive(std::size_t from, label tag, std::span<std::byte> place,
                            std::size_t element);

private:
  struct header;
  /// A message that is wanted here.
  struct wanted {
    label tag;
    std::span<std::byte> place;
    std::size_t element;
    std::size_t came = 0;
    bool is_matched = false;
    bool is_done = false;
  };
  /// One that has come, or was offered, and that nobody wanted.
  struct unwanted {
    label tag;
    std::uint64_t bytes;
    bool is_offer;
    std::uint64_t number;  // of the offer
    std::vector<std::byte> content;
  };
  struct correspondent {
    // Those who send there: their numbers, in order; the first has the link to itself.
    std::deque<std::uint64_t> senders;
    std::uint64_t sends = 0;
    std::uint64_t offers = 0;
    std::deque<wanted*> wants;
    std::deque<unwanted> kept;
    std::deque<std::pair<std::uint64_t, wanted*>> invited;  // offers, in order
    bool is_read = false;                                   // somebody waits for what comes next

    std::deque<unwanted>::iterator find_kept(const label& tag) {
      return std::ranges::find(kept, tag, &unwanted::tag);
    }
  };
  class sender_turn;
  class wanted_here;
  class reading;

  /// Whether a message is offered first, and whether it then goes straight into its place.
  bool is_offered(std::size_t bytes) const noexcept;
  bool is_zero_copy(std::size_t bytes) const noexcept;
  wire::open_link link(std::size_t peer, wire::links::purpose what) const;

  task<> send_whole(std::size_t to, const header& first, std::span<const std::byte> bytes);
  task<> send_pieces(wire::link& out, std::size_t to, header first,
                     std::span<const std::byte> bytes);
  task<> send_offered(std::size_t to, label tag, std::span<const std::byte> bytes);

  task<> send_invited(std::size_t to, header body, std::span<const std::byte> bytes);

  task<> obtain(std::size_t from, wanted& mine);
  task<> take_kept(std::size_t from, wanted& mine);
  task<> read_next(std::size_t from);
  task<> read_content(wire::link& in, std::size_t from, header first);
  task<> take_offer(std::size_t from, const header& first);
  task<> read_whole(wire::link& in, std::size_t from, const header& first);
  task<> read_pieces(wire::link& in, std::size_t from, std::span<std::byte> bytes);
  void take_body(wire::link& in, std::span<std::byte> place) const;
  task<> read_body(wire::link& in, std::size_t from, const header& first);
  task<> invite(std::size_t from, wanted& one, std::uint64_t number, std::uint64_t bytes);
  /// The first that wants this tag and has nothing, or null.
  wanted* match(std::size_t from, label tag) noexcept;
  void require_fit(std::size_t from, const wanted& one, std::uint64_t bytes) const;
  /// \throws error where the team is broken: who waited for a message may be gone.
  void require_whole() const;

  /// Runs a part of a message that may not be left half-way: where it fails the team is broken.
  task<> or_break(task<> part);
  void break_team(const error& why) noexcept;

  team& of_;
  std::map<std::size_t, correspondent> with_;
};

}  // namespace muster
