#pragma once

#include <muster/run/context.hpp>

namespace muster::algos {

/// The pairwise alltoall of blocks of any lengths, each of which its two ends know: in step s of
/// N-1 this rank sends its block to rank r+s and receives that of rank r-s.
task<> pairwise_alltoall(context& me, const arguments& call);

}  // namespace muster::algos
