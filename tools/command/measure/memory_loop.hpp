#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace muster::measure {

/// Measures what the memory gives: blocks that no cache holds, copied by several processors at
/// once.
class memory_loop {
public:
  /// Nanoseconds in which a byte is copied, of all that these processors copy together; by plain or
  /// by streaming stores, whichever is faster. Some 60 milliseconds, and at first the time that it
  /// takes to get 256 MiB of memory, or four times the largest cache, which it keeps.
  double copy_ns_a_byte(std::span<const int> cpus);

private:
  /// What one processor copies.
  struct field {
    std::vector<std::byte> source;
    std::vector<std::byte> target;
  };

  std::vector<field> fields_;
};

}  // namespace muster::measure
