// Transposes as NPB's FT does. A field in three dimensions is transformed once; in each turn what
// has become of it is multiplied with phases and transformed back, with its slabs turned from one
// direction into another by an alltoall. The phases move the field by one point in each direction,
// so that its values are known after any number of turns.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <numbers>
#include <utility>
#include <vector>

#include "tests/applications/kernel.hpp"

namespace {

struct complex {
  double re, im;
};

complex operator+(complex a, complex b) { return {a.re + b.re, a.im + b.im}; }
complex operator-(complex a, complex b) { return {a.re - b.re, a.im - b.im}; }
complex operator*(complex a, complex b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}
complex conjugate(complex a) { return {a.re, -a.im}; }

/// exp(-2 pi i k/n) for all k.
std::vector<complex> roots_of_one(std::size_t n) {
  std::vector<complex> roots(n);
  for (std::size_t k = 0; k < n; ++k) {
    const double angle = -2 * std::numbers::pi * static_cast<double>(k) / static_cast<double>(n);
    roots[k] = {std::cos(angle), std::sin(angle)};
  }
  return roots;
}

/// Transforms lines of n points, some at once.
class line_transform {
public:
  static constexpr std::size_t width = 8;  ///< lines at once, whose points lie side by side

  explicit line_transform(std::size_t n)
      : roots_(roots_of_one(n)), lines_(n * width), other_(n * width) {}

  /// Lines whose points are `step` apart, and that are `apart` from each other.
  void run(complex* first, std::size_t step, std::size_t apart, bool back) {
    for (std::size_t i = 0; i < roots_.size(); ++i) {
      for (std::size_t line = 0; line < width; ++line) {
        lines_[i * width + line] = first[i * step + line * apart];
      }
    }
    const complex* const result = transform(back);
    for (std::size_t i = 0; i < roots_.size(); ++i) {
      for (std::size_t line = 0; line < width; ++line) {
        first[i * step + line * apart] = result[i * width + line];
      }
    }
  }

private:
  /// Stockham's, with radix 2: needs no reversal of bits.
  const complex* transform(bool back) {
    complex* from = lines_.data();
    complex* to = other_.data();
    std::size_t stride = width;
    for (std::size_t n = roots_.size(); n > 1; n /= 2, stride *= 2) {
      for (std::size_t p = 0; p < n / 2; ++p) {
        const complex forth = roots_[p * (roots_.size() / n)];
        const complex root = back ? conjugate(forth) : forth;
        const complex* const low = from + stride * p;
        const complex* const high = from + stride * (p + n / 2);
        complex* const even = to + stride * 2 * p;
        complex* const odd = even + stride;
        for (std::size_t q = 0; q < stride; ++q) {
          even[q] = low[q] + high[q];
          odd[q] = (low[q] - high[q]) * root;
        }
      }
      std::swap(from, to);
    }
    return from;
  }

  std::vector<complex> roots_;
  std::vector<complex> lines_;
  std::vector<complex> other_;
};

class field {
public:
  explicit field(kernel::job& job)
      : job_(job),
        nx_(extent(2)),
        ny_(extent(1)),
        nz_(extent(0)),
        own_x_(nx_ / job.ranks()),
        own_z_(nz_ / job.ranks()),
        along_x_(nx_),
        along_y_(ny_),
        along_z_(nz_),
        phases_x_(roots_of_one(nx_)),
        phases_y_(roots_of_one(ny_)),
        phases_z_(roots_of_one(nz_)),
        frequencies_(nx_ * ny_ * own_z_),
        points_(frequencies_.size()),
        received_(frequencies_.size()) {
    constexpr std::size_t least = line_transform::width;
    if (own_x_ == 0 || own_z_ == 0 || std::min({nx_, ny_, nz_}) < least) {
      job.refuse("expected longer blocks");
    }
    fill();
    transform();
  }

  void turn() {
    ++turns_;
    evolve();
    transform_back();
    add_samples();
  }

  /// How many points are not what the first field has where they come from.
  std::size_t wrong() const {
    std::size_t found = 0;
    each_point([&](const complex& point, std::size_t x, std::size_t y, std::size_t z) {
      const complex difference = point - initial(x - turns_, y - turns_, z - turns_);
      // Not `>`: what is not a number is wrong, too.
      found += !(std::hypot(difference.re, difference.im) < 1e-9);
    });
    return found;
  }

  std::uint64_t digest() const {
    std::uint64_t result = kernel::scrambled(job_.rank());
    for (const complex& point : points_) {
      std::uint64_t halves[2];
      std::memcpy(halves, &point, sizeof halves);
      result = kernel::scrambled(kernel::scrambled(result ^ halves[0]) ^ halves[1]);
    }
    return result;
  }

private:
  /// Points in all, cut into three powers of two, the largest first in memory.
  std::size_t extent(std::size_t which) const {
    const std::size_t points = job_.block() * job_.ranks() * job_.ranks() / sizeof(complex);
    const auto bits = static_cast<std::size_t>(std::bit_width(points | 1)) - 1;
    return std::size_t{1} << ((bits + which) / 3);
  }

