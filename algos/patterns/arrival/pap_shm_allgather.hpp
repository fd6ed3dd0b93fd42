#pragma once

#include <muster/run/context.hpp>

namespace muster::algos {

/// The allgather over nodes, of blocks of any lengths, which all ranks know, that serves first
/// whoever has arrived first: see algos/allgather/pap_shm_direct.cpp.
task<> pap_shm_allgather(context& me, const arguments& call);

}  // namespace muster::algos
