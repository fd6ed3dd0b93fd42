#include "tools/mpi/gather.hpp"

#include <cstddef>

#include "tools/mpi/next.hpp"

namespace muster::mpi {

std::vector<std::string> gather_texts(const std::string& mine, MPI_Comm among) {
  static const auto gather = find_next<decltype(&PMPI_Gather)>("PMPI_Gather");
  static const auto gatherv = find_next<decltype(&PMPI_Gatherv)>("PMPI_Gatherv");
  int rank = 0;
  int ranks = 0;
  PMPI_Comm_rank(among, &rank);
  PMPI_Comm_size(among, &ranks);
  const auto known = static_cast<std::size_t>(rank == 0 ? ranks : 0);

  const int length = static_cast<int>(mine.size());
  std::vector<int> lengths(known);
  gather(&length, 1, MPI_INT, lengths.data(), 1, MPI_INT, 0, among);
  std::vector<int> begins(known);
  int end = 0;
  for (std::size_t i = 0; i < known; ++i) {
    begins[i] = end;
    end += lengths[i];
  }
  std::string together(static_cast<std::size_t>(end), '\0');
  gatherv(mine.data(), length, MPI_CHAR, together.data(), lengths.data(), begins.data(), MPI_CHAR,
          0, among);

  std::vector<std::string> all;
  for (std::size_t i = 0; i < known; ++i) {
    all.push_back(
        together.substr(static_cast<std::size_t>(begins[i]), static_cast<std::size_t>(lengths[i])));
  }
  return all;
}

}  // namespace muster::mpi
