#pragma once

#include <mpi.h>

#include <cstddef>
#include <memory>
#include <vector>

#include "tools/mpi/call.hpp"
#include "tools/mpi/device_driver.hpp"
#include "tools/mpi/devices.hpp"
#include "tools/mpi/host_memory.hpp"
#include "tools/mpi/operands.hpp"
#include "tools/mpi/type_map.hpp"

namespace muster::mpi {

/// A call whose buffers are, in whole or in part, in memory of an accelerator, and what stands for
/// them in the CPU's: memory of the same layout. That is this rank's alone: neither the others nor
/// what carries the call out know of it.
class staging {
public:
  /// Whether it copies what is read: a call that is only tried needs no data.
  enum class copying : bool { no, yes };

  /// Null where the CPU can use all buffers.
  /// \throws rejected where a driver refuses
  static std::unique_ptr<staging> of(const call& what, const devices& among, host_memory& memory,
                                     std::size_t rank, const block_numbers& blocks, copying how);
  staging(const staging&) = delete;
  staging& operator=(const staging&) = delete;

  /// The call on the CPU's memory. Beyond buffers it names what the call named.
  const call& now() const noexcept { return now_; }
  /// It has succeeded: copies what was received where it belongs. \throws rejected as `of`
  void finish() const;

private:
  /// A buffer's.
  struct image {
    const device_driver& driver;
    const char* name;
    address device;
    address host;
    std::vector<strip> written;
    host_memory::block memory;
  };

  explicit staging(const call& what) : now_(what) {}
  void add(const operand& one, const device_driver& owner, type_maps& types, host_memory& memory,
           std::size_t rank, copying how);
  template <class Copy>
  void require(const char* name, Copy copy) const;

  call now_;
  std::vector<image> images_;
};

}  // namespace muster::mpi
