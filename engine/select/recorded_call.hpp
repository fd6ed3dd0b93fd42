#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <muster/call/arguments.hpp>
#include <muster/select/catalog.hpp>
#include <muster/wire/call_record.hpp>

namespace muster {

/// Collective, algorithm, type, op and order of combining in one word, the same on every rank for
/// the same call.
std::uint64_t pack_kind(const arguments& call, std::size_t algorithm) noexcept;
/// What it has of these. A kind that was damaged may give what there is not.
constexpr collective collective_of(std::uint64_t kind) noexcept {
  return static_cast<collective>(kind & 0xff);
}
constexpr datatype type_of(std::uint64_t kind) noexcept {
  return static_cast<datatype>(kind >> 8 & 0xff);
}
constexpr reduction op_of(std::uint64_t kind) noexcept {
  return static_cast<reduction>(kind >> 16 & 0xff);
}

std::string describe(const wire::recorded_call& call);
/// How it is run: "bruck:ports=2"
std::string describe_choice(const wire::recorded_call& call, catalog rows);

}  // namespace muster
