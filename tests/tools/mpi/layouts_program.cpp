// What a datatype's layout must not change: whether a call is taken, and what a program's own
// operation is given. And addresses that are absolute.

#include <sys/mman.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tests/tools/mpi/functions.hpp"
#include "tests/tools/mpi/job.hpp"
#include "tests/tools/mpi/shapes.hpp"
#include "tests/tools/mpi/turns.hpp"

namespace {

using namespace muster::testing;
using mpi = functions<int>;

MPI_Datatype committed(MPI_Datatype type) {
  MPI_Type_commit(&type);
  return type;
}

// ---- an operation of the program's own: it adds ints, wherever they lie

/// What the operation expects.
struct expected_call {
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  std::vector<std::ptrdiff_t> places = {};  ///< of ints in an element
  std::ptrdiff_t extent = 0;
  int wrong_handles = 0;
};
expected_call& expected() {
  static expected_call one;
  return one;
}

void add_ints(void* in, void* inout, int* length, MPI_Datatype* type) {
  expected_call& now = expected();
  if (*type != now.handle) ++now.wrong_handles;
  // Sums of addresses, as elements may lie before the first one's.
  const auto from = reinterpret_cast<std::intptr_t>(in);
  const auto to = reinterpret_cast<std::intptr_t>(inout);
  for (int i = 0; i < *length; ++i) {
    for (const std::ptrdiff_t place : now.places) {
      const std::ptrdiff_t at = i * now.extent + place;
      *reinterpret_cast<int*>(to + at) += *reinterpret_cast<const int*>(from + at);
    }
  }
}

class own_operation {
public:
  own_operation() { MPI_Op_create(add_ints, 1, &op_); }
  ~own_operation() { MPI_Op_free(&op_); }
  own_operation(const own_operation&) = delete;
  own_operation& operator=(const own_operation&) = delete;
  MPI_Op get() const { return op_; }

private:
  MPI_Op op_ = MPI_OP_NULL;
};

/// Elements of such a layout, with guards wherever there are no ints.
class operand {
public:
  operand(const expected_call& of, std::size_t count) : of_(of), count_(count) {
    std::ptrdiff_t low = 0;
    std::ptrdiff_t high = 0;
    const auto [least, most] = std::ranges::minmax(of.places);
    for (std::size_t i = 0; i < count; ++i) {
      const std::ptrdiff_t element = static_cast<std::ptrdiff_t>(i) * of.extent;
      low = std::min(low, element + least);
      high = std::max(high, element + most + static_cast<std::ptrdiff_t>(sizeof(int)));
    }
    origin_ = (margin - low) / margin * margin + margin;
    bytes_.assign(static_cast<std::size_t>(origin_ + high + margin), guard);
  }

  void* address() { return bytes_.data() + origin_; }
  /// `value(i, j)` is that of the j-th int of element i.
  template <class Value>
  void fill(Value value) {
    std::ranges::fill(bytes_, guard);
    visit(count_, [&](unsigned char* at, std::size_t i, std::size_t j) {
      const int one = value(i, j);
      std::memcpy(at, &one, sizeof one);
    });
  }
  void clear() { std::ranges::fill(bytes_, guard); }
  /// Whether the first elements are these, and nothing else has been written.
  template <class Value>
  bool holds(std::size_t elements, Value value) {
    operand other(of_, count_);
    other.clear();
    other.visit(elements, [&](unsigned char* at, std::size_t i, std::size_t j) {
      const int one = value(i, j);
      std::memcpy(at, &one, sizeof one);
    });
    return bytes_ == other.bytes_;
  }

private:
  static constexpr std::ptrdiff_t margin = 64;
  static constexpr unsigned char guard = 0xa5;

  template <class Work>
  void visit(std::size_t elements, Work work) {
    for (std::size_t i = 0; i < elements; ++i) {
      for (std::size_t j = 0; j < of_.places.size(); ++j) {
        const auto at = static_cast<std::ptrdiff_t>(i) * of_.extent + of_.places[j];
        work(bytes_.data() + origin_ + at, i, j);
      }
    }
  }

