/// A matrix that is distributed by rows is transposed.
///
///     muster run -n 4 transpose [ROWS COLUMNS]   multiples of the number of ranks

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>

#include <muster/muster.hpp>

#include "tests/examples/kokkos/transposition.hpp"

namespace {

using matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;

/// What is at (row, column) of the whole matrix.
double entry(std::size_t row, std::size_t column) {
  return static_cast<double>(row) + 1e-4 * static_cast<double>(column);
}

/// The ranks' rows of a matrix become their rows of the transposed one.
muster::task<> transpose(muster::team& team, matrix mine, matrix transposed) {
  const examples::transposition how{
      .ranks = team.size(), .planes = 1, .rows = mine.extent(0), .columns = transposed.extent(0)};
  co_await examples::transpose(team, how, mine.data(), transposed.data());
}

std::size_t count_wrong(const muster::team& team, const matrix& transposed) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < transposed.extent(0); ++i) {
    for (std::size_t j = 0; j < transposed.extent(1); ++j) {
      const std::size_t column = team.rank() * transposed.extent(0) + i;
      if (transposed(i, j) != entry(j, column)) ++wrong;
    }
  }
  return wrong;
}

muster::task<> program(muster::team& team, std::size_t rows, std::size_t columns) {
  if (rows % team.size() != 0 || columns % team.size() != 0) {
    throw std::invalid_argument(
        "transpose: expected rows and columns to be multiples of the number of ranks");
  }
  const matrix mine("mine", rows / team.size(), columns);
  const matrix transposed("transposed", columns / team.size(), rows);
  for (std::size_t i = 0; i < mine.extent(0); ++i) {
    for (std::size_t j = 0; j < columns; ++j) {
      mine(i, j) = entry(team.rank() * mine.extent(0) + i, j);
    }
  }
  co_await transpose(team, mine, transposed);
  const std::size_t wrong =
      co_await muster::allreduce(team, count_wrong(team, transposed), muster::sum);
  if (team.rank() == 0) {
    std::printf("%zu x %zu on %zu ranks: %zu entries wrong\n", rows, columns, team.size(), wrong);
  }
}

}  // namespace

int main(int count, char** words) try {
  const Kokkos::ScopeGuard kokkos(count, words);
  const auto number = [&](int at, std::size_t otherwise) {
    return count > at ? std::strtoull(words[at], nullptr, 10) : otherwise;
  };
  muster::world world;
  world.run(program(world.team(), number(1, 240), number(2, 480)));
} catch (const std::exception& why) {
  std::fprintf(stderr, "%s\n", why.what());
  return 1;
}
