#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <muster/coro/task.hpp>
#include <muster/run/team.hpp>

namespace muster {

/// How ranks of a team that may be broken talk to each other nevertheless: in rounds, by messages
/// on links that no operation uses, with nobody who is gone. What a rank waits for here ends by a
/// stop request or deadline, or when the peer is gone, but not by the team's failure.
///
/// A rank that has heard enough says so by `tell` instead of in one more round, and leaves. Nobody
/// may be there to hear it: what is left over is not taken for a message of the next agreement.
///
/// The team's engine drives it; one at a time for a team, between its `begin_agreement` and
/// `end_agreement`.
class agreement {
public:
  explicit agreement(team& of) : of_(of), gone_(of.size(), false) {}
  agreement(const agreement&) = delete;
  agreement& operator=(const agreement&) = delete;

  /// Whether a rank died or left, as far as this one knows, or was told.
  bool is_gone(std::size_t rank) const noexcept { return gone_[rank]; }
  void take_for_gone(std::size_t rank) noexcept { gone_[rank] = true; }

  /// Sends a message to every other rank that is not gone, and receives one from each. Whoever dies
  /// or leaves before it has sent its own is gone.
  /// \param mine of the same length on all ranks
  /// \param all  by rank, of that length each; what is gone stays as it is
  task<> exchange(std::span<const std::byte> mine, std::span<std::byte> all);
  /// Sends one more message to a rank that is not gone, which has it by its next `exchange`, or by
  /// `hear`.
  task<> tell(std::size_t to, std::span<const std::byte> bytes);
  /// Receives the next message from a rank, or finds out that it is gone.
  /// \param bytes as many as it tells
  task<> hear(std::size_t from, std::span<std::byte> bytes);

private:
  /// Before each message.
  struct header {
    std::uint64_t agreement = 0;  ///< which one of the team
    std::uint64_t bytes = 0;
  };

  task<> leave_out(std::size_t from, std::uint64_t bytes);
  /// The next bytes from a rank, unless it is gone.
  task<> take(std::size_t from, std::span<std::byte> bytes);

  team& of_;
  std::vector<bool> gone_;
};

}  // namespace muster
