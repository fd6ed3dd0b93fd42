#pragma once

#include "algos/patterns/arrival/arrival_notes.hpp"
#include "algos/patterns/node/gathered_blocks.hpp"

/// What the allgathers share whose leader receives other nodes' blocks in any order.
namespace muster::algos {

/// Bytes that notes of them take, after the buffer.
std::size_t bytes_of_notes(const context& me);
/// Which node's blocks came k-th, as the leader tells.
arrival_notes notes_of(gathered_blocks& in);
/// Copies every other node's blocks out, in the order in which they came.
task<> copy_out_as_told(gathered_blocks& in);

}  // namespace muster::algos
