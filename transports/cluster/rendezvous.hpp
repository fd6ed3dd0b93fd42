#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <muster/progress/clock_relation.hpp>
#include <muster/team/bootstrap.hpp>

#include "transports/tcp/address.hpp"
#include "transports/tcp/admission.hpp"
#include "transports/tcp/socket.hpp"

namespace muster::cluster {

/// Where the ranks of a job that several machines run meet, before they are connected.
struct meeting_place {
  /// Names or addresses of one machine, the likeliest first.
  std::vector<std::string> hosts;
  std::uint16_t port = 0;
  tcp::job_key key;
  /// How long whoever has come waits for the others.
  std::chrono::milliseconds patience = std::chrono::seconds(60);
};

/// How often ranks meet at one place.
enum class meets : std::uint8_t {
  once,
  again,  ///< and then whenever they like: see `rendezvous::come_again`
  only_again,
};

/// Serves a rendezvous: gathers what ranks say and tells them all of it, until they have gone.
/// Whoever does not know the key is not let in.
///
/// Where ranks meet again there is no limit to how long those that have come wait for the others to
/// come. Until all are there each may go and come again, as one that is started again does.
class rendezvous_server {
public:
  /// Serves in a thread of its own. \throws error `errc::bootstrap` where it cannot listen
  /// \param patience of those that have come to the first meeting, for the others; and at each, of
  /// those that have spoken once all are there, for what others have to say
  rendezvous_server(tcp::listener at, std::size_t ranks, const tcp::job_key& key,
                    std::chrono::milliseconds patience, meets often = meets::once);
  /// Returns when those who came have gone, and after some seconds at the latest.
  ~rendezvous_server();
  rendezvous_server(const rendezvous_server&) = delete;
  rendezvous_server& operator=(const rendezvous_server&) = delete;

private:
  class gathering;
  class service;
  std::unique_ptr<service> service_;
  std::jthread thread_;
};

/// A rank at a rendezvous.
class rendezvous final : public bootstrap {
public:
  /// Goes there, and waits for whoever serves.
  /// \throws error `errc::bootstrap`
  rendezvous(const meeting_place& where, std::size_t rank, std::size_t size);
  ~rendezvous();
  /// Before anything else: to a meeting that is not the first. Where that has not begun yet, this
  /// rank has failed before it, and it fails for all.
  /// \throws error `errc::bootstrap`
  void come_again();
  /// Says that a rank does not come again: that fails for all who do, with `errc::rank_left`.
  /// \throws error `errc::bootstrap`
  static void tell_of_end(const meeting_place& where, std::size_t rank, std::size_t size);
  /// From any thread: what is under way fails, and so does what comes after it.
  void abandon() noexcept;
  rendezvous(const rendezvous&) = delete;
  rendezvous& operator=(const rendezvous&) = delete;

  std::size_t rank() const noexcept override { return rank_; }
  std::size_t size() const noexcept override { return size_; }
  /// \throws error `errc::bootstrap` on all ranks where one does not come, is silent for too long
  /// or goes too early; `errc::rank_left`, see `tell_of_end`
  void allgather(std::span<const std::byte> mine, std::span<std::byte> all) override;
  /// The same among some ranks, ascending, this one among them.
  void allgather_among(std::span<const std::size_t> ranks, std::span<const std::byte> mine,
                       std::span<std::byte> all);
  /// How this machine's clock is related to that of whoever serves, which is the same for all. Not
  /// collective; while no other call is under way.
  clock_relation relate_clock();
  /// By which of its addresses others may reach this machine, with port 0: that by which this rank
  /// reaches the meeting, or, where that is the loopback's, by which others do. Not collective;
  /// when all have come, and while no other call is under way.
  tcp::address address_for_others();

private:
  class connection;
  std::unique_ptr<connection> connection_;
  std::size_t rank_;
  std::size_t size_;
};

/// Some ranks of a rendezvous, as if there were no others.
class part_of_rendezvous final : public bootstrap {
public:
  /// \param whole outlives this \param ranks ascending, its own among them
  part_of_rendezvous(rendezvous& whole, std::vector<std::size_t> ranks);

  std::size_t rank() const noexcept override { return rank_; }
  std::size_t size() const noexcept override { return ranks_.size(); }
  void allgather(std::span<const std::byte> mine, std::span<std::byte> all) override {
    whole_.allgather_among(ranks_, mine, all);
  }

private:
  rendezvous& whole_;
  std::vector<std::size_t> ranks_;
  std::size_t rank_;
};

}  // namespace muster::cluster
