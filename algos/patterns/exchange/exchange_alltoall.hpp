#pragma once

#include <muster/run/context.hpp>

namespace muster::algos {

/// The alltoall by exchange among k+1 ranks at a time; see algos/alltoall/standard_exchange.cpp.
task<> exchange_alltoall(context& me, const arguments& call);

}  // namespace muster::algos
