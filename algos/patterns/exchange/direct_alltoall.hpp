#pragma once

#include <muster/run/context.hpp>

/// The direct alltoall of blocks of any lengths, each of which its two ends know: every rank sends
/// every other its block.
namespace muster::algos {

/// Sends in the order of `ranks_after`, k at a time, whoever is late to receive what.
task<> direct_alltoall(context& me, const arguments& call);

/// The same, aware of arrivals: see algos/alltoall/pap_direct.cpp.
task<> pap_direct_alltoall(context& me, const arguments& call);

}  // namespace muster::algos
