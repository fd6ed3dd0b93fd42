#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <muster/wire/board.hpp>
#include <muster/wire/call_record.hpp>
#include <muster/wire/membership.hpp>

#include "transports/sim/clock.hpp"
#include "transports/sim/failure_record.hpp"
#include "transports/sim/node.hpp"

namespace muster::sim {

class simulation;

/// What the ranks of a team that was made from another share. It lives until all have left and what
/// they have announced has become visible.
class team_memory {
public:
  /// \param number  not that of any other team of the simulation
  /// \param members ranks of the job, in the team's order
  team_memory(simulation& in, std::uint64_t number, std::vector<std::size_t> members,
              const wire::extent& much);
  ~team_memory();
  team_memory(const team_memory&) = delete;
  team_memory& operator=(const team_memory&) = delete;

  std::uint64_t number() const noexcept { return number_; }
  const std::vector<std::size_t>& members() const noexcept { return members_; }
  wire::call_record* records() const noexcept;
  wire::board board_on(std::size_t node) const noexcept;

  /// Whether a node has members.
  bool is_on(std::size_t node) const noexcept;
  failure_record& failure_on(std::size_t node) noexcept;
  /// Nobody goes on, on any node: the simulation ends.
  void end() noexcept;
  bool is_of_survivors() const noexcept { return much_.made_by_survivors; }

  /// A rank has left, whose flags are all visible at `quiet`. True for the last one.
  bool leave(picoseconds quiet) noexcept;
  bool is_quiet(picoseconds now) const noexcept { return now > quiet_at_; }

private:
  struct node_board {
    std::size_t node;
    std::size_t ranks;
    std::size_t offset;
    std::unique_ptr<failure_record> failure;
  };

  simulation& in_;
  std::uint64_t number_;
  std::vector<std::size_t> members_;
  wire::extent much_;
  std::vector<node_board> boards_;
  std::optional<pages> memory_;  // records, then the boards
  std::size_t left_ = 0;         // ranks
  picoseconds quiet_at_ = 0;
};

}  // namespace muster::sim
