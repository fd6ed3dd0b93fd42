#include "engine/mpi/packing.hpp"

#include "engine/mpi/pieces.hpp"

namespace muster::mpi {

void pack(const scattered_elements& from, std::byte* to) {
  const std::size_t size = from.facts.size;
  const auto extent = static_cast<std::int64_t>(from.facts.extent);
  in_pieces(from.count, size, [&](std::int64_t first, int some) {
    int position = 0;
    const int code = PMPI_Pack(from.address + first * extent, some, from.type, to,
                               static_cast<int>(size) * some, &position, MPI_COMM_SELF);
    require_success(code, "MPI_Pack");
    to += static_cast<std::size_t>(position);
  });
}

void unpacking::unpack() const {
  const std::byte* from = from_;
  in_pieces(count_, size_, [&](std::int64_t first, int some) {
    int position = 0;
    const int code = PMPI_Unpack(from, static_cast<int>(size_) * some, &position,
                                 to_ + first * extent_, some, type_.get(), MPI_COMM_SELF);
    require_success(code, "MPI_Unpack");
    from += static_cast<std::size_t>(position);
  });
}

}  // namespace muster::mpi
