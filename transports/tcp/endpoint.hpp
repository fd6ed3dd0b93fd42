#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <muster/base/descriptor.hpp>
#include <muster/wire/membership.hpp>

#include "transports/stream/remote_ranks.hpp"
#include "transports/tcp/admission.hpp"
#include "transports/tcp/carrier.hpp"
#include "transports/tcp/heartbeat.hpp"
#include "transports/tcp/peer_connection.hpp"
#include "transports/tcp/rails.hpp"
#include "transports/tcp/reactor.hpp"
#include "transports/tcp/socket.hpp"

namespace muster::tcp {

/// A rank's way to ranks of other machines: a connection to each that it ever talks to, of as many
/// subflows as there are paths between the two.
///
/// Whoever has something to say first connects. Where both do at once, the lower rank's attempt
/// counts. What a rank must not send is refused where it comes: its connection ends, with a line on
/// the error stream.
class endpoint final : public stream::remote_ranks {
public:
  struct settings {
    std::size_t rank = 0;
    job_key key = {};
    /// See `stream::connection::window`: a power of two.
    std::size_t window = std::size_t{64} << 10;
    /// A rank that is waited for and silent for so long is lost; 0: none ever is.
    std::chrono::milliseconds timeout{0};
    int bell = -1;  ///< rung when one is
    /// Told, perhaps more than once, that this rank can make no more connections: why.
    std::function<void(const std::string&)> give_up = {};
    /// Pieces of bodies from so many bytes on are sent from where they are; 0: none.
    std::size_t zero_copy_from = 0;
    /// Nothing: io_uring, where the system has it.
    std::optional<tcp::reactor::kind> reactor = {};
    /// An attempt to make a further subflow may take so long.
    std::chrono::milliseconds longest_attempt{3000};
    /// Before a lost subflow is made anew, and before one can be taken for lost because its peer
    /// makes it anew: longer than both sides' first attempts last.
    std::chrono::milliseconds between_attempts{1000};
  };
  /// \param doors where this rank listens, on each of its rails
  /// \param peers how each rank of the job is reached; in no way: not by this
  /// \param by    null: all is carried by sockets
  endpoint(const settings& how, std::vector<listener> doors, std::vector<paths> peers,
           std::unique_ptr<tcp::carrier> by = nullptr);
  ~endpoint() override;
  endpoint(const endpoint&) = delete;
  endpoint& operator=(const endpoint&) = delete;

  /// By the connection to it, and by its answers to whether it is there.
  wire::liveness state(std::size_t rank) noexcept override;
  const std::string& how_lost(std::size_t rank) const noexcept override { return losses_[rank]; }
  bool is_open_to(std::size_t rank) const noexcept override {
    return made_[rank] != nullptr && made_[rank]->is_open();
  }
  void note_leaving(std::size_t rank) noexcept override { states_[rank] = wire::liveness::left; }
  void tell_newcomers(const stream::frame& news, std::vector<std::byte> bytes) override {
    for_newcomers_.push_back({news, std::move(bytes)});
  }
  void leave(stream::connections& of, const stream::frame& farewell, bool broken) noexcept override;
  std::size_t most_bytes() const noexcept override;
  wire::traffic traffic() const noexcept override {
    return carrier_ == nullptr ? wire::traffic() : carrier_->traffic();
  }
  /// How many descriptors this endpoint can come to have.
  std::size_t most_descriptors() const noexcept;

  bool reaches(std::size_t rank) const noexcept override { return !peers_[rank].empty(); }
  std::unique_ptr<stream::connection> connect(stream::connections& of, std::size_t rank) override;
  bool progress(stream::connections& of) noexcept override;
  std::size_t zero_copy_from() const noexcept { return how_.zero_copy_from; }
  std::chrono::milliseconds timeout() const noexcept { return how_.timeout; }
  int descriptor() const noexcept override { return reactor_->descriptor(); }
  void arm() noexcept override;
  void disarm() noexcept override;

  // ---- for its connections

  std::size_t subflows_to(std::size_t rank) const noexcept { return peers_[rank].size(); }
  void begin_connecting(const peer_connection& to, std::size_t subflow) noexcept;
  /// Of a subflow's socket: what comes of it is told to its connection.
  registration watch(int socket, std::size_t peer, std::size_t subflow) noexcept;
  /// Connections are tended again even where this rank is about to sleep.
  void tend_soon() noexcept { set_timer(); }
  void lose(peer_connection& from, const std::string& why) noexcept;
  /// It is to be looked at.
  void list(peer_connection& one) noexcept;
  /// Where bytes go that nobody wants.
  std::span<std::byte> nowhere() noexcept { return nowhere_; }

private:
  using moment = std::chrono::steady_clock::time_point;

