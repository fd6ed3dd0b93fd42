#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace muster::mpi {

/// An address in either memory: a device's need not be one that C++ may count from.
using address = std::uintptr_t;

/// Stretches of memory of one length, at equal distances.
struct strip {
  std::ptrdiff_t at = 0;  ///< bytes from whatever it is counted from to the first
  std::size_t width = 0;  ///< bytes of each
  std::size_t rows = 1;
  std::size_t pitch = 0;  ///< bytes from one to the next, no less than `width`; of one no matter
};

/// The driver of some accelerators, which is loaded in this process. All threads may use it.
class device_driver {
public:
  virtual ~device_driver() = default;

  /// Whether memory is an accelerator's, where the CPU cannot read it.
  virtual bool owns(address at) const noexcept = 0;
  /// Copies strips, counted from either address, out of an accelerator's memory or into it. They
  /// are where they belong when it returns. \throws error naming the driver's function and its code
  virtual void read(address device, address host, std::span<const strip> all) const = 0;
  virtual void write(address device, address host, std::span<const strip> all) const = 0;
};

/// Those of NVIDIA and AMD, by the handle of their library; null where it lacks a function that is
/// needed.
std::unique_ptr<device_driver> cuda_driver(void* library);
std::unique_ptr<device_driver> hip_driver(void* library);

/// A function of a loaded library; null where it has none of that name.
void* find_symbol_in(void* library, const char* name) noexcept;
template <class Function>
bool find_in(void* library, const char* name, Function& found) noexcept {
  found = reinterpret_cast<Function>(find_symbol_in(library, name));
  return found != nullptr;
}

/// \throws error that a driver's function has refused
[[noreturn]] void throw_refused(const char* function, int code, const char* name_of_code);

}  // namespace muster::mpi
