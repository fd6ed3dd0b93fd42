#include "tests/tools/mpi/reduction.hpp"

#include <algorithm>
#include <numeric>
#include <sstream>
#include <vector>

#include <muster/base/random.hpp>

#include "tests/tools/mpi/accelerator.hpp"

namespace muster::testing {
namespace {

using enum reduction;

const char* name_of(reduction what) {
  static constexpr const char* names[] = {"reduce",         "allreduce", "reduce_scatter_block",
                                          "reduce_scatter", "scan",      "exscan"};
  return names[static_cast<std::size_t>(what)];
}

/// Elements with guards around, which also stand wherever nothing has been written.
class vector {
public:
  vector(const operands& of, std::size_t count)
      : extent_(of.extent), count_(count), bytes_(count * of.extent + 2 * margin) {
    clear();
  }

  void clear() { std::ranges::fill(bytes_, guard); }
  std::size_t count() const { return count_; }
  unsigned char* at(std::size_t i) { return bytes_.data() + margin + i * extent_; }
  /// All of it, and where MPI finds the elements.
  std::vector<unsigned char>& bytes() { return bytes_; }
  void* place(const far_copy& of) { return of.place(bytes_.data(), margin); }
  bool guards_stand() const {
    const auto is_guard = [](unsigned char byte) { return byte == guard; };
    return std::all_of(bytes_.begin(), bytes_.begin() + margin, is_guard) &&
           std::all_of(bytes_.end() - margin, bytes_.end(), is_guard);
  }
  bool operator==(const vector& other) const { return bytes_ == other.bytes_; }

private:
  static constexpr std::ptrdiff_t margin = 64;
  static constexpr unsigned char guard = 0xa5;

  std::size_t extent_;
  std::size_t count_;
  std::vector<unsigned char> bytes_;
};

class checked_reduction {
public:
  checked_reduction(job& of, MPI_Comm on, const reduction_case& what)
      : job_(of),
        on_(on),
        what_(what),
        rank_(rank_in(on)),
        size_(size_in(on)),
        counts_(counts()),
        all_(std::accumulate(counts_.begin(), counts_.end(), std::size_t{0})),
        send_(*what.of, contributed()),
        sent_(*what.of, contributed()),
        receive_(*what.of, in_place() ? contributed() : results()),
        far_send_(send_.bytes().size(), !what.for_mpi),
        far_receive_(receive_.bytes().size(), !what.for_mpi) {}

  template <class Count>
  void call() {
    using mpi = functions<Count>;
    turns by{.how = what_.how,
             .tests = what_.tests,
             .prepare = [this](int round) { prepare(round); },
             .meanwhile = [] {},
             .verify = [this](int round) { verify(round); }};
    const std::vector<Count> counts(counts_.begin(), counts_.end());
    const auto count = static_cast<Count>(what_.count);
    const void* from = in_place() ? MPI_IN_PLACE : send_.place(far_send_);
    void* to = receive_.place(far_receive_);
    const MPI_Datatype type = what_.of->type;
    const MPI_Op op = what_.of->op;
    switch (what_.what) {
      case reduce:
        return carry_out(by, mpi::reduce, from, to, count, type, op, what_.root, on_);
      case allreduce:
        return carry_out(by, mpi::allreduce, from, to, count, type, op, on_);
      case reduce_scatter_block:
        return carry_out(by, mpi::reduce_scatter_block, from, to, count, type, op, on_);
      case reduce_scatter:
        return carry_out(by, mpi::reduce_scatter, from, to, counts.data(), type, op, on_);
      case scan:
        return carry_out(by, mpi::scan, from, to, count, type, op, on_);
      case exscan:
        return carry_out(by, mpi::exscan, from, to, count, type, op, on_);
    }
  }

private:
  static std::size_t rank_in(MPI_Comm on) {
    int rank = 0;
    MPI_Comm_rank(on, &rank);
    return static_cast<std::size_t>(rank);
  }
  static std::size_t size_in(MPI_Comm on) {
    int size = 0;
    MPI_Comm_size(on, &size);
    return static_cast<std::size_t>(size);
  }

