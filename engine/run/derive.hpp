#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <muster/run/team.hpp>
#include <muster/wire/fabric.hpp>

namespace muster {

/// A team that some ranks of another make of memory which they have provided.
struct derived_team {
  std::span<const std::size_t> members;          ///< ranks of the other, in the new one's order
  std::span<const wire::memory_handle> handles;  ///< what each of them has provided
  const wire::extent& much;
  std::size_t rank;    ///< this one's, among the members
  std::uint64_t turn;  ///< how many teams were made of the other before, as all members count
};

/// This rank's part of it. Where one rank cannot, for want of memory of its own, the team is broken
/// for the others, whose calls on it fail and say which rank it was.
/// \throws std::bad_alloc
std::unique_ptr<team> derive_team(team& of, const derived_team& what);

}  // namespace muster
