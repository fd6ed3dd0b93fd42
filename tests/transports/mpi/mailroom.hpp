#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include <muster/base/random.hpp>

#include "transports/mpi/messenger.hpp"

namespace muster::testing {

/// Messages between threads with the manners of an MPI: short ones are copied on their way, long
/// ones wait for their receivers; those of one tag keep their order, and others overtake them; and
/// what has ended is told late and in any order.
class mailroom {
public:
  /// \param eager bytes of the longest message that is copied
  mailroom(std::size_t ranks, std::size_t eager, std::uint64_t seed);
  ~mailroom();
  mailroom(const mailroom&) = delete;
  mailroom& operator=(const mailroom&) = delete;

  /// A rank's. \param bell rung when something of it has ended; negative: nobody sleeps
  std::unique_ptr<mpi::messenger> messenger_of(std::size_t rank, int bell);
  /// What nobody has received, and receives that nobody has taken back.
  std::size_t leftovers() const;

private:
  class desk;
  struct sent {
    std::size_t from;
    std::uint32_t tag;
    std::vector<std::byte> copy;
    std::span<const std::byte> bytes;  // of one that waits
    mpi::messenger::request waits;     // or `over`
  };
  struct expected {
    std::size_t from;
    std::uint32_t tag;
    std::span<std::byte> to;
    mpi::messenger::request request;
  };
  /// Of a rank.
  struct box {
    std::list<sent> on_the_way;
    std::list<sent> came;
    std::list<expected> receives;
    std::vector<mpi::messenger::ended> ended;  // and not told
    std::vector<mpi::messenger::request> free;
    mpi::messenger::request next = 0;
    int bell = -1;
  };

  // With the lock.
  mpi::messenger::request name(box& of);
  void end(std::size_t rank, const mpi::messenger::ended& what);
  void deliver(std::size_t rank, const expected& to, const sent& what);
  void come(std::size_t rank, sent what);
  /// Some of what is on the way to a rank comes.
  void bring_some(std::size_t rank);

  mutable std::mutex lock_;
  std::size_t eager_;
  std::vector<box> boxes_;
  std::vector<std::pair<std::size_t, mpi::messenger::request>> at_barrier_;
  random_stream random_;
};

}  // namespace muster::testing
