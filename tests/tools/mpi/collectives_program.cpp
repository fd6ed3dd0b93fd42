// Every collective, in every form, against plain references: first each alone, then random cases of
// a seed that may be given. With `alone`, without what the MPIs themselves get wrong.

#include <algorithm>
#include <cstddef>
#include <vector>

#include <muster/base/random.hpp>

#include "tests/tools/mpi/job.hpp"
#include "tests/tools/mpi/movement.hpp"
#include "tests/tools/mpi/operands.hpp"
#include "tests/tools/mpi/reduction.hpp"
#include "tests/tools/mpi/shapes.hpp"

namespace {

using namespace muster::testing;
using muster::random_stream;

constexpr std::size_t most_bytes = std::size_t{1} << 20;  // in a buffer

/// What cases are drawn from.
class program {
public:
  explicit program(job& mine) : job_(mine), chance_(mine.seed()) {
    if (!alone_) forms_.push_back(form::persistent);
  }

  void run() {
    check_barriers();
    for (const movement what : all_movements) check_alone(what);
    for (const shape& one : predefined_shapes_) check_type(one);
    for (const shape& one : doubles_.all()) check_shape(one);
    for (const reduction what : all_reductions) check_alone(what);
    for (const operands& one : predefined_) check_operands(one);
    for (const operands& one : own_.all()) check_own(one);
    for (int i = 0; i < 400; ++i) check_random();
  }

private:
  void check_barriers() {
    job_.now("barrier");
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    complete(request, true);
    MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &request);
    for (int i = 0; i < 3; ++i) {
      MPI_Start(&request);
      complete(request, false);
    }
    MPI_Request_free(&request);
  }

  std::vector<bool> places(bool has_in_place) const {
    return has_in_place ? std::vector{false, true} : std::vector{false};
  }
  std::size_t roots(bool rooted) const { return rooted ? ranks() : 1; }
  std::size_t ranks() const { return static_cast<std::size_t>(job_.size()); }
  form any_form() { return forms_[chance_.below(forms_.size())]; }
  bool coin() { return chance_.one_in(2); }
  bool large() { return has_large_counts && coin(); }

  /// Every root, form and place, with no data and with little; then with more and more data.
  void check_alone(movement what) {
    const shape& one = bytes_.all().front();
    for (const form how : forms_) {
      for (const bool in_place : places(has_in_place(what))) {
        for (std::size_t root = 0; root < roots(has_root(what)); ++root) {
          const std::size_t elements = chance_.one_in(5) ? 0 : common_elements * (root + 1);
          check(what, how, in_place, root, one, one, elements);
        }
      }
    }
    for (const std::size_t bytes : {1000, 40000, 300000, 1 << 20}) {
      const form how = any_form();
      const std::size_t elements = bytes / ranks() / common_elements * common_elements;
      check(what, how, has_in_place(what) && coin(), chance_.below(roots(has_root(what))), one, one,
            elements);
    }
  }

  void check_type(const shape& one) {
    const movement what = all_movements[chance_.below(std::size(all_movements))];
    const form how = any_form();
    check(what, how, has_in_place(what) && coin(), chance_.below(ranks()), one, one,
          common_elements * chance_.below(40));
  }

  void check_shape(const shape& one) {
    for (const movement what : all_movements) {
      check(what, any_form(), false, chance_.below(ranks()), one, one,
            common_elements * (1 + chance_.below(20)));
    }
  }

  void check(movement what, form how, bool in_place, std::size_t root, const shape& sent,
             const shape& received, std::size_t elements) {
    if (alone_ && !(sent.goes_forward() && received.goes_forward())) return;
    // Open MPI 4.1 mixes up what a nonblocking exchange in place sends and receives.
    if (alone_ && how == form::nonblocking && what >= movement::alltoall) in_place = false;
    check_movement(job_, MPI_COMM_WORLD,
                   {.what = what,
                    .how = how,
                    .large = large(),
                    .in_place = in_place,
                    .tests = coin(),
                    .frees_types = how != form::blocking && !alone_ && coin(),
                    .root = static_cast<int>(root),
                    .sent = &sent,
                    .received = &received,
                    .elements = elements,
                    .seed = chance_.next()});
  }

