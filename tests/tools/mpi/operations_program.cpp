// Every predefined operation on every predefined datatype: what the MPI beneath accepts comes out
// as it does from the MPI alone, to the bit, and what it refuses is refused. Arguments: `accepted`
// makes no calls that are refused.

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include <muster/base/random.hpp>

#include "tests/tools/mpi/functions.hpp"
#include "tests/tools/mpi/job.hpp"
#include "tests/tools/mpi/next.hpp"
#include "tests/tools/mpi/turns.hpp"
#include "tools/conformance/build.hpp"

namespace {

using namespace muster::testing;
using mpi = functions<int>;
using muster::mix_bits;

#ifdef OPEN_MPI
constexpr bool is_open_mpi = true;
#else
constexpr bool is_open_mpi = false;
#endif

// ---- what there is

enum class number { integer, truth, float32, float64, float80 };

/// A number in an element.
struct field {
  number what;
  std::size_t at;
  std::size_t bytes;  ///< that have a meaning
};

struct type {
  const char* name;
  MPI_Datatype handle;
  std::vector<field> fields;
  bool is_pair = false;  ///< a value and an index
};

template <class T>
constexpr number number_of() {
  if (std::is_same_v<T, float>) return number::float32;
  if (std::is_same_v<T, double>) return number::float64;
  if (std::is_same_v<T, long double>) return number::float80;
  return number::integer;
}
template <class T>
field field_of(std::size_t at) {
  return {number_of<T>(), at, std::is_same_v<T, long double> ? 10 : sizeof(T)};
}
template <class T>
std::vector<field> one() {
  return {field_of<T>(0)};
}
template <class T>
std::vector<field> two() {
  return {field_of<T>(0), field_of<T>(sizeof(T))};
}
template <class T>
std::vector<field> truth() {
  return {{number::truth, 0, sizeof(T)}};
}
template <class Value, class Index>
std::vector<field> pair() {
  struct both {
    Value value;
    Index index;
  };
  return {field_of<Value>(0), field_of<Index>(offsetof(both, index))};
}
template <class Function, class... Digits>
MPI_Datatype sized(Function* make, Digits... digits) {
  MPI_Datatype made = MPI_DATATYPE_NULL;
  make(digits..., &made);
  return made;
}

/// After MPI_Init.
std::vector<type> types() {
  return {
      {"MPI_CHAR", MPI_CHAR, one<signed char>()},
      {"MPI_SIGNED_CHAR", MPI_SIGNED_CHAR, one<signed char>()},
      {"MPI_UNSIGNED_CHAR", MPI_UNSIGNED_CHAR, one<unsigned char>()},
      {"MPI_BYTE", MPI_BYTE, one<unsigned char>()},
      {"MPI_PACKED", MPI_PACKED, one<unsigned char>()},
      {"MPI_WCHAR", MPI_WCHAR, one<wchar_t>()},
      {"MPI_SHORT", MPI_SHORT, one<short>()},
      {"MPI_UNSIGNED_SHORT", MPI_UNSIGNED_SHORT, one<unsigned short>()},
      {"MPI_INT", MPI_INT, one<int>()},
      {"MPI_UNSIGNED", MPI_UNSIGNED, one<unsigned>()},
      {"MPI_LONG", MPI_LONG, one<long>()},
      {"MPI_UNSIGNED_LONG", MPI_UNSIGNED_LONG, one<unsigned long>()},
      {"MPI_LONG_LONG", MPI_LONG_LONG, one<long long>()},
      {"MPI_LONG_LONG_INT", MPI_LONG_LONG_INT, one<long long>()},
      {"MPI_UNSIGNED_LONG_LONG", MPI_UNSIGNED_LONG_LONG, one<unsigned long long>()},
      {"MPI_INT8_T", MPI_INT8_T, one<std::int8_t>()},
      {"MPI_UINT8_T", MPI_UINT8_T, one<std::uint8_t>()},
      {"MPI_INT16_T", MPI_INT16_T, one<std::int16_t>()},
      {"MPI_UINT16_T", MPI_UINT16_T, one<std::uint16_t>()},
      {"MPI_INT32_T", MPI_INT32_T, one<std::int32_t>()},
      {"MPI_UINT32_T", MPI_UINT32_T, one<std::uint32_t>()},
      {"MPI_INT64_T", MPI_INT64_T, one<std::int64_t>()},
      {"MPI_UINT64_T", MPI_UINT64_T, one<std::uint64_t>()},
      {"MPI_AINT", MPI_AINT, one<MPI_Aint>()},
      {"MPI_OFFSET", MPI_OFFSET, one<MPI_Offset>()},
      {"MPI_COUNT", MPI_COUNT, one<MPI_Count>()},
      {"MPI_FLOAT", MPI_FLOAT, one<float>()},
      {"MPI_DOUBLE", MPI_DOUBLE, one<double>()},
      {"MPI_LONG_DOUBLE", MPI_LONG_DOUBLE, one<long double>()},
      {"MPI_C_BOOL", MPI_C_BOOL, truth<bool>()},
      {"MPI_C_COMPLEX", MPI_C_COMPLEX, two<float>()},
      {"MPI_C_FLOAT_COMPLEX", MPI_C_FLOAT_COMPLEX, two<float>()},
      {"MPI_C_DOUBLE_COMPLEX", MPI_C_DOUBLE_COMPLEX, two<double>()},
      {"MPI_C_LONG_DOUBLE_COMPLEX", MPI_C_LONG_DOUBLE_COMPLEX, two<long double>()},
      {"MPI_CXX_BOOL", MPI_CXX_BOOL, truth<bool>()},
      {"MPI_CXX_FLOAT_COMPLEX", MPI_CXX_FLOAT_COMPLEX, two<float>()},
      {"MPI_CXX_DOUBLE_COMPLEX", MPI_CXX_DOUBLE_COMPLEX, two<double>()},
      {"MPI_CXX_LONG_DOUBLE_COMPLEX", MPI_CXX_LONG_DOUBLE_COMPLEX, two<long double>()},
      {"MPI_SHORT_INT", MPI_SHORT_INT, pair<short, int>(), true},
      {"MPI_2INT", MPI_2INT, pair<int, int>(), true},
      {"MPI_LONG_INT", MPI_LONG_INT, pair<long, int>(), true},
      {"MPI_FLOAT_INT", MPI_FLOAT_INT, pair<float, int>(), true},
      {"MPI_DOUBLE_INT", MPI_DOUBLE_INT, pair<double, int>(), true},
      {"MPI_LONG_DOUBLE_INT", MPI_LONG_DOUBLE_INT, pair<long double, int>(), true},
      {"MPI_CHARACTER", MPI_CHARACTER, one<char>()},
      {"MPI_LOGICAL", MPI_LOGICAL, truth<int>()},
      {"MPI_INTEGER", MPI_INTEGER, one<int>()},
      {"MPI_INTEGER1", MPI_INTEGER1, one<std::int8_t>()},
      {"MPI_INTEGER2", MPI_INTEGER2, one<std::int16_t>()},
      {"MPI_INTEGER4", MPI_INTEGER4, one<std::int32_t>()},
      {"MPI_INTEGER8", MPI_INTEGER8, one<std::int64_t>()},
      {"MPI_REAL", MPI_REAL, one<float>()},
      {"MPI_REAL4", MPI_REAL4, one<float>()},
      {"MPI_REAL8", MPI_REAL8, one<double>()},
      // Open MPI 4.1 takes Fortran's reals of 16 bytes for these; no order shows in them either
      // way.
      {"MPI_REAL16", MPI_REAL16, one<long double>()},
      {"MPI_DOUBLE_PRECISION", MPI_DOUBLE_PRECISION, one<double>()},
      {"MPI_COMPLEX", MPI_COMPLEX, two<float>()},
      {"MPI_COMPLEX8", MPI_COMPLEX8, two<float>()},
      {"MPI_COMPLEX16", MPI_COMPLEX16, two<double>()},
      {"MPI_COMPLEX32", MPI_COMPLEX32, two<long double>()},
      {"MPI_DOUBLE_COMPLEX", MPI_DOUBLE_COMPLEX, two<double>()},
      {"MPI_2INTEGER", MPI_2INTEGER, pair<int, int>(), true},
      {"MPI_2REAL", MPI_2REAL, pair<float, float>(), true},
      {"MPI_2DOUBLE_PRECISION", MPI_2DOUBLE_PRECISION, pair<double, double>(), true},
#ifdef OPEN_MPI
      {"MPI_LOGICAL1", MPI_LOGICAL1, truth<std::int8_t>()},
      {"MPI_LOGICAL2", MPI_LOGICAL2, truth<std::int16_t>()},
      {"MPI_LOGICAL4", MPI_LOGICAL4, truth<std::int32_t>()},
      {"MPI_LOGICAL8", MPI_LOGICAL8, truth<std::int64_t>()},
      {"MPI_2COMPLEX", MPI_2COMPLEX, two<std::int64_t>(), true},
#endif
      {"MPI_Type_create_f90_real(6, 30)", sized(MPI_Type_create_f90_real, 6, 30), one<float>()},
      {"MPI_Type_create_f90_real(15, 300)", sized(MPI_Type_create_f90_real, 15, 300),
       one<double>()},
      {"MPI_Type_create_f90_complex(6, 30)", sized(MPI_Type_create_f90_complex, 6, 30),
       two<float>()},
      {"MPI_Type_create_f90_complex(15, 300)", sized(MPI_Type_create_f90_complex, 15, 300),
       two<double>()},
      {"MPI_Type_create_f90_integer(9)", sized(MPI_Type_create_f90_integer, 9), one<int>()},
      {"MPI_Type_create_f90_integer(18)", sized(MPI_Type_create_f90_integer, 18),
       one<std::int64_t>()},
  };
}

struct operation {
  const char* name;
  MPI_Op handle;
};
const operation operations[] = {
    {"MPI_SUM", MPI_SUM},         {"MPI_PROD", MPI_PROD},     {"MPI_MIN", MPI_MIN},
    {"MPI_MAX", MPI_MAX},         {"MPI_LAND", MPI_LAND},     {"MPI_LOR", MPI_LOR},
    {"MPI_LXOR", MPI_LXOR},       {"MPI_BAND", MPI_BAND},     {"MPI_BOR", MPI_BOR},
    {"MPI_BXOR", MPI_BXOR},       {"MPI_MINLOC", MPI_MINLOC}, {"MPI_MAXLOC", MPI_MAXLOC},
    {"MPI_REPLACE", MPI_REPLACE}, {"MPI_NO_OP", MPI_NO_OP},
};

bool is_logical(MPI_Op op) { return op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR; }
bool is_order(MPI_Op op) { return op == MPI_MIN || op == MPI_MAX; }

// ---- what the MPIs get wrong, and how it is kept out of the way

/// MPICH 4.0 says that it takes logical operations on reals; but MPI_LAND and MPI_LOR of C's end
/// the program, and all of Fortran's leave one operand as it is. They are left to it, and not
/// called.
bool is_mistaken(const type& of, MPI_Op op) {
  const bool is_real = of.fields.front().what >= number::float32;
  return !is_open_mpi && is_real && is_logical(op);
}

/// Open MPI 4.1 reads MPI_OFFSET as unsigned, and MPI_UNSIGNED_LONG as signed; MPICH 4.0 reads all
/// unsigned integers as signed. So: values that are the same both ways.
bool has_wrong_sign(const type& of, MPI_Op op) {
  if (!is_order(op)) return false;
  if (is_open_mpi) return of.handle == MPI_OFFSET || of.handle == MPI_UNSIGNED_LONG;
  return std::string_view(of.name).starts_with("MPI_U");
}

/// In Open MPI 4.1 sums of integers of 8 and 16 bits stay at the largest value, where vectors are
/// long enough for its wide registers, and wrap around elsewhere. So: small values.
bool may_saturate(const field& of, MPI_Op op) {
  return is_open_mpi && op == MPI_SUM && of.bytes <= 2;
}

// ---- values whose result does not depend on the order of combining

void write(std::byte* to, const field& of, double value, std::uint64_t bits) {
  switch (of.what) {
    case number::integer:
    case number::truth:
      std::memcpy(to, &bits, of.bytes);
      break;
    case number::float32: {
      const auto narrow = static_cast<float>(value);
      std::memcpy(to, &narrow, sizeof narrow);
      break;
    }
    case number::float64:
      std::memcpy(to, &value, sizeof value);
      break;
    case number::float80: {
      const long double wide = value;
      std::memcpy(to, &wide, of.bytes);
      break;
    }
  }
}

std::uint64_t sign_bit(const field& of) { return std::uint64_t{1} << (8 * of.bytes - 1); }

std::uint64_t bits_for(const type& of, const field& in, MPI_Op op, std::uint64_t key) {
  if (in.what == number::truth) return key % 2;
  if (may_saturate(in, op)) return key % 4;
  if (has_wrong_sign(of, op)) return key & ~sign_bit(in);
  if (is_logical(op)) return key % 3 == 0 ? 0 : key / 3;
  return key;
}

/// Sums and products of few such are exact. No part of the complex products is zero: its sign would
/// depend on the order.
std::array<double, 2> numbers_for(const type& of, MPI_Op op, std::uint64_t key) {
  if (op == MPI_PROD) {
    if (of.fields.size() == 2) return key % 2 == 0 ? std::array{1.0, 2.0} : std::array{2.0, 3.0};
    const double size = key % 5 == 0 ? 2 : 1;
    return {key % 3 == 0 ? -size : size, 0};
  }
  return {static_cast<double>(key % 100) - 50, static_cast<double>(key / 100 % 100)};
}

void contribute(std::byte* to, const type& of, MPI_Op op, std::uint64_t key) {
  if (of.is_pair) {
    const std::uint64_t value = key % 3;
    const std::uint64_t index = key / 4 % 9;
    write(to + of.fields[0].at, of.fields[0], static_cast<double>(value) - 1, value);
    write(to + of.fields[1].at, of.fields[1], static_cast<double>(index) + 0.5, index);
    return;
  }
  const std::array<double, 2> values = numbers_for(of, op, key);
  for (std::size_t i = 0; i < of.fields.size(); ++i) {
    const field& one = of.fields[i];
    write(to + one.at, one, values[i], bits_for(of, one, op, key));
  }
}

// ---- calls

/// The MPI's own blocking functions.
const auto own_reduce_local = in_mpi(&PMPI_Reduce_local, "PMPI_Reduce_local");
const auto own_reduce = in_mpi(&PMPI_Reduce, "PMPI_Reduce");
const auto own_allreduce = in_mpi(&PMPI_Allreduce, "PMPI_Allreduce");
const auto own_reduce_scatter = in_mpi(&PMPI_Reduce_scatter, "PMPI_Reduce_scatter");
const auto own_reduce_scatter_block =
    in_mpi(&PMPI_Reduce_scatter_block, "PMPI_Reduce_scatter_block");
const auto own_scan = in_mpi(&PMPI_Scan, "PMPI_Scan");
const auto own_exscan = in_mpi(&PMPI_Exscan, "PMPI_Exscan");

class program {
public:
  explicit program(job& mine) : job_(mine) {
    MPI_Comm_dup(MPI_COMM_WORLD, &on_);
    for (const MPI_Comm one : {on_, MPI_COMM_WORLD, MPI_COMM_SELF}) {
      MPI_Comm_set_errhandler(one, MPI_ERRORS_RETURN);
    }
  }
  ~program() { MPI_Comm_free(&on_); }
  program(const program&) = delete;
  program& operator=(const program&) = delete;

