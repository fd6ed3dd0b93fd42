// The six collectives that the benchmark knows, and what their message size means.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace muster::bench {

enum class operation : std::uint8_t { barrier, bcast, reduce, allreduce, allgather, alltoall };

inline constexpr std::array all_operations{operation::barrier,   operation::bcast,
                                           operation::reduce,    operation::allreduce,
                                           operation::allgather, operation::alltoall};

/// The rank that bcast and reduce start from or end at.
inline constexpr int root_rank = 0;

constexpr std::string_view name_of(operation what) {
  constexpr std::array<std::string_view, all_operations.size()> names{
      "barrier", "bcast", "reduce", "allreduce", "allgather", "alltoall"};
  return names[static_cast<std::size_t>(what)];
}

constexpr std::optional<operation> operation_named(std::string_view name) {
  for (const operation what : all_operations) {
    if (name_of(what) == name) return what;
  }
  return std::nullopt;
}

/// A barrier carries nothing, so it is measured once and not at every size.
constexpr bool has_sizes(operation what) { return what != operation::barrier; }

}  // namespace muster::bench
