// Which collectives are measured, and what their message size means.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

#include "engine/collective/arguments.hpp"

namespace muster::bench {

/// Measured unless others are asked for.
inline constexpr std::array usual_collectives{
    collective::barrier, collective::bcast,  collective::reduce,    collective::allreduce,
    collective::scatter, collective::gather, collective::allgather, collective::alltoall};

inline constexpr auto all_collectives = [] {
  std::array<collective, collectives> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<collective>(i);
  return all;
}();

/// Leaves the choice of the algorithm to the catalog.
inline constexpr std::string_view automatic = "auto";

/// The rank that rooted collectives start from or end at.
inline constexpr int root_rank = 0;

inline std::optional<collective> collective_named(std::string_view text) {
  for (const collective what : all_collectives) {
    if (name(what) == text) return what;
  }
  return std::nullopt;
}

/// A barrier carries nothing, so it is measured once and not at every size.
constexpr bool has_sizes(collective what) { return what != collective::barrier; }

/// A call of doubles from or to `root_rank`, without buffers: what its shape can be asked of.
inline arguments call_of(collective what, std::size_t words) {
  arguments call;
  call.what = what;
  if (!has_sizes(what)) return call;
  call.type = datatype::float64;
  call.op = has_op(what) ? reduction::sum : reduction::none;
  call.root = root_rank;
  call.count = words;
  return call;
}

/// Gives a rank's call the layouts that it needs to have; those of all ranks are alike.
inline void lay_out(arguments& call, std::size_t rank, const block_layout& blocks) {
  if (!has_varying_blocks(call.what)) return;
  if (call.sends_blocks() && call.sends(rank)) call.send_blocks = &blocks;
  if (call.receives_blocks() && call.receives(rank)) call.receive_blocks = &blocks;
  if (call.what == collective::alltoallv) call.count = 0;
}

/// Whether the message size is that of a block, of which a rank has one for or from each.
inline bool counts_blocks(collective what) {
  const arguments call = call_of(what, 1);
  return call.sends_blocks() || call.receives_blocks();
}

}  // namespace muster::bench
