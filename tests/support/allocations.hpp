#pragma once

#include <cstddef>

namespace muster::testing {

/// How often the calling thread has allocated by the global operator new, which a test that depends
/// on this has replaced: a rank that is a thread counts only its own.
std::size_t allocations() noexcept;

}  // namespace muster::testing
