#include "tools/mpi/combined_by_mpi.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "tools/mpi/packing.hpp"
#include "tools/mpi/pieces.hpp"

namespace muster::mpi {
namespace {

bool commutes(MPI_Op op) {
  int answer = 0;
  PMPI_Op_commutative(op, &answer);
  return answer != 0;
}

/// Memory for elements as a datatype lays them out.
class laid_out {
public:
  laid_out(const type_facts& facts, MPI_Datatype type, int count)
      : all_(nullptr, count, type, facts) {
    // The first and the last element reach furthest, in which order ever they lie.
    const std::int64_t last = (count - 1) * facts.extent;
    const std::int64_t low = std::min<std::int64_t>(0, last) + facts.first;
    const std::int64_t high = std::max<std::int64_t>(0, last) + facts.end;
    memory_.resize(static_cast<std::size_t>(high - low + alignment - 1));
    const auto begin = reinterpret_cast<std::intptr_t>(memory_.data());
    // Their address, from which distances are counted, is aligned as programs expect it.
    // It may well be negative.
    const std::intptr_t address = (begin - low + alignment - 1) & -alignment;
    all_.address = away_from(nullptr, address);
  }
  const scattered_elements& all() const noexcept { return all_; }

private:
  static constexpr std::int64_t alignment = 64;

  std::vector<std::byte> memory_;
  scattered_elements all_;
};

}  // namespace

combined_by_mpi::combined_by_mpi(const type_facts& facts, MPI_Datatype of, MPI_Op by)
    : custom_reduction{.apply = facts.contiguous ? combine : combine_scattered,
                       .element_bytes = std::max<std::size_t>(1, facts.size),
                       .commutative = commutes(by)},
      facts_(facts),
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

void combined_by_mpi::combine_scattered(const custom_reduction& self, std::byte* to,
                                        const std::byte* left, const std::byte* right,
                                        std::size_t count) {
  const auto& own = static_cast<const combined_by_mpi&>(self);
  // Elements may be far from each other.
  constexpr std::int64_t most_bytes = std::int64_t{1} << 16;
  const std::int64_t distance = std::max<std::int64_t>(1, std::abs(own.facts_.extent));
  const auto most = static_cast<std::size_t>(std::max<std::int64_t>(1, most_bytes / distance));
  for (std::size_t done = 0; done < count; done += most) {
    const std::size_t offset = done * own.element_bytes;
    own.combine_laid_out(to + offset, left + offset, right + offset,
                         static_cast<int>(std::min(most, count - done)));
  }
}

void combined_by_mpi::combine_laid_out(std::byte* to, const std::byte* left, const std::byte* right,
                                       int count) const {
  const laid_out first(facts_, type_.get(), count);
  const laid_out second(facts_, type_.get(), count);
  unpack(left, first.all());
  unpack(right, second.all());
  const int code =
      PMPI_Reduce_local(first.all().address, second.all().address, count, type_.get(), op_);
  require_success(code, "MPI_Reduce_local");
  pack(second.all(), to);
}

}  // namespace muster::mpi
