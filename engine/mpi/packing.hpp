#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>

#include "engine/mpi/types.hpp"

namespace muster::mpi {

/// Elements that do not lie one after the other, or not in order. The MPI packs and unpacks them.
struct scattered_elements {
  std::byte* address;
  std::int64_t count;
  MPI_Datatype type;
  const type_facts& facts;
};

/// Copies their data to `to`, without gaps. \throws error where the MPI cannot
void pack(const scattered_elements& from, std::byte* to);

/// What stands packed in our memory, and where it belongs. The program may free the type before.
class unpacking {
public:
  unpacking(const std::byte* from, const scattered_elements& to)
      : from_(from),
        to_(to.address),
        count_(to.count),
        size_(to.facts.size),
        extent_(static_cast<std::int64_t>(to.facts.extent)),
        type_(to.type) {}

  /// \throws error where the MPI cannot
  void unpack() const;

private:
  const std::byte* from_;
  std::byte* to_;
  std::int64_t count_;
  std::size_t size_;
  std::int64_t extent_;
  kept_type type_;
};

}  // namespace muster::mpi
