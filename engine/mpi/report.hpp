#pragma once

#include <mpi.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <map>
#include <string>

#include "engine/collective/arguments.hpp"
#include "engine/mpi/call.hpp"
#include "engine/team/team.hpp"

namespace muster::mpi {

/// What a process's collective calls came to, for those who ask for a report.
class tally {
public:
  explicit tally(bool wanted) noexcept : wanted_(wanted) {}
  bool wanted() const noexcept { return wanted_; }

  /// Muster has taken a call.
  void took(routine which, form how, const muster::team& on, const arguments& what);
  /// The time that the program spent in it.
  void spent(routine which, form how, std::chrono::nanoseconds time);
  /// It went to the MPI.
  void left(routine which, form how, const char* reason);

  /// All processes together; the first one prints.
  void print(MPI_Comm all) const;

private:
  struct line {
    std::uint64_t taken = 0;
    std::uint64_t bytes = 0;
    std::uint64_t nanoseconds = 0;
    std::map<std::string, std::uint64_t, std::less<>> algorithms;
    std::map<std::string, std::uint64_t, std::less<>> reasons;
  };
  line& of(routine which, form how) noexcept {
    return lines_[static_cast<std::size_t>(which)][static_cast<std::size_t>(how)];
  }

  bool wanted_;
  std::array<std::array<line, forms>, routines> lines_;
};

}  // namespace muster::mpi
