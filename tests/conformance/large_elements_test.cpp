// Reductions of the user's own whose elements are larger than a cache line, than a short stage,
// than a segment: none may be cut, and ranks must be combined in their order wherever they are.

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "algos/catalog.hpp"
#include "tools/conformance/build.hpp"
#include "tools/conformance/findings.hpp"
#include "tools/conformance/random.hpp"
#include "tools/conformance/sweep.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

/// Maps x -> scale x + offset modulo 2^32, of 8 bytes each; joined, one is done after the other.
template <std::size_t Maps>
struct maps {
  std::array<std::array<std::uint32_t, 2>, Maps> each;

  friend bool operator==(const maps&, const maps&) = default;
};

template <std::size_t Maps>
maps<Maps> joined(const maps<Maps>& first, const maps<Maps>& second) {
  maps<Maps> result;
  for (std::size_t i = 0; i < Maps; ++i) {
    const auto& [scale, offset] = second.each[i];
    result.each[i] = {first.each[i][0] * scale, first.each[i][1] * scale + offset};
  }
  return result;
}

constexpr std::size_t most_ranks = 8;

/// What a rank contributes.
template <class T>
std::vector<T> contribution_of(std::size_t rank, std::size_t count) {
  random_stream random(derive(run_seed(), rank));
  std::vector<T> result(count);
  for (T& element : result) {
    for (auto& map : element.each) {
      const std::uint64_t bits = random.next();
      map = {static_cast<std::uint32_t>(bits), static_cast<std::uint32_t>(bits >> 32)};
    }
  }
  return result;
}

struct trial {
  const algorithm& row;
  std::size_t count;  // of the vector, or of about one block
  bool in_place;
};

/// One rank's part of a reduction of `T`.
template <class T>
class reducing {
public:
  /// \param all what each rank contributes, and more
  reducing(team& of, const trial& what, const std::vector<std::vector<T>>& all)
      : of_(of), what_(what), all_(all), root_(of.size() - 1) {
    for (std::size_t i = 0; i < of.size(); ++i) {
      counts_.push_back(varying() ? what.count * (i % 3) : what.count);
    }
    displacements_.resize(of.size());
    std::exclusive_scan(counts_.begin(), counts_.end(), displacements_.begin(), std::size_t{0});
    layout_ = {counts_, displacements_};
    const std::vector<T>& mine = all[of.rank()];
    send_.assign(mine.begin(), mine.begin() + static_cast<std::ptrdiff_t>(given()));
    receive_ = what.in_place ? send_ : std::vector<T>(counts_[of.rank()]);
    before_ = receive_;
    fill_call();
  }

  bool suits() const { return what_.row.suits(of_.shape(), of_.machine(), call_); }

  void run(findings& found) {
    of_.choose(call_.what, what_.row.id);
    start(perform(of_, call_)).wait();
    std::vector<T> should_be = before_;
    const std::vector<T> result = expected();
    std::ranges::copy(result, should_be.begin());
    // What lies behind the result of a reduce-scatter in place is left to the algorithm.
    if (call_.is_reduce_scatter()) {
      should_be.resize(result.size());
      receive_.resize(result.size());
    }
    if (receive_ != should_be) {
      found.add("rank " + std::to_string(of_.rank()) + ", " + std::string(what_.row.id) + " of " +
                std::to_string(what_.count) + ": a wrong result");
    }
  }

private:
  bool varying() const { return what_.row.what == collective::reduce_scatter; }
  std::size_t given() const {
    const bool blocks = varying() || what_.row.what == collective::reduce_scatter_block;
    return blocks ? std::accumulate(counts_.begin(), counts_.end(), std::size_t{0}) : counts_[0];
  }

  void fill_call() {
    call_.what = what_.row.what;
    call_.type = datatype::custom;
    call_.op = reduction::custom;
    call_.custom = &join;
    call_.root = has_root(call_.what) ? root_ : 0;
    call_.count = counts_[of_.rank()];
    if (varying()) call_.send_blocks = &layout_;
    call_.send = what_.in_place ? nullptr : reinterpret_cast<const std::byte*>(send_.data());
    call_.receive = reinterpret_cast<std::byte*>(receive_.data());
  }

  /// The ranks up to which contributions are combined; the elements of them that come here.
  std::vector<T> expected() const {
    using enum collective;
    const std::size_t rank = of_.rank();
    std::size_t ranks = of_.size();
    if (call_.what == scan) ranks = rank + 1;
    if (call_.what == exscan) ranks = rank;
    if (ranks == 0 || !call_.receives(rank)) return {};
    const std::size_t from = call_.is_reduce_scatter() ? displacements_[rank] : 0;
    std::vector<T> result;
    for (std::size_t i = 0; i < ranks; ++i) {
      for (std::size_t k = 0; k < call_.count; ++k) {
        const T& next = all_[i][from + k];
        if (i == 0) {
          result.push_back(next);
        } else {
          result[k] = joined(result[k], next);
        }
      }
    }
    return result;
  }

  static inline const auto join =
      make_reduction<T>([](const T& first, const T& second) { return joined(first, second); });

  team& of_;
  trial what_;
  const std::vector<std::vector<T>>& all_;
  std::size_t root_;
  std::vector<std::size_t> counts_;
  std::vector<std::size_t> displacements_;
  block_layout layout_;
  std::vector<T> send_;
  std::vector<T> receive_;
  std::vector<T> before_;
  arguments call_;
};

template <class T>
void try_row(team& of, const algorithm& row, std::span<const std::size_t> counts,
             const std::vector<std::vector<T>>& all, findings& found) {
  for (const std::size_t count : counts) {
    for (const bool in_place : {false, true}) {
      reducing<T> one(of, {row, count, in_place}, all);
      if (one.suits()) one.run(found);
    }
  }
}

template <class T>
void check_all_rows(std::span<const std::size_t> counts) {
  constexpr std::size_t many[] = {1, 3, most_ranks};
  constexpr std::size_t few[] = {3};
  std::vector<std::vector<T>> all;
  for (std::size_t i = 0; i < most_ranks; ++i) {
    all.push_back(contribution_of<T>(i, 2 * counts.back() * most_ranks));
  }
  const auto ranks = sanitized ? std::span<const std::size_t>(few) : many;
  for (const world_case& world : worlds_in_turn(ranks, run_seed() + sizeof(T) / 8)) {
    const watchdog alive(describe(world));
    findings found;
    run_threads(
        world.ranks,
        [&](team& of) {
          for (const algorithm& row : tested_rows()) {
            if (has_op(row.what)) try_row<T>(of, row, counts, all, found);
          }
        },
        options_for(world));
    const std::string wrong = found.take();
    CHECK_MESSAGE(wrong.empty(), describe(world), "; ", how_to_replay(), "\n", wrong);
  }
}

TEST_CASE("elements of 24 bytes, of which no line holds a whole number") {
  check_all_rows<maps<3>>(std::array<std::size_t, 5>{0, 1, 7, 500, 13000});
}

TEST_CASE("elements of 5000 bytes, of which few fit into a segment") {
  check_all_rows<maps<625>>(std::array<std::size_t, 3>{1, 5, 60});
}

TEST_CASE("elements of 100008 bytes, of which no segment holds a multiple that ends with a line") {
  check_all_rows<maps<12501>>(std::array<std::size_t, 2>{1, 3});
}

}  // namespace
}  // namespace muster::testing
