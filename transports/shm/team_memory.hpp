#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <muster/wire/board.hpp>
#include <muster/wire/call_record.hpp>
#include <muster/wire/membership.hpp>

#include "transports/shm/shared_allocations.hpp"

namespace muster::shm {

/// Why a team, or a job, is broken.
struct failure_record {
  /// From `being_written` on it is that and the number of the process that writes.
  enum : std::uint32_t { whole = 0, written, being_written };

  /// False where it says something already: the first failure wins.
  bool write(const wire::failure& why) noexcept;
  /// Its first half: nobody else writes it from now on, unless this process ends.
  bool claim() noexcept { return replace(whole); }
  /// Nothing while it is whole, or being written. Where whoever wrote it has ended meanwhile it
  /// says that.
  std::optional<wire::failure> read() noexcept;

  std::atomic<std::uint32_t> state;
  errc code;
  std::uint64_t rank;
  std::array<char, 1024> text;

private:
  /// By this process's claim, if `before` is there.
  bool replace(std::uint32_t before) noexcept;
  /// Of one that this process has claimed.
  void say(const wire::failure& why) noexcept;
};

/// What all ranks of a team share, of whatever node: its failure, and records of calls. Only knows
/// the layout; the memory is zeroed by whoever provides it.
class team_memory {
public:
  explicit team_memory(std::byte* base) noexcept;
  static std::size_t bytes(std::size_t ranks, wire::extent much) noexcept;

  std::byte* base() const noexcept { return base_; }
  failure_record& failure() const noexcept;
  wire::call_record* records() const noexcept { return records_; }  ///< by lane, then rank

private:
  struct head;
  head& front() const noexcept;

  std::byte* base_;
  wire::call_record* records_;
};

/// A team, as the fabric of one of its ranks is made for it.
struct team_view {
  std::vector<std::size_t> members;  ///< ranks of the job, in the team's order
  std::uint64_t team;                ///< its number
  team_memory shared;
  wire::board board;            ///< of this rank's node
  std::byte* board_allocation;  ///< to leave at the end; null for the team of the job
};

/// Where the memory of a team in the making is that its members have provided.
struct team_lots {
  std::byte* control;
  std::byte* board;  ///< of this rank's node
  std::uint64_t team;
};

}  // namespace muster::shm
