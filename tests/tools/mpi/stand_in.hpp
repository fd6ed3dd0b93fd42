#pragma once

#include <cstddef>
#include <cstdint>

namespace muster::testing {

/// What a test may do with a stand-in for an accelerator's driver: a library that has the functions
/// of the driver's that Muster uses, and a memory that faults when the CPU touches it. It refuses
/// what the driver would refuse, or might.
struct stand_in {
  /// Begins to work: before, it refuses all.
  void (*begin)();
  /// Memory of the device; of the device that the CPU may touch as well.
  void* (*allocate)(std::size_t bytes);
  void* (*allocate_managed)(std::size_t bytes);
  void (*free)(void* of_either);
  void (*upload)(void* to_device, const void* from, std::size_t bytes);
  void (*download)(void* to, const void* from_device, std::size_t bytes);
  /// The copy after so many others fails.
  void (*refuse_after)(std::size_t copies);
  std::size_t (*copies)();
  /// The names of errors have so many characters at least.
  void (*lengthen_names)(std::size_t characters);
  /// Whether the calling thread finds the driver as it left it: in the context, on the device and
  /// without an error.
  bool (*is_untouched)();
};
inline constexpr const char* stand_in_symbol = "muster_stand_in";
using stand_in_function = const stand_in* (*)();

}  // namespace muster::testing
