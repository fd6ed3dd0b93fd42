// What a program's collective calls came to: of one process, and of all of them put together.
#pragma once

#include <chrono>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <muster/call/arguments.hpp>
#include <muster/run/arrival_log.hpp>
#include <muster/run/team.hpp>

#include "tools/mpi/routine.hpp"

namespace muster::mpi {

/// Calls that a user tells from others: of a routine, in a form.
struct kind {
  routine which;
  form how;

  std::string name() const { return name_of(which, how); }
  /// As the label of its calls in an `arrival_log`.
  std::uint64_t number() const noexcept {
    return static_cast<std::uint64_t>(which) * forms + static_cast<std::uint64_t>(how);
  }
  /// What no kind has: a label of what the program did not call.
  static constexpr std::uint64_t numbers = routines * forms;
  static kind numbered(std::uint64_t number) noexcept {
    return {static_cast<routine>(number / forms), static_cast<form>(number % forms)};
  }
  friend auto operator<=>(const kind&, const kind&) = default;
};

/// How many calls went which way.
using ways = std::map<std::string, std::uint64_t, std::less<>>;

/// How balanced arrivals at some calls were, in factors of the time that a message of theirs takes;
/// see tools/command/arrivals.
struct balance {
  std::uint64_t calls = 0;  ///< that it is the balance of
  double average_case = 0;  ///< mean imbalance factors
  double worst_case = 0;
  double most = 0;     ///< the largest worst-case one
  double time_ns = 0;  ///< from a rank's arrival to its leaving, on average

  void add(const balance& other) noexcept;
};

/// What calls of one kind came to.
struct usage {
  std::uint64_t taken = 0;        ///< by Muster
  std::uint64_t bytes = 0;        ///< that the rank contributed to those
  std::uint64_t nanoseconds = 0;  ///< that the program spent in those; of blocking ones
  ways algorithms;                ///< that carried those out
  ways reasons;                   ///< why others went to the MPI
  std::optional<balance> arrivals;

  std::uint64_t left() const noexcept;
  std::uint64_t calls() const noexcept { return taken + left(); }
  void add(const usage& other);
};
using usages = std::map<kind, usage>;

/// A process's calls, for those who ask for a report.
class tally {
public:
  explicit tally(bool wanted) noexcept : wanted_(wanted) {}
  bool wanted() const noexcept { return wanted_; }

  /// Muster has taken a call.
  void took(kind of, const team& on, const arguments& what);
  /// The time that the program spent in it.
  void spent(kind of, std::chrono::nanoseconds time);
  /// It went to the MPI.
  void left(kind of, std::string_view reason);

  const usages& all() const noexcept { return all_; }

private:
  bool wanted_;
  usages all_;
};

/// As a process tells another.
std::string to_text(const usages& all);
/// \param text from `to_text`
usages parse_usages(std::string_view text);

/// All processes' calls.
struct summary {
  struct line {
    usage sum;
    std::size_t ranks = 0;    ///< that made such calls
    std::uint64_t least = 0;  ///< calls of one of them
    std::uint64_t most = 0;
  };
  std::size_t ranks = 0;
  std::size_t without = 0;  ///< of them, which have no Muster
  std::map<kind, line> lines;

  void add_rank(const usages& of);
  void add_rank_without() {
    ++ranks;
    ++without;
  }
};

// What follows is defined by whoever composes the library.

/// A rank's record of its arrivals; the `what` of a site is as it is to be found in the answer of
/// `judge_arrivals`.
std::string write_arrivals(const team& of, std::vector<arrival_log::site> sites);
/// By the sites' `what`.
/// \param records of all ranks of a machine
std::map<std::string, balance> judge_arrivals(std::span<const std::string> records);
/// Lines for people, each with an end.
std::string describe(const summary& all);

}  // namespace muster::mpi
