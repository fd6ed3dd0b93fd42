#pragma once

#include <muster/select/catalog.hpp>

/// A declaration for each algorithm in this folder's subfolders.
namespace muster::algos {

#define ALGORITHM(row) extern const algorithm row;
#include "algos/list.inc"
#undef ALGORITHM

}  // namespace muster::algos