  void run() {
    std::size_t accepted = 0;
    for (const type& of : types()) {
      if (!is_there(of)) continue;
      for (const operation& by : operations) {
        if (is_mistaken(of, by.handle)) continue;
        if (accepts(of, by)) {
          check_accepted(of, by, accepted++);
        } else if (!job_.has("accepted")) {
          check_refused(of, by);
        }
      }
    }
    constexpr std::size_t in_the_standard = 250;  // and more, in either MPI
    job_.check(accepted > in_the_standard, "only ", accepted, " pairs are accepted");
  }

private:
  /// An MPI may have been built without it, or with options that change Fortran's sizes.
  static bool is_there(const type& of) {
    if (of.handle == MPI_DATATYPE_NULL) return false;
    int size = 0;
    MPI_Type_size(of.handle, &size);
    std::size_t bytes = 0;
    for (const field& one : of.fields) bytes += one.what == number::float80 ? 16 : one.bytes;
    return static_cast<std::size_t>(size) == bytes;
  }

  std::size_t extent(const type& of) const {
    MPI_Aint lower = 0;
    MPI_Aint is = 0;
    MPI_Type_get_extent(of.handle, &lower, &is);
    return static_cast<std::size_t>(is);
  }

  static int class_of(int code) {
    int of = MPI_SUCCESS;
    MPI_Error_class(code, &of);
    return of;
  }

