#include "tools/mpi/packing.hpp"

#include "tools/mpi/next.hpp"
#include "tools/mpi/pieces.hpp"

namespace muster::mpi {
namespace {

/// As `in_pieces`; one by one where elements lie backwards, so that nothing rests on how an MPI
/// packs several of those.
template <class Work>
void in_stretches(const scattered_elements& all, Work work) {
  if (all.extent >= 0) return in_pieces(all.count, all.size, work);
  require_countable(all.size);
  for (std::int64_t i = 0; i < all.count; ++i) work(i, 1);
}

/// The same elements from another address: MPICH does not pack from MPI_BOTTOM.
class away_from_bottom {
public:
  explicit away_from_bottom(const scattered_elements& these) : all_(these) {
    const int once = 1;
    const MPI_Aint step = 4096;
    PMPI_Type_create_hindexed(1, &once, &step, these.type, &all_.type);
    PMPI_Type_commit(&all_.type);
    all_.address = away_from(these.address, -step);
  }
  ~away_from_bottom() {
    static const auto beneath = find_next<decltype(&PMPI_Type_free)>("PMPI_Type_free");
    beneath(&all_.type);
  }
  away_from_bottom(const away_from_bottom&) = delete;
  away_from_bottom& operator=(const away_from_bottom&) = delete;

  const scattered_elements& all() const noexcept { return all_; }

private:
  scattered_elements all_;
};

}  // namespace

void pack(const scattered_elements& from, std::byte* to) {
  if (from.address == MPI_BOTTOM) return pack(away_from_bottom(from).all(), to);
  in_stretches(from, [&](std::int64_t first, int some) {
    int position = 0;
    const int code = PMPI_Pack(from.element(first), some, from.type, to,
                               static_cast<int>(from.size) * some, &position, MPI_COMM_SELF);
    require_success(code, "MPI_Pack");
    to += static_cast<std::size_t>(position);
  });
}

void unpack(const std::byte* from, const scattered_elements& to) {
  if (to.address == MPI_BOTTOM) return unpack(from, away_from_bottom(to).all());
  in_stretches(to, [&](std::int64_t first, int some) {
    int position = 0;
    const int code = PMPI_Unpack(from, static_cast<int>(to.size) * some, &position,
                                 to.element(first), some, to.type, MPI_COMM_SELF);
    require_success(code, "MPI_Unpack");
    from += static_cast<std::size_t>(position);
  });
}

}  // namespace muster::mpi