  expected_call of_;
  std::size_t count_;
  std::vector<unsigned char> bytes_;
  std::ptrdiff_t origin_ = 0;
};

int& freed_for_good() {
  static int count = 0;
  return count;
}
int count_freed(MPI_Datatype, int, void*, void*) {
  ++freed_for_good();
  return MPI_SUCCESS;
}

class program {
public:
  explicit program(job& mine) : job_(mine), rank_(mine.rank()), size_(mine.size()) {
    MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, count_freed, &keyval_, nullptr);
  }
  ~program() { MPI_Type_free_keyval(&keyval_); }
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  void run() {
    for (const shape& one : ints_.all()) check_own_operation(one);
    check_all_freed();
    check_constructors();
    check_absolute_addresses();
    check_absolute_types();
  }

private:
  std::vector<form> forms() const {
    if (job_.has("alone")) return {form::blocking};
    return {form::blocking, form::nonblocking, form::persistent};
  }

  static int value(int rank, std::size_t i, std::size_t j) {
    return 1000 * (rank + 1) + 10 * static_cast<int>(i) + static_cast<int>(j);
  }
  /// Of ranks before `last`; the first element is `first` of what they contributed.
  static int sum(int last, std::size_t first, std::size_t i, std::size_t j) {
    int all = 0;
    for (int rank = 0; rank < last; ++rank) all += value(rank, first + i, j);
    return all;
  }

  // ---- the datatype that an operation is given

  void check_own_operation(const shape& of) {
    if (job_.has("alone") && !of.goes_forward()) return;
    expected().places.clear();
    for (const piece& one : of.pieces) expected().places.push_back(one.at);
    expected().extent = of.extent;
    for (const form how : forms()) {
      const std::string name = of.name + ", form " + std::to_string(static_cast<int>(how));
      reduce_all(of.type, how, name, 1, true);
      reduce_all(of.type, how, name, 20, true);
    }
  }

  /// All reductions of elements of a type that `expected` describes.
  /// \param frees whether the type is freed while calls are under way
  void reduce_all(MPI_Datatype type, form how, const std::string& name, int count, bool frees) {
    const auto each = static_cast<std::size_t>(count);
    const auto all = each * static_cast<std::size_t>(size_);
    const int root = size_ - 1;
    const MPI_Op op = own_.get();
    const std::vector<int> counts(static_cast<std::size_t>(size_), count);
    const auto make = [&](const char* what, const auto& forms, std::size_t sent,
                          std::size_t received, std::size_t first, int last, auto call) {
      job_.now(std::string(what) + " of " + std::to_string(count) + ", " + name);
      MPI_Datatype passed = frees ? duplicate(type) : type;
      expected().handle = passed;
      expected().wrong_handles = 0;
      operand send(expected(), sent);
      operand receive(expected(), std::max(received, std::size_t{1}));
      const turns by{
          .how = how,
          .tests = false,
          .prepare =
              [&](int) {
                send.fill([&](auto i, auto j) { return value(rank_, i, j); });
                receive.clear();
              },
          .meanwhile =
              [&] {
                MPI_Datatype handle = passed;
                if (frees) MPI_Type_free(&handle);
              },
          .verify =
              [&](int) {
                job_.check(
                    receive.holds(received, [&](auto i, auto j) { return sum(last, first, i, j); }),
                    "the result is wrong, or what lies between was written");
                job_.check_equal(expected().wrong_handles, 0,
                                 "calls of the operation with another datatype");
              }};
      call(by, forms, send.address(), receive.address(), passed);
    };
    const auto plain = [&](const turns& by, const auto& forms, void* from, void* to,
                           MPI_Datatype passed) {
      carry_out(by, forms, static_cast<const void*>(from), to, count, passed, op, MPI_COMM_WORLD);
    };
    const auto mine = each * static_cast<std::size_t>(rank_);
    make("allreduce", mpi::allreduce, each, each, 0, size_, plain);
    make("scan", mpi::scan, each, each, 0, rank_ + 1, plain);
    make("exscan", mpi::exscan, each, rank_ == 0 ? 0 : each, 0, rank_, plain);
    make("reduce", mpi::reduce, each, rank_ == root ? each : 0, 0, size_,
         [&](const turns& by, const auto& forms, void* from, void* to, MPI_Datatype passed) {
           carry_out(by, forms, static_cast<const void*>(from), to, count, passed, op, root,
                     MPI_COMM_WORLD);
         });
    if (job_.has("alone")) return;  // both MPIs write beyond the buffers of those with gaps
    make("reduce_scatter_block", mpi::reduce_scatter_block, all, each, mine, size_, plain);
    make("reduce_scatter", mpi::reduce_scatter, all, each, mine, size_,
         [&](const turns& by, const auto& forms, void* from, void* to, MPI_Datatype passed) {
           carry_out(by, forms, static_cast<const void*>(from), to, counts.data(), passed, op,
                     MPI_COMM_WORLD);
         });
  }

