#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <muster/call/arguments.hpp>

#include "tools/conformance/contents.hpp"

/// How long the blocks of a call are and where they lie: of those whose blocks vary, drawn from the
/// call's seed.
namespace muster::testing {

/// Elements of the block that goes from a rank to another; of collectives whose ranks have one
/// vector, of that.
std::size_t block_count(const spec& call, std::size_t from, std::size_t to);
/// `arguments::count` on a rank.
std::size_t own_count(const spec& call, std::size_t rank);

/// The blocks of a buffer, in elements; a vector is one block.
struct placement {
  std::vector<std::size_t> counts;
  std::vector<std::size_t> displacements;
  std::size_t extent = 0;   ///< of the whole buffer
  bool consecutive = true;  ///< so that the call need not say where they lie

  std::span<std::byte> block(std::span<std::byte> buffer, std::size_t index,
                             std::size_t element) const {
    return buffer.subspan(displacements[index] * element, counts[index] * element);
  }
  /// As a call takes it.
  block_layout given() const {
    if (consecutive) return {counts, {}};
    return {counts, displacements};
  }
  /// As an algorithm sees it.
  block_layout complete() const { return {counts, displacements}; }
};

/// What a rank's buffers have in them: nothing where it sends or receives nothing.
placement sent(const spec& call, std::size_t ranks, std::size_t rank);
placement received(const spec& call, std::size_t ranks, std::size_t rank);

/// The call of a rank without buffers and layouts; and whether it has layouts.
arguments bare_arguments(const spec& call, std::size_t rank);
bool has_send_layout(const arguments& call, std::size_t rank);
bool has_receive_layout(const arguments& call, std::size_t rank);

}  // namespace muster::testing
