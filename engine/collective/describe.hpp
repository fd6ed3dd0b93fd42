#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/collective/arguments.hpp"
#include "engine/collective/catalog.hpp"
#include "engine/wire/board.hpp"

namespace muster {

/// A call as its rank recorded it.
struct recorded_call {
  std::uint64_t sequence;
  std::uint64_t kind;
  std::uint64_t count;
  std::uint64_t root;
  std::uint64_t details;

  friend bool operator==(const recorded_call&, const recorded_call&) = default;
};

/// What a rank recorded, with sequence number 0 (of no operation) while it is being changed.
recorded_call read_record(const wire::call_record& record) noexcept;

/// Collective, algorithm, type, op and order of combining in one word, the same on every rank for
/// the same call.
std::uint64_t pack_kind(const arguments& call, std::size_t algorithm) noexcept;

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
std::string describe(const recorded_call& call);
/// How it is run: "bruck:ports=2"
std::string describe_choice(const recorded_call& call, catalog rows);

}  // namespace muster