  /// One that says when it goes for good.
  MPI_Datatype duplicate(MPI_Datatype type) {
    MPI_Datatype own = MPI_DATATYPE_NULL;
    MPI_Type_dup(type, &own);
    MPI_Type_set_attr(own, keyval_, nullptr);
    ++duplicates_;
    return own;
  }

  void check_all_freed() {
    job_.now("types that were freed");
    // What ended last goes with the next call.
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Ibarrier(MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    job_.check_equal(freed_for_good(), duplicates_, "the number of types that are gone");
  }

  // ---- equal type maps, made by different functions

  void check_constructors() {
    const auto unit = static_cast<MPI_Aint>(sizeof(int));
    const auto with = [](auto make) {
      MPI_Datatype made = MPI_DATATYPE_NULL;
      make(&made);
      return committed(made);
    };
    const auto resized = [](MPI_Datatype type, MPI_Aint extent) {
      MPI_Datatype made = MPI_DATATYPE_NULL;
      MPI_Type_create_resized(type, 0, extent, &made);
      MPI_Type_free(&type);
      return committed(made);
    };
    const auto structure = [&](const std::vector<int>& lengths, const std::vector<MPI_Aint>& at,
                               MPI_Datatype of) {
      const std::vector<MPI_Datatype> parts(lengths.size(), of);
      return with([&](MPI_Datatype* made) {
        MPI_Type_create_struct(static_cast<int>(lengths.size()), lengths.data(), at.data(),
                               parts.data(), made);
      });
    };
    const std::vector<int> halves{2, 2};
    const std::vector<int> at_halves{0, 2};
    const MPI_Datatype four =
        with([](MPI_Datatype* made) { MPI_Type_contiguous(4, MPI_INT, made); });
    std::vector<MPI_Datatype> whole{
        four,
        with([](MPI_Datatype* made) { MPI_Type_vector(2, 2, 2, MPI_INT, made); }),
        with([&](MPI_Datatype* made) {
          MPI_Type_indexed(2, halves.data(), at_halves.data(), MPI_INT, made);
        }),
        structure({1, 3}, {0, unit}, MPI_INT),
        with([&](MPI_Datatype* made) { MPI_Type_dup(four, made); }),
        with([](MPI_Datatype* made) { MPI_Type_create_hvector(4, 1, sizeof(int), MPI_INT, made); }),
        resized(structure({2, 2}, {0, 2 * unit}, MPI_INT), 4 * unit),
    };
    check_alike("no gaps", whole, {0, unit, 2 * unit, 3 * unit}, 4 * unit);

    const int single[] = {1, 1};
    const int apart[] = {0, 2};
    std::vector<MPI_Datatype> spaced{
        resized(with([](MPI_Datatype* made) { MPI_Type_vector(2, 1, 2, MPI_INT, made); }),
                4 * unit),
        resized(
            with([&](MPI_Datatype* made) { MPI_Type_indexed(2, single, apart, MPI_INT, made); }),
            4 * unit),
        resized(structure({1, 1}, {0, 2 * unit}, MPI_INT), 4 * unit),
        resized(with([&](MPI_Datatype* made) {
                  MPI_Type_create_indexed_block(2, 1, apart, MPI_INT, made);
                }),
                4 * unit),
    };
    check_alike("gaps", spaced, {0, 2 * unit}, 4 * unit);

    // One of the MPI's own, and two that are made like it.
    const auto pair_of_ints = [&] { return structure({1, 1}, {0, unit}, MPI_INT); };
    std::vector<MPI_Datatype> pairs{pair_of_ints(), resized(pair_of_ints(), 2 * unit)};
    std::vector<MPI_Datatype> with_own = pairs;
    with_own.push_back(MPI_2INT);
    check_alike("MPI_2INT", with_own, {0, unit}, 2 * unit, pairs.size());
  }

  /// Ranks use different ones of types that are alike.
  /// \param made how many of them are to be freed
  void check_alike(const char* name, std::vector<MPI_Datatype>& types,
                   const std::vector<std::ptrdiff_t>& places, std::ptrdiff_t extent,
                   std::size_t made = ~std::size_t{0}) {
    expected().places = places;
    expected().extent = extent;
    for (std::size_t i = 0; i < types.size(); ++i) {
      const std::size_t mine = (i + static_cast<std::size_t>(rank_)) % types.size();
      for (const form how : forms()) {
        reduce_all(types[mine], how,
                   std::string("types made in different ways, ") + name + ", " + std::to_string(i),
                   7, false);
      }
    }
    for (std::size_t i = 0; i < std::min(made, types.size()); ++i) MPI_Type_free(&types[i]);
  }

  // ---- MPI_BOTTOM

  /// Memory whose addresses fit in int.
  class low_memory {
  public:
    low_memory()
        : at_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0)) {}
    ~low_memory() { ::munmap(at_, bytes); }
    low_memory(const low_memory&) = delete;
    low_memory& operator=(const low_memory&) = delete;
    bool is_there() const { return at_ != MAP_FAILED; }
    int* ints() const { return static_cast<int*>(at_); }

