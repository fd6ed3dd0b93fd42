/// A Fourier transform in three dimensions, of pencils: each rank has lines along one axis, of
/// which two transpositions make lines along the next. While a part of the lines travels, the next
/// one is transformed. Beside it the same with MPI_Alltoall, where there is a part at a time.
///
///     mpirun -n 4 pencil_fft [SIDE [SLABS [ROUNDS]]]
///
/// SIDE is a multiple of both sides of the grid of ranks. The result is compared with a transform
/// of the whole by one process.

#include <fftw3.h>
#include <mpi.h>
#include <Kokkos_Core.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <memory>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <muster/muster.hpp>

#include "tests/examples/kokkos/transposition.hpp"
#include "tools/report/statistics.hpp"

namespace {

using clock = std::chrono::steady_clock;
using milliseconds = std::chrono::duration<double, std::milli>;
using examples::transposition;
using number = Kokkos::complex<double>;
using numbers = Kokkos::View<number*, Kokkos::HostSpace>;

fftw_complex* raw(number* at) { return reinterpret_cast<fftw_complex*>(at); }

/// Transforms the lines of a plane, which follow each other, in place.
class plane_transform {
public:
  plane_transform(std::size_t length, std::size_t lines, number* sample) {
    const int n = static_cast<int>(length);
    plan_ =
        fftw_plan_many_dft(1, &n, static_cast<int>(lines), raw(sample), nullptr, 1, n, raw(sample),
                           nullptr, 1, n, FFTW_FORWARD, FFTW_ESTIMATE | FFTW_UNALIGNED);
    if (plan_ == nullptr) throw std::runtime_error("pencil_fft: FFTW has no plan");
  }
  ~plane_transform() { fftw_destroy_plan(plan_); }
  plane_transform(const plane_transform&) = delete;
  plane_transform& operator=(const plane_transform&) = delete;

  void operator()(number* first) const { fftw_execute_dft(plan_, raw(first), raw(first)); }

private:
  fftw_plan plan_;
};

/// A transposition in slabs of some planes each.
class exchange {
public:
  exchange(const transposition& whole, std::size_t slabs, number* from, number* to)
      : whole_(whole), slabs_(slabs), from_(from), to_(to) {}
  virtual ~exchange() = default;

  std::size_t slabs() const noexcept { return slabs_; }
  std::size_t first_plane(std::size_t slab) const noexcept { return whole_.planes * slab / slabs_; }
  virtual void begin(std::size_t slab) = 0;
  /// Something else is being done meanwhile.
  virtual void look() = 0;
  virtual void end(std::size_t slab) = 0;

protected:
  transposition part(std::size_t slab) const noexcept {
    transposition result = whole_;
    result.planes = first_plane(slab + 1) - first_plane(slab);
    return result;
  }
  number* from(std::size_t slab) const noexcept {
    return from_ + first_plane(slab) * whole_.plane_before;
  }
  number* to(std::size_t slab) const noexcept {
    return to_ + first_plane(slab) * whole_.plane_after;
  }

private:
  transposition whole_;
  std::size_t slabs_;
  number* from_;
  number* to_;
};

/// Several slabs may be under way at once; what has gaps is packed and unpacked on the way.
class muster_exchange final : public exchange {
public:
  muster_exchange(muster::team& among, const transposition& whole, std::size_t slabs, number* from,
                  number* to)
      : exchange(whole, slabs, from, to), team_(among), running_(slabs) {}

  void begin(std::size_t slab) override {
    auto part_of_it = examples::transpose(team_, part(slab), from(slab), to(slab));
    running_[slab] = muster::start(team_.engine(), std::move(part_of_it));
  }
  void look() override {
    const auto running = std::ranges::find_if(running_, &muster::future<>::valid);
    if (running != running_.end()) running->ready();
  }
  void end(std::size_t slab) override { running_[slab].wait(); }

private:
  muster::team& team_;
  std::vector<muster::future<>> running_;
};

/// MPI_Alltoall, and loops that pack and unpack.
class mpi_exchange final : public exchange {
public:
  mpi_exchange(MPI_Comm among, const transposition& whole, std::size_t slabs, number* from,
               number* to)
      : exchange(whole, slabs, from, to), among_(among) {}