  bool accepts(const type& of, const operation& by) {
    job_.now(std::string("MPI_Reduce_local, ") + by.name + " of " + of.name);
    fill(of, by, 1);
    return own_reduce_local(sent_.data(), received_.data(), 1, of.handle, by.handle) == MPI_SUCCESS;
  }

  void check_refused(const type& of, const operation& by) {
    job_.now(std::string("refused, ") + by.name + " of " + of.name);
    fill(of, by, 1);
    const int own = own_allreduce(sent_.data(), expected_.data(), 1, of.handle, by.handle, on_);
    const int blocking =
        MPI_Allreduce(sent_.data(), received_.data(), 1, of.handle, by.handle, on_);
    job_.check(blocking != MPI_SUCCESS, "MPI_Allreduce accepts it");
    job_.check_equal(class_of(blocking), class_of(own), "the error class");
  }

  void fill(const type& of, const operation& by, std::size_t elements) {
    const std::size_t each = extent(of);
    for (auto* const one : {&sent_, &received_, &expected_}) one->assign(elements * each, {});
    for (std::size_t i = 0; i < elements; ++i) {
      const auto rank = static_cast<std::uint64_t>(job_.rank());
      contribute(sent_.data() + i * each, of, by.handle, mix_bits(mix_bits(++keys_) + rank));
    }
  }

