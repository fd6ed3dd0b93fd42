// A job's arrivals as a table, as JSON and as a picture.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/profile/profile.hpp"

namespace muster::profile {

/// About three digits, or all before the point.
std::string readable_factor(double value);

/// "allreduce(16 x float64, sum): flat", and on which ranks if not on all.
std::string title_of(const site& of, const job& in);

/// A line a site, and what is missing.
std::string table(const job& of);

/// An object: ranks, missing, sites; of each collective, algorithm, ranks, calls, kept, bytes,
/// message_time_ns, the imbalance factors, time_in_call_ns, waiting_share, last_rank, last_share.
/// Besides, "unit" and "delays", as `--arrivals file:` of other commands expects them: how late the
/// ranks came to each call of the first site that all ranks have recorded.
nlohmann::ordered_json to_json(const job& of);

/// The sites with the most time, at most eight: calls from left to right, a row a rank, the darker
/// the later behind the first. SVG, or a page of it.
std::string draw(const std::filesystem::path& file, const job& of);

}  // namespace muster::profile
