#pragma once

#include <muster/run/context.hpp>

namespace muster::algos {

/// The short allgather of blocks of any lengths: publishes this rank's block, and copies the
/// others' in the order of their arrival.
task<> publish_blocks(context& me, const arguments& call);
/// The same where all are there already; see `algorithm::at_once`.
bool publish_blocks_at_once(context& me, const arguments& call);

}  // namespace muster::algos
