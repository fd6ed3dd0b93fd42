// A library whose catalog is none.

#include <muster/select/catalog.hpp>

const muster::catalog* muster_catalog() noexcept { return nullptr; }
