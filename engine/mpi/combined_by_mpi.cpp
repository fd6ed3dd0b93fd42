#include "engine/mpi/combined_by_mpi.hpp"

#include <cstdint>
#include <cstring>
#include <vector>

#include "engine/mpi/pieces.hpp"

namespace muster::mpi {
namespace {

bool commutes(MPI_Op op) {
  int answer = 0;
  PMPI_Op_commutative(op, &answer);
  return answer != 0;
}

}  // namespace

combined_by_mpi::combined_by_mpi(const type_facts& facts, MPI_Datatype of, MPI_Op by)
    : custom_reduction{.apply = combine,
                       .element_bytes = facts.extent,
                       .commutative = commutes(by)},
      type_(of),
      op_(by) {}

void combined_by_mpi::combine(const custom_reduction& self, std::byte* to, const std::byte* left,
                              const std::byte* right, std::size_t count) {
  const auto& own = static_cast<const combined_by_mpi&>(self);
  in_pieces(static_cast<std::int64_t>(count), own.element_bytes, [&](std::int64_t first, int some) {
    const std::size_t offset = static_cast<std::size_t>(first) * own.element_bytes;
    own.combine_some(to + offset, left + offset, right + offset, some);
  });
}

// MPI's operations put what they find to the left of the second operand into that operand.
void combined_by_mpi::combine_some(std::byte* to, const std::byte* left, const std::byte* right,
                                   int count) const {
  const std::size_t bytes = static_cast<std::size_t>(count) * element_bytes;
  std::vector<std::byte> kept;
  if (to == left) {
    kept.assign(left, left + bytes);
    left = kept.data();
  }
  if (to != right) std::memcpy(to, right, bytes);
  require_success(PMPI_Reduce_local(left, to, count, type_.get(), op_), "MPI_Reduce_local");
}

}  // namespace muster::mpi
