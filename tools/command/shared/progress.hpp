// The progress of a run: a bar on a terminal, a line now and then elsewhere.
#pragma once

#include <chrono>
#include <cstddef>
#include <string>

namespace muster::bench {

/// `0:07`, `2:35`, `1:02:03`.
std::string readable_duration(std::chrono::seconds time);

/// A bar of `width` cells of which `fraction` (0 to 1) is filled.
std::string bar(double fraction, std::size_t width);

/// UTF-8 text cut to so many letters.
std::string first_letters(const std::string& text, std::size_t count);

class progress_meter {
public:
  /// Draws on standard error; as a bar if that is a terminal. `command` is what its notes begin
  /// with.
  progress_meter(std::size_t steps, bool quiet, std::string command = "muster bench");
  progress_meter(const progress_meter&) = delete;
  progress_meter& operator=(const progress_meter&) = delete;
  ~progress_meter() { clear(); }

  /// A new stretch of work, announced in a line where there is no bar.
  void begin(const std::string& what);
  /// What is going on, for the bar.
  void show(const std::string& what);
  /// Another step is done.
  void advance() { reach(done_ + 1); }
  /// So many steps are done, or not needed after all.
  void reach(std::size_t steps);
  /// A line that stays, for warnings.
  void note(const std::string& text);
  /// Takes the bar away.
  void clear();

private:
  using clock = std::chrono::steady_clock;

  void draw();
  double fraction() const;

  std::string command_;
  std::size_t steps_;
  std::size_t done_ = 0;
  bool quiet_;
  bool terminal_;
  bool drawn_ = false;
  std::string doing_;
  clock::time_point start_ = clock::now();
  clock::time_point last_drawn_{};
};

}  // namespace muster::bench