  complex initial(std::size_t x, std::size_t y, std::size_t z) const {
    // Unsigned numbers wrap around at a multiple of all extents.
    const std::size_t at = ((z % nz_) * ny_ + y % ny_) * nx_ + x % nx_;
    constexpr double most = 1ULL << 52;
    return {static_cast<double>(kernel::scrambled(2 * at) >> 12) / most,
            static_cast<double>(kernel::scrambled(2 * at + 1) >> 12) / most};
  }

  /// All points of this rank's slab, with their places in the whole.
  template <class Visit>
  void each_point(Visit visit) const {
    const complex* point = points_.data();
    for (std::size_t z = 0; z < own_z_; ++z) {
      for (std::size_t y = 0; y < ny_; ++y) {
        for (std::size_t x = 0; x < nx_; ++x) visit(*point++, x, y, job_.rank() * own_z_ + z);
      }
    }
  }

  void fill() {
    complex* point = points_.data();
    each_point([&](const complex&, std::size_t x, std::size_t y, std::size_t z) {
      *point++ = initial(x, y, z);
    });
  }

  void transform_slab(bool back) {
    constexpr std::size_t width = line_transform::width;
    for (std::size_t z = 0; z < own_z_; ++z) {
      complex* const plane = points_.data() + z * ny_ * nx_;
      for (std::size_t y = 0; y < ny_; y += width) along_x_.run(plane + y * nx_, 1, nx_, back);
      for (std::size_t x = 0; x < nx_; x += width) along_y_.run(plane + x, nx_, 1, back);
    }
  }

  void transform_columns(std::vector<complex>& columns, bool back) {
    const std::size_t plane = ny_ * own_x_;
    for (std::size_t at = 0; at < plane; at += line_transform::width) {
      along_z_.run(columns.data() + at, plane, 1, back);
    }
  }

  /// Visits the parts of this rank's slab that lie together here and in the blocks of an alltoall.
  template <class Visit>
  void each_part(Visit visit) {
    std::size_t at = 0;
    for (std::size_t other = 0; other < job_.ranks(); ++other) {
      for (std::size_t row = 0; row < own_z_ * ny_; ++row, at += own_x_) {
        visit(points_.data() + row * nx_ + other * own_x_, received_.data() + at);
      }
    }
  }

  void exchange(const std::vector<complex>& from, std::vector<complex>& to) {
    const auto numbers = static_cast<int>(2 * from.size() / job_.ranks());
    job_.collective([&] {
      MPI_Alltoall(from.data(), numbers, MPI_DOUBLE, to.data(), numbers, MPI_DOUBLE,
                   MPI_COMM_WORLD);
    });
  }

  /// From points, in slabs of some z, to frequencies, in columns of some x.
  void transform() {
    transform_slab(false);
    each_part([&](const complex* slab, complex* block) { std::copy_n(slab, own_x_, block); });
    exchange(received_, frequencies_);
    transform_columns(frequencies_, false);
    const double all = static_cast<double>(nx_) * static_cast<double>(ny_ * nz_);
    for (complex& one : frequencies_) one = {one.re / all, one.im / all};
  }

  void evolve() {
    complex* at = frequencies_.data();
    const complex* const own_phases = phases_x_.data() + job_.rank() * own_x_;
    for (std::size_t z = 0; z < nz_; ++z) {
      for (std::size_t y = 0; y < ny_; ++y) {
        const complex phase = phases_z_[z] * phases_y_[y];
        for (std::size_t x = 0; x < own_x_; ++x, ++at) *at = *at * (phase * own_phases[x]);
      }
    }
  }

  void transform_back() {
    points_ = frequencies_;
    transform_columns(points_, true);
    exchange(points_, received_);
    each_part([&](complex* slab, const complex* block) { std::copy_n(block, own_x_, slab); });
    transform_slab(true);
  }

  /// As FT does in each iteration.
  void add_samples() {
    complex own{}, all{};
    constexpr std::size_t samples = 1024;
    for (std::size_t i = 0; i < samples; ++i) {
      const std::size_t x = i % nx_, y = 3 * i % ny_, z = 5 * i % nz_;
      if (z / own_z_ == job_.rank()) own = own + points_[((z % own_z_) * ny_ + y) * nx_ + x];
    }
    job_.collective([&] { MPI_Allreduce(&own, &all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); });
  }

  kernel::job& job_;
  std::size_t nx_, ny_, nz_;
  std::size_t own_x_, own_z_;
  line_transform along_x_, along_y_, along_z_;
  std::vector<complex> phases_x_, phases_y_, phases_z_;
  std::vector<complex> frequencies_;  ///< [z][y][own x]
  std::vector<complex> points_;       ///< [own z][y][x]
  std::vector<complex> received_;     ///< of an alltoall, [rank][…]
  std::size_t turns_ = 0;
};

}  // namespace

int main(int argc, char** argv) {
  kernel::job job(argc, argv, "transpose");
  field all(job);
  all.turn();  // untimed, as FT's first
  job.begin();
  for (int i = 0; i < job.turns(); ++i) all.turn();
  job.end();
  return job.report(all.digest(), all.wrong());
}