  void begin(std::size_t slab) override {
    const transposition how = part(slab);
    const std::size_t block = how.planes * how.rows * how.columns;
    sent_.resize(block * how.ranks);
    received_.resize(block * how.ranks);
    pack(how, from(slab));
    const int doubles = static_cast<int>(2 * block);
    MPI_Alltoall(sent_.data(), doubles, MPI_DOUBLE, received_.data(), doubles, MPI_DOUBLE, among_);
    unpack(how, to(slab));
  }
  void look() override {}
  void end(std::size_t) override {}

private:
  void pack(const transposition& how, const number* from) {
    number* to = sent_.data();
    for (std::size_t q = 0; q < how.ranks; ++q) {
      for (std::size_t p = 0; p < how.planes; ++p) {
        for (std::size_t r = 0; r < how.rows; ++r) {
          const number* const run =
              from + p * how.plane_before + r * how.row_before + q * how.columns;
          to = std::copy_n(run, how.columns, to);
        }
      }
    }
  }
  void unpack(const transposition& how, number* to) const {
    const number* from = received_.data();
    for (std::size_t q = 0; q < how.ranks; ++q) {
      for (std::size_t p = 0; p < how.planes; ++p, from += how.rows * how.columns) {
        for (std::size_t c = 0; c < how.columns; ++c) {
          number* const run = to + p * how.plane_after + c * how.ranks * how.rows + q * how.rows;
          for (std::size_t r = 0; r < how.rows; ++r) run[r] = from[r * how.columns + c];
        }
      }
    }
  }

  MPI_Comm among_;
  std::vector<number> sent_;
  std::vector<number> received_;
};

/// Ranks in rows and columns. A rank's lines along x are those of a part of all y, which a row of
/// ranks shares, and of a part of all z, which a column shares.
struct grid {
  explicit grid(std::size_t ranks, std::size_t rank) : columns(ranks) {
    for (std::size_t side = 1; side * side <= ranks; ++side) {
      if (ranks % side == 0) rows = side;
    }
    columns = ranks / rows;
    row = rank / columns;
    column = rank % columns;
  }

  std::size_t rows = 1;
  std::size_t columns;
  std::size_t row;
  std::size_t column;
};

/// What of the whole a rank has, and where.
struct pencils {
  pencils(const grid& ranks, std::size_t length)
      : side(length),
        ys(length / ranks.columns),
        xs(length / ranks.columns),
        zs(length / ranks.rows),
        later_ys(length / ranks.rows),
        along_x("along x", zs * ys * side),
        along_y("along y", zs * xs * side),
        along_z("along z", xs * later_ys * side) {}

  transposition x_to_y(const grid& ranks) const {
    return {.ranks = ranks.columns, .planes = zs, .rows = ys, .columns = xs};
  }
  transposition y_to_z(const grid& ranks) const {
    return {.ranks = ranks.rows,
            .planes = xs,
            .rows = zs,
            .columns = later_ys,
            .row_before = xs * side,
            .plane_before = side};
  }

  std::size_t side;
  std::size_t ys;
  std::size_t xs;
  std::size_t zs;
  std::size_t later_ys;
  numbers along_x;  // [zs][ys][side]
  numbers along_y;  // [zs][xs][side]
  numbers along_z;  // [xs][later_ys][side]
};

class pencil_transform {
public:
  explicit pencil_transform(pencils& of)
      : of_(of),
        by_x_(of.side, of.ys, of.along_x.data()),
        by_y_(of.side, of.xs, of.along_y.data()),
        by_z_(of.side, of.later_ys, of.along_z.data()) {}

