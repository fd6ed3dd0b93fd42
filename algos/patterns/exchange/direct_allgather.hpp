#pragma once

#include <cstddef>
#include <span>

#include <muster/run/context.hpp>

/// The direct allgather of blocks of any lengths, which all ranks know: every rank sends its block
/// to every other.
namespace muster::algos {

/// Sends in the order of `ranks_after`, k at a time, whoever is late to receive what.
task<> direct_allgather(context& me, const arguments& call);

/// The same, aware of arrivals: see algos/allgather/pap_direct.cpp.
task<> pap_direct_allgather(context& me, const arguments& call);

/// What either costs where blocks vary.
node_cost cost_of_direct_allgatherv(const even_nodes& of, const arguments& call);

}  // namespace muster::algos
