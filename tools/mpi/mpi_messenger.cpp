#include "tools/mpi/mpi_messenger.hpp"

#include <algorithm>
#include <utility>

#include "tools/mpi/next.hpp"

namespace muster::mpi {

mpi_messenger::mpi_messenger(MPI_Comm on) : on_(on) {
  // The program's handler is for its own calls.
  PMPI_Comm_set_errhandler(on_, MPI_ERRORS_ARE_FATAL);
  int* most = nullptr;
  int is_known = 0;
  PMPI_Comm_get_attr(on_, MPI_TAG_UB, &most, &is_known);
  constexpr int least = 32'767;  // as every MPI has
  most_tag_ = static_cast<std::uint32_t>(is_known != 0 ? std::max(*most, least) : least);
}

mpi_messenger::~mpi_messenger() { PMPI_Comm_free(&on_); }

messenger::request mpi_messenger::keep(MPI_Request one) {
  if (free_.empty()) {
    requests_.push_back(one);
    indices_.resize(requests_.size());
    statuses_.resize(requests_.size());
    return static_cast<request>(requests_.size() - 1);
  }
  const request name = free_.back();
  free_.pop_back();
  requests_[name] = one;
  return name;
}

messenger::request mpi_messenger::send(std::size_t to, std::uint32_t tag,
                                       std::span<const std::byte> bytes) {
  if (is_alone_) return over;
  MPI_Request made = MPI_REQUEST_NULL;
  PMPI_Isend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, static_cast<int>(to),
             static_cast<int>(tag), on_, &made);
  // A short one has left already; the MPI knows without looking for progress.
  static const auto test = find_next<decltype(&PMPI_Test)>("PMPI_Test");
  int is_over = 0;
  test(&made, &is_over, MPI_STATUS_IGNORE);
  return is_over != 0 ? over : keep(made);
}

messenger::request mpi_messenger::put(std::size_t to, std::uint32_t tag,
                                      std::span<const std::byte> bytes) {
  MPI_Request made = MPI_REQUEST_NULL;
  PMPI_Issend(bytes.data(), static_cast<int>(bytes.size()), MPI_BYTE, static_cast<int>(to),
              static_cast<int>(tag), on_, &made);
  return keep(made);
}

messenger::request mpi_messenger::receive(std::size_t from, std::uint32_t tag,
                                          std::span<std::byte> to) {
  MPI_Request made = MPI_REQUEST_NULL;
  const int source = from == anybody ? MPI_ANY_SOURCE : static_cast<int>(from);
  PMPI_Irecv(to.data(), static_cast<int>(to.size()), MPI_BYTE, source, static_cast<int>(tag), on_,
             &made);
  return keep(made);
}

bool mpi_messenger::take_back(request receive) {
  if (requests_[receive] == MPI_REQUEST_NULL) return false;  // its end is still to be told
  static const auto wait = find_next<decltype(&PMPI_Wait)>("PMPI_Wait");
  MPI_Status how;
  PMPI_Cancel(&requests_[receive]);
  wait(&requests_[receive], &how);
  int is_back = 0;
  PMPI_Test_cancelled(&how, &is_back);
  if (is_back == 0) {
    not_told_.push_back(end_of(receive, how));
  } else {
    free_.push_back(receive);
  }
  return is_back != 0;
}

messenger::request mpi_messenger::begin_barrier() {
  if (is_alone_) return over;
  static const auto barrier = find_next<decltype(&PMPI_Ibarrier)>("PMPI_Ibarrier");
  MPI_Request made = MPI_REQUEST_NULL;
  barrier(on_, &made);
  return keep(made);
}

messenger::ended mpi_messenger::end_of(request which, const MPI_Status& how) {
  int bytes = 0;
  PMPI_Get_count(&how, MPI_BYTE, &bytes);
  return {.which = which,
          .from = static_cast<std::size_t>(how.MPI_SOURCE),
          .bytes = static_cast<std::size_t>(bytes)};
}

std::span<const messenger::ended> mpi_messenger::look() {
  static const auto test_some = find_next<decltype(&PMPI_Testsome)>("PMPI_Testsome");
  for (const ended& each : told_) free_.push_back(each.which);
  told_.clear();
  told_.swap(not_told_);
  int count = 0;
  // The engine gives the core away when nobody has found anything: once is enough.
  const bool yields = let_mpi_yield(false);
  test_some(static_cast<int>(requests_.size()), requests_.data(), &count, indices_.data(),
            statuses_.data());
  if (yields) let_mpi_yield(true);
  for (int i = 0; i < count; ++i) {  // MPI_UNDEFINED, where there are none, is less than 0
    const auto at = static_cast<std::size_t>(i);
    told_.push_back(end_of(static_cast<request>(indices_[at]), statuses_[at]));
  }
  return told_;
}

}  // namespace muster::mpi
