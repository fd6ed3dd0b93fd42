#pragma once

#include <cstddef>

#include "engine/collective/catalog.hpp"
#include "engine/collective/context.hpp"

/// What algorithms share that stage in a buffer of one rank's (`staging`), which all of its node
/// write and read.
namespace muster::algos {

/// Of tracks whose items are notices alone.
inline const items signals(0, 1);

/// For algorithms with such tracks.
inline stage_kind signal_stages(const shape&, const machine&, const arguments&) {
  return stage_kind::lengthy;
}

/// Nobody wants to reserve more than this for staging.
inline bool fits_into_shared_buffer(std::size_t bytes) {
  constexpr std::size_t most = std::size_t{1} << 29;
  return bytes <= most;
}

}  // namespace muster::algos
