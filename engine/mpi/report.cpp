#include "engine/mpi/report.hpp"

#include <cstdio>

#include "engine/collective/perform.hpp"

namespace muster::mpi {

void tally::took(routine which, form how, const muster::team& on, const arguments& what) {
  line& into = of(which, how);
  ++into.taken;
  into.bytes += what.bytes();
  ++into.algorithms[std::string(chosen_algorithm(on, what))];
}

void tally::spent(routine which, form how, std::chrono::nanoseconds time) {
  of(which, how).nanoseconds += static_cast<std::uint64_t>(time.count());
}

void tally::left(routine which, form how, const char* reason) { ++of(which, how).reasons[reason]; }

void tally::print(MPI_Comm all) const {
  int rank = 0;
  PMPI_Comm_rank(all, &rank);
  if (rank != 0) return;
  for (std::size_t which = 0; which < routines; ++which) {
    for (std::size_t how = 0; how < forms; ++how) {
      const line& one = lines_[which][how];
      if (one.taken == 0 && one.reasons.empty()) continue;
      const std::string_view name = name_of(static_cast<routine>(which), static_cast<form>(how));
      std::fprintf(stderr, "muster: %.*s: %llu taken\n", static_cast<int>(name.size()), name.data(),
                   static_cast<unsigned long long>(one.taken));
      for (const auto& [algorithm, calls] : one.algorithms) {
        std::fprintf(stderr, "muster:   %s %llu\n", algorithm.c_str(),
                     static_cast<unsigned long long>(calls));
      }
      for (const auto& [reason, calls] : one.reasons) {
        std::fprintf(stderr, "muster:   to the MPI: %s %llu\n", reason.c_str(),
                     static_cast<unsigned long long>(calls));
      }
    }
  }
}

}  // namespace muster::mpi
