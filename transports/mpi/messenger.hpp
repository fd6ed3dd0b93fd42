#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace muster::mpi {

/// Somebody else's messages between the ranks of a job: those of an MPI. Messages from one rank to
/// another with one tag are received in the order in which they were sent. Nothing here waits. All
/// calls come from the thread that drives the rank's engine.
class messenger {
public:
  /// Names what is under way, until the look after that which says that it has ended.
  using request = std::uint32_t;

  struct ended {
    request which;
    std::size_t from;   ///< of a receive: who has sent it
    std::size_t bytes;  ///< of a receive: how many have come
  };

  /// Of a send: it has ended already, and `look` says nothing of it.
  static constexpr request over = ~request{0};
  static constexpr std::size_t anybody = ~std::size_t{0};
  /// The longest message. (An MPI counts bytes by `int`.)
  static constexpr std::size_t most_bytes = std::size_t{1} << 30;

  virtual ~messenger() = default;

  /// The highest tag, at least 32,767.
  virtual std::uint32_t most_tag() const noexcept = 0;
  /// \param bytes are read until it has ended
  /// \returns perhaps `over`
  virtual request send(std::size_t to, std::uint32_t tag, std::span<const std::byte> bytes) = 0;
  /// The same; has not ended before a receive takes it.
  virtual request put(std::size_t to, std::uint32_t tag, std::span<const std::byte> bytes) = 0;
  /// \param from a rank, or `anybody`
  /// \param to   where nobody looks until it has ended; longer messages do not come
  virtual request receive(std::size_t from, std::uint32_t tag, std::span<std::byte> to) = 0;
  /// Takes a receive back. False: a message is coming by it, and it will end.
  virtual bool take_back(request receive) = 0;
  /// Ends when all ranks have begun one.
  /// \returns perhaps `over`, where nobody else is there
  virtual request begin_barrier() = 0;
  /// Others could not begin, and nothing was sent: nothing is to be, and none of them will come to
  /// a barrier.
  virtual void give_up() noexcept {}
  /// What has ended since. The list is there until the next look.
  virtual std::span<const ended> look() = 0;
};

}  // namespace muster::mpi
