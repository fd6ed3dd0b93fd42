#include "tools/mpi/aliases.hpp"

#include <cstdint>
#include <string>

#include "tools/mpi/errors.hpp"
#include "tools/mpi/next.hpp"
#include "tools/mpi/packing.hpp"

namespace muster::mpi {
namespace {

/// As it was built, and is set: it is asked with a call that it may refuse.
bool mpi_refuses_aliases() {
  static const auto allreduce = find_next<decltype(&PMPI_Allreduce)>("PMPI_Allreduce");
  MPI_Comm alone = MPI_COMM_NULL;
  PMPI_Comm_split(MPI_COMM_SELF, 0, 0, &alone);  // a copy would have the program's attributes
  PMPI_Comm_set_errhandler(alone, MPI_ERRORS_RETURN);
  int value = 0;
  const int said = allreduce(&value, &value, 1, MPI_INT, MPI_SUM, alone);
  PMPI_Comm_free(&alone);
  return said != MPI_SUCCESS;
}

/// Whether a rank both sends and receives, and the MPI refuses it where that is in one place.
bool is_refused(const arguments& means) {
  const bool has_two_buffers = means.send != nullptr && means.receive != nullptr;
  if (!has_two_buffers || has_neighbors(means.what)) return false;
  static const bool refuses = mpi_refuses_aliases();
  return refuses;
}

/// What a rank sends to itself, or receives from itself.
struct own_block {
  const std::byte* at;
  bool is_empty;
};

/// \param many whether there is a block for each rank
own_block find_own(const side& of, bool many, types& known, std::size_t rank) {
  const bool varies = many && of.counts.given();
  const std::int64_t count = varies ? of.counts[rank] : of.count;
  if (count == 0) return {nullptr, true};  // of what may be no type
  const type_facts& type = known.find(of.types == nullptr ? of.type : of.types[rank]);
  const std::int64_t before = many ? static_cast<std::int64_t>(rank) * count : 0;
  const std::int64_t displacement = varies ? of.displacements[rank] : before;
  const std::int64_t unit = of.types == nullptr ? type.extent : 1;
  return {away_from(of.buffer, displacement * unit), type.size == 0};
}

[[noreturn]] void refuse(const call& from) {
  throw rejected(MPI_ERR_BUFFER, std::string(from.function) +
                                     ": sendbuf has this rank's own data where recvbuf wants it; "
                                     "expected MPI_IN_PLACE, or buffers apart");
}

}  // namespace

void require_no_alias(const call& from, const arguments& means, types& known, std::size_t rank) {
  if (!is_refused(means)) return;
  if (has_op(means.what)) {
    if (from.send.buffer == from.receive.buffer && means.bytes() != 0) refuse(from);
    return;
  }
  const own_block sent = find_own(from.send, means.sends_blocks(), known, rank);
  const own_block received = find_own(from.receive, means.receives_blocks(), known, rank);
  if (sent.at == received.at && !sent.is_empty && !received.is_empty) refuse(from);
}

std::ptrdiff_t refused_distance(const arguments& means, std::size_t rank) {
  if (means.bytes() == 0 || !is_refused(means)) return never_refused;
  if (has_op(means.what)) return 0;
  const auto own = static_cast<std::ptrdiff_t>(rank * means.bytes());
  return (means.sends_blocks() ? own : 0) - (means.receives_blocks() ? own : 0);
}

}  // namespace muster::mpi