  /// Two slabs are under way at most, so that what travels is still in the cache.
  void run(exchange& x_to_y, exchange& y_to_z) const {
    for (std::size_t s = 0; s <= x_to_y.slabs(); ++s) {
      if (s < x_to_y.slabs()) {
        lines(x_to_y, s, by_x_, of_.along_x.data(), of_.ys);
        x_to_y.begin(s);
      }
      if (s > 0) {
        x_to_y.end(s - 1);
        lines(x_to_y, s - 1, by_y_, of_.along_y.data(), of_.xs);
      }
    }
    for (std::size_t s = 0; s <= y_to_z.slabs(); ++s) {
      if (s < y_to_z.slabs()) y_to_z.begin(s);
      if (s > 0) {
        y_to_z.end(s - 1);
        lines(y_to_z, s - 1, by_z_, of_.along_z.data(), of_.later_ys);
      }
    }
  }

private:
  /// Of a slab's planes.
  void lines(exchange& meanwhile, std::size_t slab, const plane_transform& by, number* first,
             std::size_t lines_of_plane) const {
    for (std::size_t p = meanwhile.first_plane(slab); p < meanwhile.first_plane(slab + 1); ++p) {
      by(first + p * lines_of_plane * of_.side);
      meanwhile.look();
    }
  }

  pencils& of_;
  plane_transform by_x_;
  plane_transform by_y_;
  plane_transform by_z_;
};

number value_at(std::size_t x, std::size_t y, std::size_t z) {
  const auto at = static_cast<double>(x + 31 * y + 1009 * z);
  return {std::sin(at), std::cos(1.7 * at)};
}

void fill(pencils& of, const grid& ranks) {
  for (std::size_t z = 0; z < of.zs; ++z) {
    for (std::size_t y = 0; y < of.ys; ++y) {
      for (std::size_t x = 0; x < of.side; ++x) {
        of.along_x((z * of.ys + y) * of.side + x) =
            value_at(x, ranks.column * of.ys + y, ranks.row * of.zs + z);
      }
    }
  }
}

/// The transform of the whole, by this process alone: [z][y][x].
numbers transform_of_all(std::size_t side) {
  numbers all("all", side * side * side);
  const int n = static_cast<int>(side);
  const fftw_plan plan =
      fftw_plan_dft_3d(n, n, n, raw(all.data()), raw(all.data()), FFTW_FORWARD, FFTW_ESTIMATE);
  for (std::size_t i = 0; i < all.extent(0); ++i) {
    all(i) = value_at(i % side, i / side % side, i / side / side);
  }
  fftw_execute(plan);
  fftw_destroy_plan(plan);
  return all;
}

bool is_right(const pencils& of, const grid& ranks, const numbers& all) {
  const double most = 1e-9 * static_cast<double>(all.extent(0));
  for (std::size_t x = 0; x < of.xs; ++x) {
    for (std::size_t y = 0; y < of.later_ys; ++y) {
      for (std::size_t z = 0; z < of.side; ++z) {
        const std::size_t at =
            (z * of.side + ranks.row * of.later_ys + y) * of.side + ranks.column * of.xs + x;
        const number difference = of.along_z((x * of.later_ys + y) * of.side + z) - all(at);
        if (!(std::abs(difference.real()) + std::abs(difference.imag()) < most)) return false;
      }
    }
  }
  return true;
}

MPI_Comm part_of_all(std::size_t color) {
  MPI_Comm made = MPI_COMM_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, static_cast<int>(color), 0, &made);
  return made;
}

/// One library's transforms: timed, and compared with what is right.
class contestant {
public:
  contestant(muster::team& all, const grid& ranks, pencils& of, std::unique_ptr<exchange> x_to_y,
             std::unique_ptr<exchange> y_to_z)
      : all_(all),
        ranks_(ranks),
        of_(of),
        transform_(of),
        x_to_y_(std::move(x_to_y)),
        y_to_z_(std::move(y_to_z)) {}

