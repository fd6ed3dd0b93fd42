/// Pipelined conjugate gradients: the two dot products of a step are in flight while the matrix is
/// applied. (Ghysels and Vanroose, Hiding global synchronization latency in the preconditioned
/// Conjugate Gradient algorithm, Parallel Computing 40, 2014, algorithm 3 without preconditioner.)
///
///     muster run -n 4 conjugate_gradient [SIDE]
///
/// Solves Poisson's equation on a square grid of SIDE * SIDE points, zero on its edge. A rank has
/// some of its rows.

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <stdexcept>
#include <string>

#include <muster/kokkos.hpp>
#include <muster/muster.hpp>

namespace {

using host = Kokkos::DefaultHostExecutionSpace;
using rows = Kokkos::RangePolicy<host, Kokkos::IndexType<std::size_t>>;
/// A rank's rows of a vector, with one row of each neighbour around them.
using vector = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;

/// What a rank has of the grid.
struct part {
  muster::team& team;
  std::size_t side;
  std::size_t first = side * team.rank() / team.size();
  std::size_t count = side * (team.rank() + 1) / team.size() - first;

  vector make(const std::string& name) const { return vector(name, count + 2, side + 2); }
};

/// Brings the rows of the neighbours around a rank's own.
muster::task<> exchange_edges(const part& on, vector of) {
  constexpr int upwards = 0;
  constexpr int downwards = 1;
  const auto row = [&of](std::size_t i) { return Kokkos::subview(of, i, Kokkos::ALL); };
  const std::size_t above = on.team.rank() - 1;
  const std::size_t below = on.team.rank() + 1;
  muster::scope messages(on.team.engine());
  if (on.team.rank() > 0) {
    messages.spawn(muster::kokkos::send(on.team, above, upwards, row(1)));
    messages.spawn(muster::kokkos::receive(on.team, above, downwards, row(0)));
  }
  if (below < on.team.size()) {
    messages.spawn(muster::kokkos::send(on.team, below, downwards, row(on.count)));
    messages.spawn(muster::kokkos::receive(on.team, below, upwards, row(on.count + 1)));
  }
  co_await messages.join();
}

/// to = A of, where A is the negative Laplacian.
muster::task<> apply(const part& on, vector of, vector to) {
  co_await exchange_edges(on, of);
  const std::size_t side = on.side;
  Kokkos::parallel_for(
      "laplacian", rows(1, on.count + 1), KOKKOS_LAMBDA(std::size_t i) {
        for (std::size_t j = 1; j <= side; ++j) {
          to(i, j) = 4 * of(i, j) - of(i - 1, j) - of(i + 1, j) - of(i, j - 1) - of(i, j + 1);
        }
      });
  Kokkos::fence();
}

/// This rank's part of a dot product.
double dot(const part& on, vector x, vector y) {
  const std::size_t side = on.side;
  double mine = 0;
  Kokkos::parallel_reduce(
      "dot", rows(1, on.count + 1),
      KOKKOS_LAMBDA(std::size_t i, double& sum) {
        for (std::size_t j = 1; j <= side; ++j) sum += x(i, j) * y(i, j);
      },
      mine);
  return mine;
}

/// to = x + factor * to
void add_to_scaled(const part& on, vector to, double factor, vector x) {
  const std::size_t side = on.side;
  Kokkos::parallel_for(
      "scale and add", rows(1, on.count + 1), KOKKOS_LAMBDA(std::size_t i) {
        for (std::size_t j = 1; j <= side; ++j) to(i, j) = x(i, j) + factor * to(i, j);
      });
  Kokkos::fence();
}

/// to += factor * x
void add_scaled(const part& on, vector to, double factor, vector x) {
  const std::size_t side = on.side;
  Kokkos::parallel_for(
      "add scaled", rows(1, on.count + 1), KOKKOS_LAMBDA(std::size_t i) {
        for (std::size_t j = 1; j <= side; ++j) to(i, j) += factor * x(i, j);
      });
  Kokkos::fence();
}

/// Solves A x = b from x = 0, until the residual is `precision` times that of the beginning.
/// \return how many steps it took
muster::task<int> solve(const part& on, vector b, vector x, double precision) {
  const vector r = on.make("r");  // the residual
  const vector w = on.make("A r");
  const vector q = on.make("A A r");
  const vector p = on.make("p");  // the direction
  const vector s = on.make("A p");
  const vector z = on.make("A A p");
  Kokkos::deep_copy(r, b);
  co_await apply(on, r, w);
  double gamma_before = 0;
  double alpha = 0;
  double enough = 0;
  for (int step = 0;; ++step) {
    auto r_r = muster::start(muster::allreduce(on.team, dot(on, r, r), muster::sum));
    auto w_r = muster::start(muster::allreduce(on.team, dot(on, w, r), muster::sum));
    co_await apply(on, w, q);  // meanwhile
    const double gamma = co_await r_r;
    const double delta = co_await w_r;
    if (step == 0) enough = precision * precision * gamma;
    if (gamma <= enough) co_return step;

    double beta = 0;
    if (step == 0) {
      alpha = gamma / delta;
    } else {
      beta = gamma / gamma_before;
      alpha = gamma / (delta - beta * gamma / alpha);
    }
    gamma_before = gamma;
    add_to_scaled(on, z, beta, q);
    add_to_scaled(on, s, beta, w);
    add_to_scaled(on, p, beta, r);
    add_scaled(on, x, alpha, p);
    add_scaled(on, r, -alpha, s);
    add_scaled(on, w, -alpha, z);
  }
}

muster::task<> program(muster::team& team, std::size_t side) {
  if (side < team.size()) {
    throw std::invalid_argument("conjugate_gradient: expected SIDE to be at least " +
                                std::to_string(team.size()) + ", a row for each rank");
  }
  const part on{team, side};
  const vector expected = on.make("expected");
  const vector b = on.make("b");
  const vector x = on.make("x");
  for (std::size_t i = 1; i <= on.count; ++i) {
    for (std::size_t j = 1; j <= side; ++j) {
      const auto row = static_cast<double>(on.first + i);
      expected(i, j) = std::sin(row * row + 7 * static_cast<double>(j));
    }
  }
  co_await apply(on, expected, b);
  const int steps = co_await solve(on, b, x, 1e-10);
  add_scaled(on, x, -1, expected);
  const double error =
      std::sqrt(co_await muster::allreduce(team, dot(on, x, x), muster::sum)) /
      std::sqrt(co_await muster::allreduce(team, dot(on, expected, expected), muster::sum));
  if (team.rank() == 0) {
    std::printf("%zu x %zu points on %zu ranks: %d steps, %s\n", side, side, team.size(), steps,
                error < 1e-8 ? "solved" : "not solved");
  }
}

}  // namespace

int main(int count, char** words) try {
  const Kokkos::ScopeGuard kokkos(count, words);
  const std::size_t side = count > 1 ? std::strtoull(words[1], nullptr, 10) : 100;
  muster::world world;
  world.run(program(world.team(), side));
} catch (const std::exception& why) {
  std::fprintf(stderr, "%s\n", why.what());
  return 1;
}