  private:
    static constexpr std::size_t bytes = 1 << 16;
    void* at_;
  };

  static int address_of(const int* at) {
    return static_cast<int>(reinterpret_cast<std::intptr_t>(at));
  }

  void check_absolute_addresses() {
    const low_memory memory;
    if (!job_.check(memory.is_there(), "no memory with low addresses")) return;
    for (const form how : forms()) check_absolute_addresses(memory.ints(), how);
  }

  void check_absolute_addresses(int* memory, form how) {
    constexpr int length = 3;
    const auto ranks = static_cast<std::size_t>(size_);
    int* const sent = memory;
    int* const received = memory + 4096;
    const int root = size_ / 2;
    const std::vector<int> counts(ranks, length);
    const std::vector<int> bytes(ranks, length * static_cast<int>(sizeof(int)));
    const std::vector<MPI_Datatype> types(ranks, MPI_INT);
    std::vector<int> from(ranks);  // absolute, in bytes
    std::vector<int> to(ranks);
    std::vector<int> to_ints(ranks);
    std::vector<int> from_ints(ranks);
    for (int rank = 0; rank < size_; ++rank) {
      const auto at = static_cast<std::size_t>(rank);
      from[at] = address_of(sent + 5 * rank);
      to[at] = address_of(received + 5 * (size_ - rank));
      from_ints[at] = from[at] / static_cast<int>(sizeof(int));
      to_ints[at] = to[at] / static_cast<int>(sizeof(int));
    }
    // Block `to` of what `from` sends.
    const auto message = [](int source, int target, int i) {
      return 10000 * source + 100 * target + i;
    };
    const auto in_block = [&](int rank) { return received + 5 * (size_ - rank); };
    const auto of = [&](const char* name, auto arrived) {
      job_.now(std::string(name) + " with absolute addresses, form " +
               std::to_string(static_cast<int>(how)));
      return turns{.how = how,
                   .tests = false,
                   .prepare =
                       [=, this](int) {
                         std::fill_n(memory, 8192, -1);
                         for (int rank = 0; rank < size_; ++rank) {
                           for (int i = 0; i < length; ++i)
                             sent[5 * rank + i] = message(rank_, rank, i);
                         }
                       },
                   .meanwhile = [] {},
                   .verify = [=](int) { arrived(); }};
    };
    const auto everything = [&](auto target_of) {
      return [=, this] {
        for (int rank = 0; rank < size_; ++rank) {
          for (int i = 0; i < length; ++i) {
            job_.check_equal(in_block(rank)[i], message(rank, target_of(), i), "int ", i,
                             " of rank ", rank);
          }
        }
      };
    };
    const auto to_me = everything([this] { return rank_; });
    const auto to_first = everything([] { return 0; });
    const auto at_root_only = [=, this] {
      if (rank_ == root) to_first();
    };
    const void* const bottom = MPI_BOTTOM;
    void* const into_bottom = MPI_BOTTOM;

    if (!job_.has("alone")) {  // MPICH 4.0 says that its buffers must not be aliased
      carry_out(of("alltoallw", to_me), mpi::alltoallw, bottom, counts.data(), from.data(),
                types.data(), into_bottom, counts.data(), to.data(), types.data(), MPI_COMM_WORLD);
      carry_out(of("alltoallv", to_me), mpi::alltoallv, bottom, bytes.data(), from.data(), MPI_BYTE,
                into_bottom, counts.data(), to_ints.data(), MPI_INT, MPI_COMM_WORLD);
    }
    const void* const own = sent;
    carry_out(of("allgatherv", to_first), mpi::allgatherv, own, length, MPI_INT, into_bottom,
              counts.data(), to_ints.data(), MPI_INT, MPI_COMM_WORLD);
    carry_out(of("gatherv", at_root_only), mpi::gatherv, own, length, MPI_INT, into_bottom,
              counts.data(), to_ints.data(), MPI_INT, root, MPI_COMM_WORLD);
    const auto from_root = [=, this] {
      for (int i = 0; i < length; ++i) {
        job_.check_equal(received[i], message(root, rank_, i), "int ", i);
      }
    };
    void* const into = received;
    carry_out(of("scatterv", from_root), mpi::scatterv, bottom, counts.data(), from_ints.data(),
              MPI_INT, into, length, MPI_INT, root, MPI_COMM_WORLD);
  }

  /// Types that carry absolute addresses, each rank its own.
  void check_absolute_types() {
    struct {
      int first[2];
      int gap;
      int last;
    } mine{};
    const std::vector<int> lengths{2, 1};
    std::vector<MPI_Aint> places(2);
    MPI_Get_address(mine.first, &places[0]);
    MPI_Get_address(&mine.last, &places[1]);
    MPI_Datatype type = MPI_DATATYPE_NULL;
    MPI_Type_create_hindexed(2, lengths.data(), places.data(), MPI_INT, &type);
    MPI_Type_commit(&type);
    expected() = {.handle = type,
                  .places = {places[0], places[0] + static_cast<MPI_Aint>(sizeof(int)), places[1]},
                  .extent = 0};
    const auto prepare = [&](int) { mine = {{rank_, 10 * rank_}, -1, 100 * rank_}; };
    const auto holds = [&](int value) {
      job_.check(mine.first[0] == value && mine.first[1] == 10 * value &&
                     mine.last == 100 * value && mine.gap == -1,
                 "there are ", mine.first[0], ", ", mine.first[1], ", ", mine.last, " around ",
                 mine.gap, "; expected multiples of ", value);
    };
    void* const bottom = MPI_BOTTOM;
    for (const form how : forms()) {
      const std::string name = " of absolute types, form " + std::to_string(static_cast<int>(how));
      job_.now("bcast" + name);
      carry_out({.how = how,
                 .tests = false,
                 .prepare = prepare,
                 .meanwhile = [] {},
                 .verify = [&](int) { holds(size_ - 1); }},
                mpi::bcast, bottom, 1, type, size_ - 1, MPI_COMM_WORLD);
      job_.now("allreduce" + name);
      carry_out({.how = how,
                 .tests = false,
                 .prepare = prepare,
                 .meanwhile = [] {},
                 .verify = [&](int) { holds(size_ * (size_ - 1) / 2); }},
                mpi::allreduce, static_cast<const void*>(MPI_IN_PLACE), bottom, 1, type, own_.get(),
                MPI_COMM_WORLD);
    }
    job_.check_equal(expected().wrong_handles, 0, "calls of the operation with another datatype");
    MPI_Type_free(&type);
  }

  job& job_;
  int rank_;
  int size_;
  int keyval_ = MPI_KEYVAL_INVALID;
  int duplicates_ = 0;
  shape_family ints_{"MPI_INT", MPI_INT, sizeof(int)};
  own_operation own_;
};

}  // namespace

int main(int argc, char** argv) {
  job mine(argc, argv);
  program(mine).run();
  return mine.finish();
}