  bool scatters() const {
    return what_.what == reduce_scatter || what_.what == reduce_scatter_block;
  }
  bool is_root() const { return rank_ == static_cast<std::size_t>(what_.root); }
  bool in_place() const { return what_.in_place && (what_.what != reduce || is_root()); }

  /// Elements of each rank's result, where they are spread.
  std::vector<std::size_t> counts() const {
    std::vector<std::size_t> all(size_, what_.count);
    if (what_.what != reduce_scatter) return all;
    random_stream chance(what_.seed);
    for (std::size_t& one : all) one = chance.one_in(4) ? 0 : chance.below(what_.count + 1);
    return all;
  }
  std::size_t contributed() const { return scatters() ? all_ : what_.count; }
  std::size_t results() const {
    if (what_.what == reduce && !is_root()) return 0;
    return counts_[rank_];
  }

  std::uint64_t key(std::size_t rank, std::size_t i, int round) const {
    return mix_bits(mix_bits(what_.seed + static_cast<std::uint64_t>(round)) + rank * 1'000'003 +
                    i);
  }

  void prepare(int round) {
    send_.clear();
    receive_.clear();
    vector& into = in_place() ? receive_ : send_;
    for (std::size_t i = 0; i < into.count(); ++i) {
      what_.of->contribute(into.at(i), key(rank_, i, round));
    }
    sent_ = send_;
    far_send_.upload(send_.bytes().data());
    far_receive_.upload(receive_.bytes().data());
  }

  void verify(int round) {
    far_send_.download(send_.bytes().data());
    far_receive_.download(receive_.bytes().data());
    job_.check(send_ == sent_, "what was sent has changed");
    job_.check(receive_.guards_stand(), "bytes around what is received have changed");
    const bool is_first = what_.what == exscan && rank_ == 0;  // whose result is undefined
    if (is_first) return;
    std::size_t first = 0;
    if (scatters()) {
      first = std::accumulate(counts_.begin(), counts_.begin() + static_cast<std::ptrdiff_t>(rank_),
                              std::size_t{0});
    }
    const std::size_t step = results() > 4096 ? 41 : 1;
    for (std::size_t i = 0; i < results(); i += step) {
      if (!verify_element(i, first + i, round)) return;
    }
  }

  bool verify_element(std::size_t i, std::size_t contributed_at, int round) {
    std::size_t last = size_;
    if (what_.what == scan) last = rank_ + 1;
    if (what_.what == exscan) last = rank_;
    what_.of->contribute(expected_.at(0), key(0, contributed_at, round));
    for (std::size_t rank = 1; rank < last; ++rank) {
      what_.of->contribute(other_.at(0), key(rank, contributed_at, round));
      what_.of->combine(expected_.at(0), other_.at(0));
    }
    return job_.check(what_.of->same(receive_.at(i), expected_.at(0)), "element ", i, " is ",
                      what_.of->show(receive_.at(i)), "; expected ",
                      what_.of->show(expected_.at(0)));
  }

  job& job_;
  MPI_Comm on_;
  const reduction_case& what_;
  std::size_t rank_;
  std::size_t size_;
  std::vector<std::size_t> counts_;
  std::size_t all_;
  vector send_;
  vector sent_;
  vector receive_;
  far_copy far_send_;
  far_copy far_receive_;
  vector expected_{*what_.of, 1};
  vector other_{*what_.of, 1};
};

}  // namespace

std::string reduction_case::describe() const {
  std::ostringstream text;
  text << (how == form::nonblocking ? "i" : "") << name_of(what)
       << (how == form::persistent ? "_init" : "") << (large ? "_c" : "")
       << (in_place ? " in place" : "") << " of " << count << ", " << of->name;
  if (what == reduce) text << ", root " << root;
  text << ", case " << seed;
  return text.str();
}

void check_reduction(job& of, MPI_Comm on, const reduction_case& what) {
  of.now(what.describe());
  checked_reduction one(of, on, what);
  if (what.large) {
    one.call<large_count>();
  } else {
    one.call<int>();
  }
}

}  // namespace muster::testing