  /// A connection that is being made, on one of its sides.
  struct attempt {
    admission with;
    registration watch;
    std::size_t peer;  ///< of the side that connects
    std::size_t subflow;
    bool is_mine;
    moment began;
  };
  /// Of a subflow.
  struct times {
    moment retry{};  ///< this rank's own attempt does not begin before
    moment opened{};
  };
  using attempts = std::list<attempt>;
  struct news {
    stream::frame head;
    std::vector<std::byte> bytes;
  };

  bool is_carried(std::size_t rank) const noexcept {
    return carrier_ != nullptr && carrier_->carries(rank);
  }
  bool is_of_carrier(int descriptor) const noexcept;
  class told;
  /// Of what belongs to no connection.
  registration watch_others(int one) noexcept;
  void look(stream::connections& of) noexcept;
  /// Of one that is no connection's.
  void note(int descriptor, stream::connections& of) noexcept;
  bool is_unsent(peer_connection& one) noexcept;
  bool has_unsent() noexcept;
  /// Looks after subflows that carry nothing any more, if it is time to.
  void tend_all() noexcept;
  /// Those of who says nothing end.
  void drop_old_attempts() noexcept;
  /// Of those that came and have not proved yet that they are of the job. \returns whether one was
  bool drop_oldest_stranger() noexcept;
  /// Makes the descriptor readable when there is something to look after.
  void set_timer() noexcept;
  void decide_on_gone() noexcept;
  /// The system has refused a socket. \param why its error number
  void run_short(int why) noexcept;
  /// An attempt to connect has failed.
  void miss(std::size_t peer, std::size_t subflow, admission::failure why, moment began) noexcept;
  /// Whether one that is not reached is not to be given up yet.
  /// \param began when this rank began to connect to it, where it has been reached until then
  bool may_be_back(std::size_t peer, moment began) noexcept;
  void note_loss(std::size_t peer, const std::string& why) noexcept;
  void accept_all(const listener& at) noexcept;
  void add(attempt&& one) noexcept;
  void advance(int socket, stream::connections& of) noexcept;
  void admit(attempts::iterator one, stream::connections& of) noexcept;
  void open(attempts::iterator one, stream::connections& of) noexcept;
  attempts::iterator find_own(std::size_t peer, std::size_t subflow) noexcept {
    return find_attempt([&](const attempt& one) {
      return one.is_mine && one.peer == peer && one.subflow == subflow;
    });
  }
  /// Whether a connection that the peer makes takes the place of one that seems to be open.
  bool is_replaced(std::size_t peer, std::size_t subflow) const noexcept;
  template <class Which>
  attempts::iterator find_attempt(Which which) noexcept {
    return std::ranges::find_if(attempts_, which);
  }

  settings how_;
  std::unique_ptr<tcp::carrier> carrier_;  // outlives what watches its descriptors
  std::vector<listener> doors_;
  std::vector<paths> peers_;
  std::unique_ptr<tcp::reactor> reactor_;  // outlives all that it watches
  attempts attempts_;
  std::vector<peer_connection*> made_;     // by rank; null: not yet
  std::vector<peer_connection*> active_;   // those to look at
  std::vector<std::vector<times>> times_;  // by rank and subflow
  muster::descriptor timer_;
  std::vector<registration> watches_on_;  // doors, the timer
  bool is_tended_ = false;                // a connection may have several subflows
  moment next_tending_{};
  bool watches_ = false;  // after the last tending
  unsigned looks_ = 0;
  std::array<std::byte, std::size_t{16} << 10> nowhere_;
  std::vector<wire::liveness> states_;
  std::vector<std::string> losses_;  // by rank
  std::unique_ptr<heartbeat> heartbeat_;
  std::vector<news> for_newcomers_;
  std::optional<stream::frame> farewell_;              // once this rank leaves
  std::unordered_map<std::size_t, moment> unreached_;  // to whom there was no way, since when
  std::unordered_map<std::size_t, moment> gone_;  // who left unheard, until when that is doubted
};

}  // namespace muster::tcp