  void run(const numbers& expected) {
    fill(of_, ranks_);
    Kokkos::deep_copy(of_.along_z, number(-1, -1));
    muster::start(muster::barrier(all_)).wait();
    const auto begins = clock::now();
    transform_.run(*x_to_y_, *y_to_z_);
    const double mine = milliseconds(clock::now() - begins).count();
    times_.push_back(muster::start(muster::allreduce(all_, mine, muster::max)).wait());
    if (!is_right(of_, ranks_, expected)) throw std::runtime_error("pencil_fft: a wrong result");
  }
  double median() const { return muster::bench::median(times_); }

private:
  muster::team& all_;
  const grid& ranks_;
  pencils& of_;
  pencil_transform transform_;
  std::unique_ptr<exchange> x_to_y_;
  std::unique_ptr<exchange> y_to_z_;
  std::vector<double> times_;
};

void compare(muster::world& world, std::size_t side, std::size_t slabs, std::size_t rounds) {
  muster::team& all = world.team();
  const grid ranks(all.size(), all.rank());
  if (side % ranks.rows != 0 || side % ranks.columns != 0 || slabs == 0) {
    throw std::invalid_argument("pencil_fft: expected SIDE to be a multiple of " +
                                std::to_string(ranks.rows) + " and " +
                                std::to_string(ranks.columns) + ", and at least one slab");
  }
  pencils of(ranks, side);
  const numbers expected = transform_of_all(side);
  const auto row_team =
      world.run(muster::split(all, static_cast<int>(ranks.row), static_cast<int>(ranks.column)));
  const auto column_team =
      world.run(muster::split(all, static_cast<int>(ranks.column), static_cast<int>(ranks.row)));
  MPI_Comm row = part_of_all(ranks.row);
  MPI_Comm column = part_of_all(ranks.column);
  const transposition first = of.x_to_y(ranks);
  const transposition second = of.y_to_z(ranks);
  number* const x = of.along_x.data();
  number* const y = of.along_y.data();
  number* const z = of.along_z.data();

  contestant by_muster(all, ranks, of,
                       std::make_unique<muster_exchange>(*row_team, first, slabs, x, y),
                       std::make_unique<muster_exchange>(*column_team, second, slabs, y, z));
  contestant by_mpi(all, ranks, of, std::make_unique<mpi_exchange>(row, first, slabs, x, y),
                    std::make_unique<mpi_exchange>(column, second, slabs, y, z));
  contestant by_mpi_whole(all, ranks, of, std::make_unique<mpi_exchange>(row, first, 1, x, y),
                          std::make_unique<mpi_exchange>(column, second, 1, y, z));
  for (std::size_t i = 0; i < rounds; ++i) {
    by_muster.run(expected);
    by_mpi.run(expected);
    by_mpi_whole.run(expected);
  }
  MPI_Comm_free(&row);
  MPI_Comm_free(&column);
  if (all.rank() != 0) return;
  std::printf("%zu^3 on %zu x %zu ranks, all right\n", side, ranks.rows, ranks.columns);
  std::printf("  Muster, %zu slabs        %7.2f ms\n", slabs, by_muster.median());
  std::printf("  MPI_Alltoall, %zu slabs  %7.2f ms\n", slabs, by_mpi.median());
  std::printf("  MPI_Alltoall, whole     %7.2f ms\n", by_mpi_whole.median());
}

}  // namespace

int main(int count, char** words) try {
  MPI_Init(&count, &words);
  {
    const Kokkos::ScopeGuard kokkos(count, words);
    const auto number_of = [&](int at, std::size_t otherwise) {
      return count > at ? std::strtoull(words[at], nullptr, 10) : otherwise;
    };
    muster::world world;
    compare(world, number_of(1, 32), number_of(2, 4), number_of(3, 5));
  }
  MPI_Finalize();
} catch (const std::exception& why) {
  std::fprintf(stderr, "%s\n", why.what());
  MPI_Abort(MPI_COMM_WORLD, 1);
}
