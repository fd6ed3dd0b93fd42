#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>

#include <muster/coro/pooled.hpp>
#include <muster/run/waits.hpp>
#include <muster/wire/link.hpp>

/// What the coroutine of a collective waits for of links.
namespace muster {

/// Waits for one end of a link to get on.
class link_wait final : public collective_wait {
public:
  enum class until { has_room, can_put, has_left, can_post, holds, has_body };
  link_wait(operation_state& me, const wire::link& on, until what, std::size_t bytes,
            std::size_t peer) noexcept
      : collective_wait(me), link_(on), what_(what), bytes_(bytes), peer_(peer) {}

  bool ready() noexcept override;
  bool await_ready() noexcept { return ready() || poll_again(); }
  void await_resume() { rethrow_interruption(); }
  const void* watched() const noexcept override { return &link_; }

private:
  std::span<const std::size_t> candidates() const noexcept override { return {&peer_, 1}; }
  bool awaits(std::size_t) const noexcept override { return true; }

  const wire::link& link_;
  until what_;
  std::size_t bytes_;
  std::size_t peer_;
};

/// What goes before each message, and is an invitation: who sends it, by fingerprint, and how long
/// the message is.
struct message_header {
  /// In `bytes`: not a message yet, but a question why there is no invitation to send it.
  static constexpr std::uint64_t asks = std::uint64_t{1} << 63;

  std::uint64_t word;
  std::uint64_t bytes;
};

/// A rank of another machine has called something else, and is asked what: ends with the error that
/// names both calls, or without one where it answers no more.
class answer_wait final : public collective_wait {
public:
  answer_wait(operation_state& me, const wire::link& on, std::size_t peer) noexcept
      : collective_wait(me), link_(on), peer_(peer) {}

  bool ready() noexcept override;
  bool interrupted(clock_time now, bool thorough) noexcept override;
  bool await_ready() noexcept { return false; }
  void await_resume() { rethrow_interruption(); }

private:
  std::span<const std::size_t> candidates() const noexcept override { return {&peer_, 1}; }
  bool awaits(std::size_t) const noexcept override { return true; }
  std::exception_ptr in_vain(std::size_t rank) const noexcept override;

  const wire::link& link_;
  std::size_t peer_;
  bool is_over_ = false;
};

/// Waits for a receiver's invitation. Where that does not come for long, it asks: a receiver that
/// expects another length may believe that none is needed, and would wait for ever, too.
class invitation_wait final : public collective_wait {
public:
  invitation_wait(operation_state& me, wire::link& on, const message_header& message,
                  std::size_t peer) noexcept
      : collective_wait(me),
        link_(on),
        question_{message.word, message.bytes | message_header::asks},
        peer_(peer) {}

  bool ready() noexcept override;
  bool await_ready() noexcept { return ready() || poll_again(); }
  void await_resume() { rethrow_interruption(); }
  bool interrupted(clock_time now, bool thorough) noexcept override;

private:
  std::span<const std::size_t> candidates() const noexcept override { return {&peer_, 1}; }
  bool awaits(std::size_t) const noexcept override { return true; }

  wire::link& link_;
  message_header question_;
  std::size_t peer_;
  bool asked_ = false;
};

/// Ranks of any node in the order in which something of this operation comes from them, those that
/// are there already in the order given: `while (auto from = co_await here.next()) …`
///
/// Each is given once; the sequence ends when all were.
class peer_arrivals final : public collective_wait {
public:
  /// Whether all of them send something, or whoever of a node it falls to.
  enum class senders { all, any };
  peer_arrivals(operation_state& me, wire::coming what, pooled_list<std::size_t> ranks,
                senders who = senders::all);
  ~peer_arrivals();
  peer_arrivals(const peer_arrivals&) = delete;
  peer_arrivals& operator=(const peer_arrivals&) = delete;

  /// An awaiter of its own: g++ 12 copies one that is an lvalue.
  struct next_arrival {
    peer_arrivals& among;
    bool await_ready() const noexcept {
      return among.pending_count_ == 0 || among.ready() || among.poll_again();
    }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> self) const noexcept {
      among.await_suspend(self);
    }
    std::optional<std::size_t> await_resume() const { return among.take_arrival(); }
  };
  next_arrival next() noexcept { return {*this}; }
  /// One that is there, without waiting; nothing if none is.
  std::optional<std::size_t> next_that_is_here() { return ready() ? take_arrival() : std::nullopt; }
  /// Does not wait for these any more: others were heard of that stand for them.
  void forget(std::span<const std::size_t> ranks);
  /// Those that have not been given yet, in the order given.
  pooled_list<std::size_t> still_to_come() const;

  bool ready() noexcept override;

private:
  std::span<const std::size_t> candidates() const noexcept override { return ranks_; }
  bool awaits(std::size_t candidate) const noexcept override;
  std::exception_ptr in_vain(std::size_t rank) const noexcept override;
  bool is_here(const wire::link& on) const noexcept;
  /// Whether what has come is of this operation, as far as is to be looked.
  bool is_expected(const wire::link& on) const noexcept;
  bool all_heard() const noexcept;
  bool node_has_left(std::size_t of) const noexcept;
  std::optional<std::size_t> take_arrival();
  void erase(std::size_t candidate) noexcept;

  wire::coming what_;
  senders who_;
  pooled_list<std::size_t> ranks_;
  pooled_list<wire::link*> links_;  // to those
  pooled_list<wire::listener> listeners_;
  wire::arrival_set pending_;  // of those, by place among them
  std::size_t pending_count_;
  wire::arrival_set heard_;  // of those pending, on which something has come, perhaps
};

}  // namespace muster
