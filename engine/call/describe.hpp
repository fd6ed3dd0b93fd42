#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <muster/call/arguments.hpp>

namespace muster {

/// Whether all ranks know how much each is to send and receive.
bool agrees_on_count(collective what) noexcept;
/// The count that all ranks know of a call: of its vector or block, or of all blocks together; 0
/// where each rank only knows its own.
std::size_t agreed_count(const arguments& call) noexcept;
/// Whether all ranks know that none has anything to send or receive. A barrier is there to be
/// waited for, so it is none of these.
bool moves_nothing(const arguments& call) noexcept;
/// What else they know of it, in one word: of a reduction of the user's own, of varying blocks; 0
/// for most calls.
std::uint64_t agreed_details(const arguments& call) noexcept;

/// "allreduce(16 x float64, sum)"
std::string describe(const arguments& call);

}  // namespace muster
