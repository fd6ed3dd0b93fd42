#pragma once

#include "engine/collective/arguments.hpp"
#include "tools/bench/operation.hpp"

namespace muster::bench {

/// Muster's own name for it.
constexpr collective collective_of(operation what) {
  switch (what) {
    case operation::barrier:
      return collective::barrier;
    case operation::bcast:
      return collective::bcast;
    case operation::reduce:
      return collective::reduce;
    case operation::allreduce:
      return collective::allreduce;
    case operation::allgather:
      return collective::allgather;
    case operation::alltoall:
      return collective::alltoall;
  }
  return collective::barrier;
}

}  // namespace muster::bench
