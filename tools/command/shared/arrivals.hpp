// Who comes late to a collective call, and by how much, for `muster bench` and other tools alike.
//
// Source: the process arrival patterns of Qian 2010 (6.3.2, 6.5). A delay there is bounded by a
// maximum imbalance factor (MIF) times the time that a message as large as the payload takes.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace muster::arrivals {

/// All ranks come together.
struct on_time {};

/// Each rank comes to each call late by a time of its own, uniform from 0 to `mif` message times,
/// both included. Source: Qian 6.3.2.
struct random_delays {
  double mif = 0;
};

/// A fixed share of the ranks comes late to each call, all of them by exactly `mif` message times;
/// which ones is drawn anew for every call. Source: Qian 6.5, where it is 25 % or 75 % of the ranks
/// with a MIF of 128. That leaves open whether the late ones come together; here they do, so that
/// the share is all that varies, and random_delays has the rest.
struct late_share {
  double share = 0;  ///< of the ranks, between 0 and 1; see late_ranks
  double mif = 0;
};

/// Delays recorded elsewhere. Calls beyond the last one repeat them from the first.
struct recorded_delays {
  std::size_t ranks = 0;
  std::vector<std::chrono::nanoseconds> delays;  ///< of all ranks for call 0, then for call 1, …
};

/// How ranks come to calls. By default on time.
struct pattern {
  std::string text = "none";  ///< as it was given to `parse`
  std::variant<on_time, random_delays, late_share, recorded_delays> how;
};

/// What `parse` takes, for people: the forms with a comma and a space between them.
inline constexpr std::string_view forms = "none, random:mif=F, late:share=P%,mif=F, file:PATH";

/// The pattern that `text` describes:
///
///   none                     on time
///   random:mif=32            random_delays; 0 to 1000000
///   late:share=25%,mif=128   late_share; above 0 % and below 100 %
///   file:PATH                recorded_delays, from {"unit": "ns", "delays": [[…], …]}: a list a
///                            call, a whole number of nanoseconds a rank
///
/// Throws std::invalid_argument that names `text`, what is wrong with it, or with the file, and
/// what was expected.
pattern parse(std::string_view text);

/// What the delays of a job depend on besides the pattern; alike on all its ranks.
struct setting {
  std::uint64_t seed = 1;
  std::size_t ranks = 1;
  std::chrono::nanoseconds message_time{0};  ///< a MIF's unit: one message between two ranks
};

/// Throws std::invalid_argument unless the pattern suits a job of so many ranks: recorded delays
/// are for as many as were recorded.
void require_ranks(const pattern& what, std::size_t ranks);

/// How many of `ranks` ranks come late to a call: the share, to the nearest whole number, but at
/// least one late and at least one on time. A rank alone is never late.
std::size_t late_ranks(const late_share& what, std::size_t ranks);

/// By how much `rank` comes late to call number `call`. A pure function, from a generator of its
/// own: every process finds the same delays of every rank, with every compiler and library, and
/// calls may be asked for in any order. `rank` is below `around.ranks`, for which `require_ranks`
/// holds. Takes some nanoseconds, for late_share some for each rank of the job.
std::chrono::nanoseconds delay(const pattern& what, const setting& around, std::size_t rank,
                               std::uint64_t call);

}  // namespace muster::arrivals
