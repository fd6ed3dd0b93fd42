#pragma once

#include <cstddef>
#include <span>

#include <muster/run/context.hpp>

namespace muster::algos {

/// A block, and who is at its other end.
template <class Byte>
struct edge {
  std::size_t rank;
  std::size_t position;  ///< among those of the same rank
  std::span<Byte> bytes;
};
using outgoing = edge<const std::byte>;
using incoming = edge<std::byte>;

/// What a call sends and receives, without edges to nobody: from the next rank on, so that ranks do
/// not all begin with the same one, those of a rank in their order; this rank's own come last.
pooled_list<outgoing> outgoing_of(const context& me, const arguments& call);
pooled_list<incoming> incoming_of(const context& me, const arguments& call);

}  // namespace muster::algos
