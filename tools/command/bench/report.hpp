// The benchmark's results as a table for people and as JSON for programs.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <span>
#include <string>

#include "tools/command/bench/measurement.hpp"

namespace muster::bench {

/// One object: collective, algorithm, library, ranks, nodes, bytes, median_us, p10_us, p90_us,
/// verified; `ratio` on ours where a peer was measured, `to_first` on all but the first of several
/// of ours; `asked` and `suits` where an algorithm was asked for; limit_us, the least that the
/// machine allows; and how it was measured: samples, discarded, one_state, trip_ns, trips; where
/// ranks came late: arrivals, seed, message_time_ns; of reductions the type; and where it is not as
/// usual: loop, buffers, offset, excluded, torch. Where hosts talk by RDMA, what one posts in a
/// call and has: sends, doorbells, sent_bytes, queue_pairs. Without figures the times are null and
/// `failure` says why.
nlohmann::ordered_json to_json(const measurement& one);
/// An array of these, each with machine, date and the library's version: `muster plot` draws it.
nlohmann::ordered_json to_json(std::span<const measurement> all, const environment_facts& about);

struct table_style {
  bool colours = false;  ///< for a terminal that has them
};

/// The rows of one collective at one rank count: each library's median, the ratio, and the least
/// that the machine allows, or where ranks came late the message time. Where algorithms were asked
/// for each has a row of its own. Where hosts talk by RDMA, what each posts follows.
std::string point_table(std::span<const measurement> all, collective what, std::size_t ranks,
                        const table_style& style);

/// Geometric means of the ratios: a row a collective and algorithm, a column a rank count, and over
/// all. Empty without ratios.
std::string summary_table(std::span<const measurement> all, const table_style& style);

}  // namespace muster::bench
