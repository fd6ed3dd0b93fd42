#pragma once

#include <cstddef>
#include <string>

namespace muster::launch {

/// Passes on what a rank writes, line by line, each beginning with its rank: "[3] text". Owns the
/// reading end of the rank's pipe.
class tagged_output {
public:
  tagged_output(std::size_t rank, int from, int to);
  tagged_output(tagged_output&& other) noexcept;
  tagged_output& operator=(tagged_output&&) = delete;
  ~tagged_output();

  int descriptor() const noexcept { return from_; }
  /// Passes on what there is; false at the end.
  bool pass_on();

private:
  void write_lines(bool all);

  std::string tag_;
  std::string pending_;
  int from_;
  int to_;
};

}  // namespace muster::launch