  /// Of one element and of more; under sanitizers of one or the other.
  void check_accepted(const type& of, const operation& by, std::size_t number) {
    if (!sanitized || number % 2 == 0) check_elements(of, by, 1);
    if (!sanitized || number % 2 == 1) check_elements(of, by, 67);
  }

  void check_elements(const type& of, const operation& by, int count) {
    const auto ranks = static_cast<std::size_t>(job_.size());
    const auto elements = static_cast<std::size_t>(count);
    const MPI_Datatype datatype = of.handle;
    const MPI_Op op = by.handle;
    const int root = job_.size() - 1;
    const bool at_root = job_.rank() == root;
    std::vector<int> counts(ranks);
    std::size_t all = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      counts[rank] = count + static_cast<int>(rank % 3);
      all += static_cast<std::size_t>(counts[rank]);
    }
    const auto mine = static_cast<std::size_t>(counts[static_cast<std::size_t>(job_.rank())]);
    const auto begin = [&](const char* name, std::size_t contributed) {
      job_.now(std::string(name) + " of " + std::to_string(count) + ", " + by.name + " of " +
               of.name);
      fill(of, by, contributed);
    };
    const auto from = [this] { return sent_.data(); };
    const auto to = [this] { return expected_.data(); };

    begin("allreduce", elements);
    own_allreduce(from(), to(), count, datatype, op, on_);
    compare(of, elements, mpi::allreduce, count, datatype, op, on_);
    begin("reduce", elements);
    own_reduce(from(), to(), count, datatype, op, root, on_);
    compare(of, at_root ? elements : 0, mpi::reduce, count, datatype, op, root, on_);
    begin("scan", elements);
    own_scan(from(), to(), count, datatype, op, on_);
    compare(of, elements, mpi::scan, count, datatype, op, on_);
    begin("exscan", elements);
    own_exscan(from(), to(), count, datatype, op, on_);
    compare(of, job_.rank() == 0 ? 0 : elements, mpi::exscan, count, datatype, op, on_);
    begin("reduce_scatter_block", elements * ranks);
    own_reduce_scatter_block(from(), to(), count, datatype, op, on_);
    compare(of, elements, mpi::reduce_scatter_block, count, datatype, op, on_);
    begin("reduce_scatter", all);
    own_reduce_scatter(from(), to(), counts.data(), datatype, op, on_);
    compare(of, mine, mpi::reduce_scatter, counts.data(), datatype, op, on_);
  }

