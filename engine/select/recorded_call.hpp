#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <muster/call/arguments.hpp>
#include <muster/select/catalog.hpp>
#include <muster/wire/board.hpp>

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

std::string describe(const recorded_call& call);
/// How it is run: "bruck:ports=2"
std::string describe_choice(const recorded_call& call, catalog rows);

}  // namespace muster
