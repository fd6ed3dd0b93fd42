#pragma once

/// Collectives on Kokkos Views: `co_await muster::kokkos::allreduce(team, mine, total,
/// muster::sum)`.

#if !__has_include(<Kokkos_Core.hpp>)
#error \
    "<muster/kokkos.hpp> needs Kokkos: <Kokkos_Core.hpp> was not found; expected its include folder"
#endif

#include <muster/kokkos/collectives.hpp>
#include <muster/kokkos/reducers.hpp>
#include <muster/kokkos/view.hpp>
