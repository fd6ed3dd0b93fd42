#pragma once

#include <mpi.h>

#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace muster::testing {

/// A rank of a test program, from MPI_Init to MPI_Finalize. It prints nothing but what is wrong.
///
/// One that takes too long, or crashes, says what it was doing.
class job {
public:
  /// An argument that is a number is the seed of random cases; else every run has its own. With
  /// "multiple" the level is MPI_THREAD_MULTIPLE. With "driver=PATH" the stand-in for a driver is
  /// loaded before MPI begins, with "late" after.
  job(int argc, char** argv, int thread_level = MPI_THREAD_SINGLE);
  job(const job&) = delete;
  job& operator=(const job&) = delete;

  int rank() const noexcept { return rank_; }
  int size() const noexcept { return size_; }
  /// The same on all ranks.
  std::uint64_t seed() const noexcept { return seed_; }
  bool has_threads() const noexcept { return level_ == MPI_THREAD_MULTIPLE; }
  /// Whether the arguments have a word.
  bool has(std::string_view word) const;
  /// What follows NAME= in the arguments; empty where none does.
  std::string value(std::string_view name) const;

  /// What is done from now on, for complaints.
  void now(std::string_view what);
  /// Complains unless it holds.
  template <class... Parts>
  bool check(bool holds, const Parts&... parts) {
    if (!holds) {
      std::ostringstream text;
      (text << ... << parts);
      complain(text.str());
    }
    return holds;
  }
  template <class A, class B, class... Parts>
  bool check_equal(const A& is, const B& expected, const Parts&... parts) {
    return check(is == expected, parts..., " is ", is, "; expected ", expected);
  }

  /// Ends MPI. Returns the exit status.
  int finish();

private:
  void complain(const std::string& text);

  std::vector<std::string_view> arguments_;
  int rank_ = 0;
  int size_ = 0;
  int level_ = MPI_THREAD_SINGLE;
  std::uint64_t seed_ = 0;
  int complaints_ = 0;
};

}  // namespace muster::testing
