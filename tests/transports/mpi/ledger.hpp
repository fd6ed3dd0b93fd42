#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "transports/mpi/messenger.hpp"

namespace muster::testing {

/// An MPI of one rank that keeps all it is given, for a test to look at and to end. It reads and
/// writes nothing of long messages, so that these need no memory.
class ledger final : public mpi::messenger {
public:
  struct entry {
    request which;
    std::uint32_t tag;
    std::span<const std::byte> bytes;
  };
  struct place {
    request which;
    std::uint32_t tag;
    std::span<std::byte> bytes;
  };

  explicit ledger(std::uint32_t most_tag = 32'767) : most_tag_(most_tag) {}

  /// Sends, puts and receives that have not ended, in their order.
  std::vector<entry> sends(std::uint32_t tag) const;
  std::vector<place> receives(std::uint32_t tag) const;
  void end_send(request which);
  /// A short message from rank 1 comes by the receive posted first, or by the next one.
  void bring(std::uint32_t tag, std::span<const std::byte> bytes);
  /// A message of so many bytes has come by a receive, as if they had been written.
  void end_receive(const place& by, std::size_t bytes);

  // ---- messenger

  std::uint32_t most_tag() const noexcept override { return most_tag_; }
  request send(std::size_t to, std::uint32_t tag, std::span<const std::byte> bytes) override;
  request put(std::size_t to, std::uint32_t tag, std::span<const std::byte> bytes) override;
  request receive(std::size_t from, std::uint32_t tag, std::span<std::byte> to) override;
  bool take_back(request receive) override;
  request begin_barrier() override { return next_++; }
  std::span<const ended> look() override;

private:
  struct waiting {
    std::uint32_t tag;
    std::vector<std::byte> bytes;
  };

  std::uint32_t most_tag_;
  request next_ = 0;
  std::vector<entry> sends_;
  std::vector<place> receives_;
  std::deque<waiting> waiting_;
  std::vector<ended> ended_;
  std::vector<ended> told_;
};

}  // namespace muster::testing
