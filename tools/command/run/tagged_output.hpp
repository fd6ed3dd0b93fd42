#pragma once

#include <cstddef>
#include <string>

#include <muster/base/descriptor.hpp>

namespace muster::launch {

/// Passes on what a rank writes, line by line, each beginning with its rank: "[3] text". Owns the
/// reading end of the rank's pipe.
class tagged_output {
public:
  tagged_output(std::size_t rank, muster::descriptor from, int to);

  int descriptor() const noexcept { return from_.get(); }
  /// Passes on what there is; false at the end.
  bool pass_on();

private:
  void write_lines(bool all);

  std::string tag_;
  std::string pending_;
  muster::descriptor from_;
  int to_;
};

}  // namespace muster::launch
