#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <muster/run/shared_scratch_pool.hpp>
#include <muster/team/order.hpp>
#include <muster/team/stage_pages.hpp>
#include <muster/team/timed_copy.hpp>
#include <muster/team/timed_lending.hpp>
#include <muster/wire/node_memory.hpp>

namespace muster {

class turn_wait;

/// Whether this rank may have others' kernels copy from its memory. One that was refused stages for
/// a while without asking.
class foreign_lending {
public:
  bool is_allowed() noexcept { return staged_ == 0 || --staged_ == 0; }
  bool is_refused() const noexcept { return staged_ != 0; }
  void refuse() noexcept {
    constexpr unsigned a_while = 64;
    staged_ = a_while;
  }

private:
  unsigned staged_ = 0;  // to be staged before memory is lent to the kernel again
};

/// What a rank remembers of a team's operations, from one to the next.
struct bookkeeping {
  bookkeeping(wire::node_memory& memory, std::size_t local_peers)
      : order(memory.board().extent()), known_complete(local_peers, 0), shared_scratch(memory) {}

  operation_order order;
  /// Of each kind, the last operation that waits for its turn, or null.
  std::array<turn_wait*, stage_kinds> last_turns{};
  /// What the ranks of this node were last seen to have completed, and the least of that.
  std::vector<std::uint64_t> known_complete;
  std::uint64_t known_complete_by_all = 0;
  copies_to_stage to_stage;
  copies_to_results to_results;
  muster::stage_pages stage_pages;
  foreign_lending foreign;
  timed_lendings lendings;
  shared_scratch_pool shared_scratch;
};

}  // namespace muster
