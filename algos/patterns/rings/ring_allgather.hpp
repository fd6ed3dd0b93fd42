#pragma once

#include <muster/run/context.hpp>

namespace muster::algos {

/// The allgather of blocks of any lengths, which all ranks know, around a ring: in step s every
/// rank receives the block of the rank s back from the rank before it, and sends what came last, at
/// first its own, to the rank after it. N-1 steps.
task<> ring_allgather(context& me, const arguments& call);

}  // namespace muster::algos
