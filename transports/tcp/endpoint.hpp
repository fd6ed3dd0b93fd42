#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <muster/base/descriptor.hpp>
#include <muster/wire/membership.hpp>

#include "transports/stream/connections.hpp"
#include "transports/tcp/address.hpp"
#include "transports/tcp/admission.hpp"
#include "transports/tcp/heartbeat.hpp"
#include "transports/tcp/socket.hpp"
#include "transports/tcp/socket_connection.hpp"

namespace muster::tcp {

/// A rank's way to ranks of other machines: a socket to each that it ever talks to.
///
/// Whoever has something to say first connects. Where both do at once, the lower rank's attempt
/// counts. What a rank must not send is refused where it comes: its connection ends, with a line on
/// the error stream.
class endpoint final : public stream::endpoint {
public:
  struct settings {
    std::size_t rank = 0;
    job_key key;
    /// See `stream::connection::window`: a power of two.
    std::size_t window = std::size_t{64} << 10;
    /// A rank that is waited for and silent for so long is lost; 0: none ever is.
    std::chrono::milliseconds timeout{0};
    int bell = -1;  ///< rung when one is
  };
  /// \param at    where this rank listens
  /// \param peers where each rank of the job listens; without a length: this way does not reach it
  endpoint(const settings& how, listener at, std::vector<address> peers);
  ~endpoint() override;
  endpoint(const endpoint&) = delete;
  endpoint& operator=(const endpoint&) = delete;

  /// What is known of the life of a rank that is waited for: by the connection to it, and by its
  /// answers to whether it is there.
  wire::liveness state(std::size_t rank) noexcept;
  /// Of one that died: how that was noticed, and where it was.
  const std::string& how_lost(std::size_t rank) const noexcept { return losses_[rank]; }
  bool is_open_to(std::size_t rank) const noexcept {
    return made_[rank] != nullptr && made_[rank]->is_open();
  }
  /// A rank says that it leaves, and says nothing after that.
  void note_leaving(std::size_t rank) noexcept { states_[rank] = wire::liveness::left; }
  /// This rank leaves: says so to those that it is connected to, and returns when what it has sent
  /// has come to their machines.
  /// \param farewell news without bytes
  /// \param broken   nobody may take it any more: it waits for 5 s at most
  void leave(stream::connections& of, const stream::frame& farewell, bool broken) noexcept;
  /// What the connections of this rank can come to take, of its own memory.
  std::size_t most_bytes() const noexcept;

  bool reaches(std::size_t rank) const noexcept override { return peers_[rank].length != 0; }
  std::unique_ptr<stream::connection> connect(stream::connections& of, std::size_t rank) override;
  bool progress(stream::connections& of) noexcept override;
  int descriptor() const noexcept override { return events_.get(); }
  void arm() noexcept override;
  void disarm() noexcept override;

  // ---- for its connections

  void begin_connecting(const socket_connection& to) noexcept;
  void lose(socket_connection& from, const std::string& why) noexcept;
  /// It is to be looked at.
  void list(socket_connection& one) noexcept;

private:
  using moment = std::chrono::steady_clock::time_point;

  /// A connection that is being made, on one of its sides.
  struct attempt {
    admission with;
    std::size_t peer;  ///< of the side that connects
    bool is_mine;
    moment began;
  };
  using attempts = std::list<attempt>;

  void watch(int socket, std::uint64_t what, std::uint32_t changes) noexcept;
  bool is_due() noexcept;
  void look(stream::connections& of) noexcept;
  void note(socket_connection& one, std::uint32_t changes) noexcept;
  static bool is_unsent(socket_connection& one) noexcept;
  bool has_unsent() noexcept;
  /// Those of who says nothing end.
  void drop_old_attempts() noexcept;
  /// An attempt to connect has failed. \param is_gone nobody listens there any more
  void miss(std::size_t peer, bool is_gone) noexcept;
  void note_loss(std::size_t peer, const std::string& why) noexcept;
  void accept_all() noexcept;
  void add(attempt&& one) noexcept;
  void advance(int socket, stream::connections& of) noexcept;
  void admit(attempts::iterator one, stream::connections& of) noexcept;
  void open(attempts::iterator one, stream::connections& of) noexcept;
  template <class Which>
  attempts::iterator find_attempt(Which which) noexcept {
    return std::ranges::find_if(attempts_, which);
  }

  settings how_;
  listener listener_;
  std::vector<address> peers_;
  muster::descriptor events_;
  attempts attempts_;
  std::vector<socket_connection*> made_;    // by rank; null: not yet
  std::vector<socket_connection*> active_;  // those to look at
  std::vector<moment> retries_;             // by rank: not before; its own attempt is under way
  std::vector<wire::liveness> states_;
  std::vector<std::string> losses_;  // by rank
  std::unique_ptr<heartbeat> heartbeat_;
  std::optional<stream::frame> farewell_;  // once this rank leaves
  unsigned polls_ = 0;                     // since something happened
  std::uint64_t last_look_ = 0;            // in ticks
};

}  // namespace muster::tcp
