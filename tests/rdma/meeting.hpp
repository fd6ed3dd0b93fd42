#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "transports/stream/connections.hpp"
#include "transports/stream/links.hpp"
#include "transports/tcp/admission.hpp"
#include "transports/tcp/endpoint.hpp"
#include "transports/verbs/adapter.hpp"
#include "transports/verbs/ports.hpp"

namespace muster::testing {

/// A rank that reaches others by RDMA.
struct party {
  party(const tcp::endpoint::settings& how, std::unique_ptr<verbs::adapter> by, tcp::listener door,
        std::vector<tcp::paths> peers, std::size_t lanes);

  verbs::adapter& card;
  tcp::endpoint reach;
  stream::connections all;
  std::vector<std::size_t> members;
  stream::links links;

  verbs::device& device(std::size_t rail = 0) const { return card.at(rail); }
  wire::traffic traffic() const { return card.traffic(); }
  bool has_lost(std::size_t rank) { return reach.state(rank) == wire::liveness::died; }
};

struct meeting_options {
  std::size_t ranks = 2;
  std::size_t rails = 1;
  std::size_t window = std::size_t{64} << 10;
  std::size_t most_queue_pairs = 0;  ///< of rank 0; 0: as many as its devices take
  std::chrono::milliseconds timeout{0};
  std::size_t more_lanes = 0;  ///< that all but rank 0 take there to be
};

/// Ranks of one process, driven by its one thread: rank 0 on the first of two nodes, the others on
/// the second.
class meeting {
public:
  explicit meeting(const meeting_options& how = {});

  static constexpr std::size_t lanes = 64;
  party& operator[](std::size_t rank) { return *parties_[rank]; }
  const verbs::found_ports& ports_of(std::size_t rank) const { return ports_[rank == 0 ? 0 : 1]; }
  const tcp::job_key& key() const noexcept { return key_; }
  const tcp::address& address_of(std::size_t rank) const { return addresses_[rank]; }

  /// Drives all until that is so; false: it takes too long.
  bool until(const std::function<bool()>& so);
  /// The same, of one rank alone.
  bool until_alone(std::size_t rank, const std::function<bool()>& so);
  /// Drives one for as long.
  void drive(std::size_t rank, std::chrono::milliseconds time);
  /// All have said something to rank 0, and it to them: their queue pairs are there.
  bool open_all();

private:
  std::vector<tcp::listener> listen(std::size_t ranks);
  void add(std::size_t rank, tcp::listener door, const meeting_options& how);

  tcp::job_key key_ = tcp::job_key::random();
  std::array<verbs::found_ports, 2> ports_;  // of each node
  std::vector<tcp::address> addresses_;
  std::vector<std::unique_ptr<party>> parties_;
};

std::vector<std::byte> bytes_of(std::size_t seed, std::size_t count);

/// Sends once there is room, without driving anybody.
bool send_now(party& from, std::size_t lane, std::size_t to, std::span<const std::byte> bytes);
/// Sends and receives, driving all.
bool send(meeting& all, std::size_t from, std::size_t lane, std::size_t to,
          std::span<const std::byte> bytes);
bool receive(meeting& all, std::size_t at, std::size_t lane, std::size_t from,
             std::span<const std::byte> expected);

/// A long message from rank 0 to another, whose place is posted, and whose sender is invited.
class long_message {
public:
  long_message(meeting& all, std::size_t to, std::size_t bytes, std::size_t lane = 0);

  void put();
  /// Once its head has come.
  bool take_head();
  bool is_in_place();
  /// Its bytes there are as they were sent.
  bool is_right() const { return place == sent_; }

  std::vector<std::byte> body;
  std::vector<std::byte> place;
  bool is_invited = false;

private:
  std::vector<std::byte> sent_;
  wire::open_link out_;
  wire::open_link in_;
};

}  // namespace muster::testing
