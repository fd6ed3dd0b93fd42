#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "transports/mpi/arrival_ring.hpp"
#include "transports/mpi/connection.hpp"
#include "transports/mpi/control.hpp"
#include "transports/mpi/messenger.hpp"
#include "transports/stream/remote_ranks.hpp"

namespace muster::mpi {

/// A rank's way to ranks of other machines by somebody else's messages. Nobody rings when one
/// comes: the engine has to look. A look costs an MPI over TCP a system call, so that a rank for
/// which nothing is under way looks seldom.
class endpoint final : public stream::remote_ranks {
public:
  struct settings {
    std::size_t rank = 0;
    /// See `stream::connection::window`.
    std::size_t window = std::size_t{64} << 10;
  };
  /// \param by     outlives this
  /// \param remote whether each rank of the job is reached by this
  endpoint(const settings& how, messenger& by, std::vector<bool> remote);
  ~endpoint() override;
  endpoint(const endpoint&) = delete;
  endpoint& operator=(const endpoint&) = delete;

  // ---- stream::remote_ranks

  bool reaches(std::size_t rank) const noexcept override { return remote_[rank]; }
  std::unique_ptr<stream::connection> connect(stream::connections& of, std::size_t rank) override;
  bool progress(stream::connections& of) noexcept override;
  void arm() noexcept override {}
  void disarm() noexcept override {}
  clock_time most_sleep() const noexcept override;
  wire::liveness state(std::size_t rank) noexcept override;
  const std::string& how_lost(std::size_t rank) const noexcept override { return losses_[rank]; }
  bool is_open_to(std::size_t rank) const noexcept override { return made_[rank] != nullptr; }
  void note_leaving(std::size_t rank) noexcept override;
  void tell_newcomers(const stream::frame& news, std::vector<std::byte> bytes) override {
    for_newcomers_.push_back({news, std::move(bytes)});
  }
  /// Where the job is not broken it returns when all ranks leave.
  void leave(stream::connections& of, const stream::frame& farewell, bool broken) noexcept override;
  std::size_t most_bytes() const noexcept override;

  // ---- for its connections

  static constexpr std::uint32_t packet_tag = 1;
  static constexpr std::uint32_t control_tag = 2;

  // As of the messenger, to and from a connection's peer, which is told when it has ended.
  messenger::request send(connection& to, std::uint32_t tag, std::span<const std::byte> bytes);
  messenger::request put(connection& to, std::uint32_t tag, std::span<const std::byte> bytes);
  messenger::request receive(connection& from, std::uint32_t tag, std::span<std::byte> to);
  bool take_back(messenger::request receive) noexcept;
  std::uint32_t most_tag() const noexcept { return by_.most_tag(); }
  void give_back(std::unique_ptr<std::byte[]> packet) { packets_.give_back(std::move(packet)); }
  void say(std::size_t to, const control& what);
  /// It has something to send that is not a packet yet.
  void list(connection& one) { listed_.push_back(&one); }
  void lose(connection& from, const std::string& why) noexcept;
  void forget(const connection& one) noexcept;
  /// Looks what has ended, and what others want of this rank, but takes no packets, until `done()`.
  template <class Done>
  void look_until(stream::connections& of, Done done) noexcept {
    while (!done()) {
      if (!look(of)) rest();
    }
  }

private:
  struct news {
    stream::frame head;
    std::vector<std::byte> bytes;
  };
  struct said {
    std::unique_ptr<control> what;
    messenger::request request;
  };

  messenger::request owned(messenger::request one, connection& by);
  connection* disown(connection*& by) noexcept;
  /// Whether anything may come of a look that somebody needs.
  bool is_awaited() const noexcept { return links_open != 0 || owned_ != 0 || !said_.empty(); }
  bool progress_now(stream::connections& of) noexcept;
  /// True: something has ended.
  bool look(stream::connections& of) noexcept;
  void note(const messenger::ended& one) noexcept;
  void obey_all(stream::connections& of) noexcept;
  bool take_packets(stream::connections& of) noexcept;
  bool has_unsent() const noexcept;
  static void rest() noexcept;

  settings how_;
  messenger& by_;
  std::vector<bool> remote_;
  arrival_ring packets_;
  arrival_ring controls_;
  std::list<said> said_;
  std::vector<connection*> owners_;  // by request; null: it is none of a connection's
  std::size_t owned_ = 0;            // of them, not null
  unsigned idle_polls_ = 0;
  std::vector<connection*> made_;  // by rank; null: not yet
  std::vector<connection*> listed_;
  std::vector<wire::liveness> states_;
  std::vector<bool> leaving_;        // by rank: it has said so
  std::vector<std::string> losses_;  // by rank
  std::vector<news> for_newcomers_;
  messenger::request barrier_ = 0;
  bool all_leave_ = false;
};

}  // namespace muster::mpi
