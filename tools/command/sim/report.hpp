// What `muster sim` found, as tables for people and as JSON for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <span>
#include <string>

#include "tools/command/sim/plan.hpp"

namespace muster::simulator {

/// `hdr100, 128 nodes x 56 ranks`
std::string describe_ranks(const job& how);
/// `hdr100, 128 nodes x 56 ranks, arrivals random:mif=32, seed 7`
std::string describe(const job& how);

/// `auto: pairwise` where the catalog chose.
std::string title_of(const result& one);

/// The heading of one collective's table.
std::string table_head(const job& how, collective what);
/// A point's row in it.
std::string table_row(const result& one);
/// What all of it took, and what was not verified.
std::string summary(const job& how, std::span<const result> all);

/// One object a point, alike from run to run: machine, seed, arrivals, times, the work of a call in
/// all and of the busiest node, waiting. Without figures the times are null, and `suits` or
/// `failure` says why. `muster plot` draws an array of them.
nlohmann::ordered_json to_json(const job& how, const result& one);
nlohmann::ordered_json to_json(const job& how, std::span<const result> all);
/// The same without what a call was made of.
nlohmann::ordered_json times_to_json(const job& how, std::span<const result> all);

}  // namespace muster::simulator
