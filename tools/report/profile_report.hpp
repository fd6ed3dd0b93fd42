// A job's arrivals as a table and as JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "tools/report/profile.hpp"

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
/// ranks came to each call of the first site that all ranks have recorded. And of the sites with
/// the most time, at most eight, `lateness`, which `muster plot` draws.
nlohmann::ordered_json to_json(const job& of);

}  // namespace muster::profile