  void check_alone(reduction what) {
    const operands& sums = *std::ranges::find(predefined_, "MPI_SUM of MPI_INT", &operands::name);
    for (const form how : forms_) {
      for (const bool in_place : {false, true}) {
        for (std::size_t root = 0; root < roots(what == reduction::reduce); ++root) {
          check(what, how, in_place, root, sums, chance_.one_in(5) ? 0 : 1 + 7 * root);
        }
      }
    }
    for (const std::size_t count : {100, 3000, 60000, 1 << 18}) {
      const bool spreads =
          what == reduction::reduce_scatter || what == reduction::reduce_scatter_block;
      check(what, any_form(), coin(), chance_.below(ranks()), sums,
            spreads ? count / ranks() : count);
    }
  }

  void check_operands(const operands& one) {
    check(reduction::allreduce, form::blocking, coin(), 0, one, 1 + chance_.below(40));
    check_somehow(one, 1 + chance_.below(40));
  }

  void check_own(const operands& one) {
    for (const reduction what : all_reductions) {
      for (const form how : forms_) {
        check(what, how, coin(), chance_.below(ranks()), one, chance_.below(40));
        check(what, how, coin(), chance_.below(ranks()), one, chance_.below(3000));
      }
    }
  }

  void check_somehow(const operands& one, std::size_t count) {
    check(all_reductions[chance_.below(std::size(all_reductions))], any_form(), coin(),
          chance_.below(ranks()), one, count);
  }

  void check(reduction what, form how, bool in_place, std::size_t root, const operands& of,
             std::size_t count) {
    // Open MPI 4.1 takes MPI_Offset for unsigned; MPICH 4.0 may crash in MPI_Reduce in place.
    if (alone_ && (of.type == MPI_OFFSET || (in_place && what == reduction::reduce))) return;
    // Where a thread drives Muster, some go to MPICH.
    if (job_.has("thread") && in_place && what == reduction::reduce) return;
    // Both write beyond the buffers of MPI_Reduce_scatter_block on such elements, MPICH 4.0 also of
    // MPI_Reduce_scatter.
    const bool scatters =
        what == reduction::reduce_scatter_block || what == reduction::reduce_scatter;
    const bool may_be_theirs = alone_ || job_.has("thread");
    if (may_be_theirs && of.name.ends_with("gaps") && scatters) return;
    check_reduction(job_, MPI_COMM_WORLD,
                    {.what = what,
                     .how = how,
                     .large = large(),
                     .in_place = in_place,
                     .tests = coin(),
                     .for_mpi = of.name.ends_with("gaps"),
                     .root = static_cast<int>(root),
                     .of = &of,
                     .count = count,
                     .seed = chance_.next()});
  }

  void check_random() {
    const std::size_t scale = std::size_t{1} << chance_.below(12);
    if (chance_.one_in(3)) {
      const auto& from = chance_.one_in(4) ? own_.all() : predefined_;
      check_somehow(from[chance_.below(from.size())], chance_.below(scale + 1));
      return;
    }
    const movement what = all_movements[chance_.below(std::size(all_movements))];
    const bool in_place = has_in_place(what) && chance_.one_in(4);
    const auto& family = coin() ? bytes_.all() : doubles_.all();
    const shape& sent = family[chance_.below(family.size())];
    // Open MPI 4.1 writes beyond the buffers of MPI_Alltoall where both types are derived.
    const bool alike = in_place || alone_;
    const shape& received = alike ? sent : family[chance_.below(family.size())];
    const std::size_t elements =
        chance_.below(std::min(scale, most_bytes / 8 / ranks()) + 1) * common_elements;
    check(what, any_form(), in_place, chance_.below(ranks()), sent, received, elements);
  }

  job& job_;
  bool alone_ = job_.has("alone");
  random_stream chance_;
  std::vector<form> forms_{form::blocking, form::nonblocking};
  shape_family bytes_{"MPI_UINT8_T", MPI_UINT8_T, 1};
  shape_family doubles_{"MPI_DOUBLE", MPI_DOUBLE, 8};
  std::vector<shape> predefined_shapes_ = predefined_shapes();
  std::vector<operands> predefined_ = predefined_operands();
  own_operands own_;
};

}  // namespace

int main(int argc, char** argv) {
  job mine(argc, argv);
  program(mine).run();
  return mine.finish();
}
