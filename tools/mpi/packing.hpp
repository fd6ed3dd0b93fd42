#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "tools/mpi/held_type.hpp"
#include "tools/mpi/types.hpp"

namespace muster::mpi {

/// So many bytes from an address on, which may be MPI_BOTTOM: distances are absolute addresses
/// then.
inline std::byte* away_from(const void* address, std::int64_t bytes) noexcept {
  return reinterpret_cast<std::byte*>(reinterpret_cast<std::intptr_t>(address) + bytes);
}

/// Elements that do not lie one after the other, or not in order. The MPI packs and unpacks them.
struct scattered_elements {
  scattered_elements(const void* where, std::int64_t how_many, MPI_Datatype of,
                     const type_facts& facts) noexcept
      : address(away_from(where, 0)),
        count(how_many),
        type(of),
        size(facts.size),
        extent(facts.extent) {}

  std::byte* element(std::int64_t i) const noexcept { return away_from(address, i * extent); }

  std::byte* address;
  std::int64_t count;
  MPI_Datatype type;
  std::size_t size;     ///< of an element's data
  std::int64_t extent;  ///< from one element to the next
};

/// Copies their data to `to`, without gaps. \throws error where the MPI cannot
void pack(const scattered_elements& from, std::byte* to);
/// The way back. \throws error where the MPI cannot
void unpack(const std::byte* from, const scattered_elements& to);

/// What stands packed in our memory, and where it belongs. The program may free the type before.
class unpacking {
public:
  unpacking(const std::byte* from, const scattered_elements& to)
      : from_(from), to_(to), type_(to.type) {}

  /// \throws error where the MPI cannot
  void unpack() const { mpi::unpack(from_, to_); }

private:
  const std::byte* from_;
  scattered_elements to_;
  held_type type_;
};

}  // namespace muster::mpi