  /// Calls in all forms what the MPI's own function has been called for.
  template <class Forms, class... Arguments>
  void compare(const type& of, std::size_t elements, const Forms& forms, Arguments... arguments) {
    for (const form how : {form::blocking, form::nonblocking, form::persistent}) {
      if (how == form::persistent && job_.has("alone")) continue;
      const turns by{.how = how,
                     .tests = false,
                     .prepare = [this](int) { std::ranges::fill(received_, std::byte{}); },
                     .meanwhile = [] {},
                     .verify = [&](int) { verify(of, elements, how); }};
      carry_out(by, forms, static_cast<const void*>(sent_.data()),
                static_cast<void*>(received_.data()), arguments...);
    }
  }

  void verify(const type& of, std::size_t elements, form how) {
    static constexpr const char* names[] = {"blocking", "nonblocking", "persistent"};
    const std::size_t each = extent(of);
    for (std::size_t i = 0; i < elements; ++i) {
      for (const field& one : of.fields) {
        const std::size_t at = i * each + one.at;
        const bool same =
            std::equal(received_.begin() + static_cast<std::ptrdiff_t>(at),
                       received_.begin() + static_cast<std::ptrdiff_t>(at + one.bytes),
                       expected_.begin() + static_cast<std::ptrdiff_t>(at));
        if (!job_.check(same, names[static_cast<std::size_t>(how)], ": element ", i,
                        " is not what the MPI makes of it")) {
          return;
        }
      }
    }
  }

  job& job_;
  MPI_Comm on_ = MPI_COMM_NULL;
  std::uint64_t keys_ = 0;
  std::vector<std::byte> sent_;
  std::vector<std::byte> received_;
  std::vector<std::byte> expected_;
};

}  // namespace

int main(int argc, char** argv) {
  job mine(argc, argv);
  program(mine).run();
  return mine.finish();
}
