#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "engine/collective/arguments.hpp"
#include "engine/wire/board.hpp"

namespace muster {

/// A call as its rank recorded it.
struct recorded_call {
  std::uint64_t sequence;
  std::uint64_t kind;
  std::uint64_t count;
  std::uint64_t root;

  friend bool operator==(const recorded_call&, const recorded_call&) = default;
};

/// What a rank recorded, with sequence number 0 (of no operation) while it is being changed.
recorded_call read_record(const wire::call_record& record) noexcept;

/// Collective, algorithm, type and op in one word, the same on every rank for the same call.
std::uint64_t pack_kind(const arguments& call, std::size_t algorithm) noexcept;

/// "allreduce(16 x float64, sum)"
std::string describe(const arguments& call);
std::string describe(const recorded_call& call);

}  // namespace muster
