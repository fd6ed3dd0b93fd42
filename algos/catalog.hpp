#pragma once

#include <muster/select/catalog.hpp>

namespace muster::algos {

/// Every algorithm that comes with Muster, the preferred ones first.
muster::catalog catalog() noexcept;

}  // namespace muster::algos
