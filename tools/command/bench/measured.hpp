// Which collectives are measured, and what their message size means.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include <muster/call/arguments.hpp>

namespace muster::bench {

/// Measured unless others are asked for.
inline constexpr std::array usual_collectives{
    collective::barrier, collective::bcast,  collective::reduce,    collective::allreduce,
    collective::scatter, collective::gather, collective::allgather, collective::alltoall};

/// Those of all ranks of a team.
inline constexpr auto all_collectives = [] {
  std::array<collective, collectives_of_all> all{};
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

/// What the elements of reductions may be; everything else moves doubles.
struct element_kind {
  std::string_view name;  ///< as on the command line
  datatype type;
};
inline constexpr std::array element_kinds{
    element_kind{"char", datatype::int8}, element_kind{"int", datatype::int32},
    element_kind{"float", datatype::float32}, element_kind{"double", datatype::float64}};

/// Empty for a type that is not among them.
constexpr std::string_view name_of_element(datatype type) {
  for (const element_kind& kind : element_kinds) {
    if (kind.type == type) return kind.name;
  }
  return {};
}

/// `work` with an element of a type that is among `element_kinds`.
template <class Work>
decltype(auto) with_element(datatype type, Work work) {
  switch (type) {
    case datatype::int8:
      return work(std::int8_t{});
    case datatype::int32:
      return work(std::int32_t{});
    case datatype::float32:
      return work(float{});
    default:
      return work(double{});
  }
}

/// How the calls of a run are made.
struct calling {
  bool between_barriers = false;  ///< a barrier before each call, which alone is timed
  bool same_buffers = false;      ///< one slot for all calls, whose contents stay
  /// Bytes into a cache line, or a page for buffers of 128 KiB and more, at which buffers begin.
  std::uint32_t offset = 0;
  bool excluded = false;              ///< Muster is preloaded, and leaves all calls to the MPI
  bool in_torch = false;              ///< in Python, the library a backend of torch.distributed
  datatype type = datatype::float64;  ///< of what reductions combine
  bool operator==(const calling&) const = default;

  datatype element_of(collective what) const { return has_op(what) ? type : datatype::float64; }
};

/// A call from or to `root_rank`, without buffers: what its shape can be asked of.
inline arguments call_of(collective what, std::size_t count, datatype type = datatype::float64) {
  arguments call;
  call.what = what;
  if (!has_sizes(what)) return call;
  call.type = type;
  call.op = has_op(what) ? reduction::sum : reduction::none;
  call.root = root_rank;
  call.count = count;
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
