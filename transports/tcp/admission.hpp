#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>

#include <muster/base/descriptor.hpp>

namespace muster::tcp {

/// What all processes of a job know and nobody else does.
struct job_key {
  std::array<unsigned char, 32> bytes{};

  static job_key random();
  /// The same for the same secret, of any length.
  static job_key from(std::span<const std::byte> secret);
};

/// One end of a new connection, until both have proved that they know the job's key. Nothing is
/// named before that, and nothing is read beyond it.
///
///     connects                     accepts
///     ── greeting: nonce ────────▶
///     ◀─ challenge: nonce, MAC ──          knows the key
///     ── proof: who, MAC ────────▶         knows it, too
///     ◀─ verdict ────────────────          wants this connection
///
/// MACs are of both nonces and the side's name, so that none can be used again or sent back.
class admission {
public:
  /// Who speaks to whom, as ranks of the job, and on which of their connection's subflows.
  struct parties {
    std::uint32_t from;
    std::uint32_t to;
    std::uint32_t subflow = 0;
  };
  /// This side connects: `socket` is about to.
  admission(descriptor socket, const job_key& key, const parties& who);
  /// This side accepts.
  admission(descriptor socket, const job_key& key);

  enum class state {
    under_way,
    named,     ///< accepting: it is known who connects; `accept` or give up
    accepted,  ///< connecting: it can be used
    yielded,   ///< connecting: the other side's own attempt counts
    failed,
  };
  /// Goes as far as it can without waiting.
  state advance() noexcept;
  /// Who connects, once named.
  const parties& who() const noexcept { return who_; }
  enum class failure {
    wrong,        ///< what is there is not of this job
    gone,         ///< the other side went away, or is not there, and did nothing wrong
    unreachable,  ///< there is no way to it now
  };
  /// Of one that failed.
  failure why() const noexcept { return why_; }
  /// Of the side that is named to. \returns whether the other side could be told
  bool accept() noexcept;
  void yield() noexcept;

  int socket() const noexcept { return socket_.get(); }
  descriptor release() noexcept { return std::move(socket_); }

private:
  using nonce = std::array<unsigned char, 32>;
  using mac = std::array<unsigned char, 32>;
  struct greeting;
  struct challenge;
  struct proof;

  mac sign(char side) const noexcept;
  bool verify(const mac& got, char side) const noexcept;
  template <class Message>
  bool send(const Message& message) noexcept;
  /// The next message, once it is whole. Says that the other side is gone where it will never be.
  template <class Message>
  std::optional<Message> receive() noexcept;
  state connect_on() noexcept;
  state accept_on() noexcept;

  descriptor socket_;
  job_key key_;
  bool connects_;
  failure why_ = failure::wrong;
  int step_ = 0;
  parties who_{};
  nonce mine_{};
  nonce other_{};
  std::array<std::byte, 96> read_;
  std::size_t bytes_read_ = 0;
};

}  // namespace muster::tcp
