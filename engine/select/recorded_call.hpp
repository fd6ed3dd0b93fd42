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

std::string describe(const wire::recorded_call& call);
/// How it is run: "bruck:ports=2"
std::string describe_choice(const wire::recorded_call& call, catalog rows);

}  // namespace muster
