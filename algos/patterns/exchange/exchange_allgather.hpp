#pragma once

#include <cstddef>

#include <muster/run/context.hpp>

namespace muster::algos {

/// The allgather of equal blocks by exchange among k+1 ranks at a time; see
/// algos/allgather/standard_exchange.cpp.
task<> exchange_allgather(context& me, const arguments& call, std::size_t ports);

/// What it costs.
node_cost cost_of_exchange(const even_nodes& of, std::size_t ports, std::size_t block);

}  // namespace muster::algos
