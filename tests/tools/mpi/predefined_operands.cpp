#include <algorithm>
#include <complex>
#include <sstream>
#include <string_view>
#include <type_traits>

#include "tests/tools/mpi/operands.hpp"

namespace muster::testing {
namespace {

struct operation {
  const char* name;
  MPI_Op op;
};
const operation sum{"MPI_SUM", MPI_SUM}, product{"MPI_PROD", MPI_PROD}, least{"MPI_MIN", MPI_MIN},
    most{"MPI_MAX", MPI_MAX}, logical_and{"MPI_LAND", MPI_LAND}, logical_or{"MPI_LOR", MPI_LOR},
    logical_xor{"MPI_LXOR", MPI_LXOR}, bit_and{"MPI_BAND", MPI_BAND}, bit_or{"MPI_BOR", MPI_BOR},
    bit_xor{"MPI_BXOR", MPI_BXOR}, first_least{"MPI_MINLOC", MPI_MINLOC},
    first_most{"MPI_MAXLOC", MPI_MAXLOC};

using operations = std::vector<operation>;
const operations of_c_integers{sum,        product,     least,   most,   logical_and,
                               logical_or, logical_xor, bit_and, bit_or, bit_xor};
const operations of_fortran_integers{sum, product, least, most, bit_and, bit_or, bit_xor};
const operations of_reals{sum, product, least, most};
const operations of_complex{sum, product};
const operations of_logical{logical_and, logical_or, logical_xor};
const operations of_bytes{bit_and, bit_or, bit_xor};
const operations of_pairs{first_least, first_most};

template <class Value, class Index>
struct located {
  Value value;
  Index index;
};

template <class T>
constexpr bool is_complex = false;
template <class T>
constexpr bool is_complex<std::complex<T>> = true;
template <class T>
constexpr bool is_located = false;
template <class V, class I>
constexpr bool is_located<located<V, I>> = true;

/// Few factors other than one, so that products fit.
template <class T>
T factor(std::uint64_t key) {
  return static_cast<T>(key % 5 == 0 ? 2 : key % 3 == 0 && std::is_signed_v<T> ? -1 : 1);
}

template <class T>
T contribution(MPI_Op op, std::uint64_t key) {
  if constexpr (is_located<T>) {
    return {static_cast<decltype(T::value)>(key % 3), static_cast<decltype(T::index)>(key / 4 % 9)};
  } else if constexpr (is_complex<T>) {
    using part = typename T::value_type;
    if (op == MPI_SUM) return {static_cast<part>(key % 100), static_cast<part>(key / 100 % 100)};
    const auto size = static_cast<part>(key % 5 == 0 ? 2 : 1);
    return key % 2 == 0 ? T{size, 0} : T{0, -size};
  } else if (op == MPI_PROD) {
    return factor<T>(key);
  } else if (op == MPI_LAND || op == MPI_LOR || op == MPI_LXOR) {
    return static_cast<T>(key % 3 == 0 ? 0 : std::is_same_v<T, bool> ? 1 : key % 7 + 1);
  } else {
    return static_cast<T>(static_cast<T>(key % 8) - (std::is_signed_v<T> ? 4 : 0));
  }
}

template <class T>
T combined(MPI_Op op, const T& a, const T& b) {
  if constexpr (is_located<T>) {
    if (a.value == b.value) return {a.value, std::min(a.index, b.index)};
    return (a.value < b.value) == (op == MPI_MINLOC) ? a : b;
  } else {
    if (op == MPI_SUM) return static_cast<T>(a + b);
    if (op == MPI_PROD) return static_cast<T>(a * b);
    if constexpr (!is_complex<T>) {
      if (op == MPI_MIN) return std::min(a, b);
      if (op == MPI_MAX) return std::max(a, b);
      if (op == MPI_LAND) return static_cast<T>(a != 0 && b != 0);
      if (op == MPI_LOR) return static_cast<T>(a != 0 || b != 0);
      if (op == MPI_LXOR) return static_cast<T>((a != 0) != (b != 0));
    }
    if constexpr (std::is_integral_v<T>) {
      if (op == MPI_BAND) return static_cast<T>(a & b);
      if (op == MPI_BOR) return static_cast<T>(a | b);
      if (op == MPI_BXOR) return static_cast<T>(a ^ b);
    }
    return {};
  }
}

template <class T>
bool same(const T& a, const T& b) {
  if constexpr (is_located<T>) {
    return a.value == b.value && a.index == b.index;
  } else {
    return a == b;
  }
}

template <class T>
std::string shown(const T& one) {
  std::ostringstream text;
  if constexpr (is_located<T>) {
    text << one.value << " at " << one.index;
  } else if constexpr (sizeof(T) == 1) {
    text << static_cast<int>(one);
  } else {
    text << one;
  }
  return text.str();
}

class table {
public:
  template <class T>
  void add(std::string_view name, MPI_Datatype type, const operations& those) {
    if (type == MPI_DATATYPE_NULL || !is_as_large<T>(type)) return;
    for (const operation& one : those) {
      const MPI_Op op = one.op;
      rows.push_back({.name = std::string(one.name) + " of " + std::string(name),
                      .type = type,
                      .op = op,
                      .extent = sizeof(T),
                      .contribute =
                          [op](void* to, std::uint64_t key) {
                            *static_cast<T*>(to) = contribution<T>(op, key);
                          },
                      .combine =
                          [op](void* left, const void* right) {
                            T& into = *static_cast<T*>(left);
                            into = combined(op, into, *static_cast<const T*>(right));
                          },
                      .same =
                          [](const void* is, const void* expected) {
                            return testing::same(*static_cast<const T*>(is),
                                                 *static_cast<const T*>(expected));
                          },
                      .show = [](const void* one) { return shown(*static_cast<const T*>(one)); }});
    }
  }

  std::vector<operands> rows;

private:
  /// Not so for types that an MPI was built without, and for Fortran's, where options change them.
  template <class T>
  static bool is_as_large(MPI_Datatype type) {
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    MPI_Type_get_extent(type, &lower, &extent);
    return extent == static_cast<MPI_Aint>(sizeof(T));
  }
};

void add_integers(table& to) {
  to.add<signed char>("MPI_SIGNED_CHAR", MPI_SIGNED_CHAR, of_c_integers);
  to.add<unsigned char>("MPI_UNSIGNED_CHAR", MPI_UNSIGNED_CHAR, of_c_integers);
  to.add<short>("MPI_SHORT", MPI_SHORT, of_c_integers);
  to.add<unsigned short>("MPI_UNSIGNED_SHORT", MPI_UNSIGNED_SHORT, of_c_integers);
  to.add<int>("MPI_INT", MPI_INT, of_c_integers);
  to.add<unsigned>("MPI_UNSIGNED", MPI_UNSIGNED, of_c_integers);
  to.add<long>("MPI_LONG", MPI_LONG, of_c_integers);
  to.add<unsigned long>("MPI_UNSIGNED_LONG", MPI_UNSIGNED_LONG, of_c_integers);
  to.add<long long>("MPI_LONG_LONG", MPI_LONG_LONG, of_c_integers);
  to.add<unsigned long long>("MPI_UNSIGNED_LONG_LONG", MPI_UNSIGNED_LONG_LONG, of_c_integers);
  to.add<std::int8_t>("MPI_INT8_T", MPI_INT8_T, of_c_integers);
  to.add<std::int16_t>("MPI_INT16_T", MPI_INT16_T, of_c_integers);
  to.add<std::int32_t>("MPI_INT32_T", MPI_INT32_T, of_c_integers);
  to.add<std::int64_t>("MPI_INT64_T", MPI_INT64_T, of_c_integers);
  to.add<std::uint8_t>("MPI_UINT8_T", MPI_UINT8_T, of_c_integers);
  to.add<std::uint16_t>("MPI_UINT16_T", MPI_UINT16_T, of_c_integers);
  to.add<std::uint32_t>("MPI_UINT32_T", MPI_UINT32_T, of_c_integers);
  to.add<std::uint64_t>("MPI_UINT64_T", MPI_UINT64_T, of_c_integers);
  to.add<MPI_Aint>("MPI_AINT", MPI_AINT, of_fortran_integers);
  to.add<MPI_Offset>("MPI_OFFSET", MPI_OFFSET, of_fortran_integers);
  to.add<MPI_Count>("MPI_COUNT", MPI_COUNT, of_fortran_integers);
  to.add<int>("MPI_INTEGER", MPI_INTEGER, of_fortran_integers);
  to.add<std::int8_t>("MPI_INTEGER1", MPI_INTEGER1, of_fortran_integers);
  to.add<std::int16_t>("MPI_INTEGER2", MPI_INTEGER2, of_fortran_integers);
  to.add<std::int32_t>("MPI_INTEGER4", MPI_INTEGER4, of_fortran_integers);
  to.add<std::int64_t>("MPI_INTEGER8", MPI_INTEGER8, of_fortran_integers);
  to.add<unsigned char>("MPI_BYTE", MPI_BYTE, of_bytes);
}

void add_numbers(table& to) {
  to.add<float>("MPI_FLOAT", MPI_FLOAT, of_reals);
  to.add<double>("MPI_DOUBLE", MPI_DOUBLE, of_reals);
  to.add<long double>("MPI_LONG_DOUBLE", MPI_LONG_DOUBLE, of_reals);
  to.add<float>("MPI_REAL", MPI_REAL, of_reals);
  to.add<double>("MPI_DOUBLE_PRECISION", MPI_DOUBLE_PRECISION, of_reals);
  to.add<float>("MPI_REAL4", MPI_REAL4, of_reals);
  to.add<double>("MPI_REAL8", MPI_REAL8, of_reals);
  to.add<std::complex<float>>("MPI_C_FLOAT_COMPLEX", MPI_C_FLOAT_COMPLEX, of_complex);
  to.add<std::complex<double>>("MPI_C_DOUBLE_COMPLEX", MPI_C_DOUBLE_COMPLEX, of_complex);
  to.add<std::complex<long double>>("MPI_C_LONG_DOUBLE_COMPLEX", MPI_C_LONG_DOUBLE_COMPLEX,
                                    of_complex);
  to.add<std::complex<float>>("MPI_CXX_FLOAT_COMPLEX", MPI_CXX_FLOAT_COMPLEX, of_complex);
  to.add<std::complex<double>>("MPI_CXX_DOUBLE_COMPLEX", MPI_CXX_DOUBLE_COMPLEX, of_complex);
  to.add<std::complex<long double>>("MPI_CXX_LONG_DOUBLE_COMPLEX", MPI_CXX_LONG_DOUBLE_COMPLEX,
                                    of_complex);
  to.add<std::complex<float>>("MPI_COMPLEX", MPI_COMPLEX, of_complex);
  to.add<std::complex<double>>("MPI_DOUBLE_COMPLEX", MPI_DOUBLE_COMPLEX, of_complex);
  to.add<std::complex<float>>("MPI_COMPLEX8", MPI_COMPLEX8, of_complex);
  to.add<std::complex<double>>("MPI_COMPLEX16", MPI_COMPLEX16, of_complex);
  to.add<bool>("MPI_C_BOOL", MPI_C_BOOL, of_logical);
  to.add<bool>("MPI_CXX_BOOL", MPI_CXX_BOOL, of_logical);
  to.add<int>("MPI_LOGICAL", MPI_LOGICAL, of_logical);
}

void add_pairs(table& to) {
  to.add<located<short, int>>("MPI_SHORT_INT", MPI_SHORT_INT, of_pairs);
  to.add<located<int, int>>("MPI_2INT", MPI_2INT, of_pairs);
  to.add<located<long, int>>("MPI_LONG_INT", MPI_LONG_INT, of_pairs);
  to.add<located<float, int>>("MPI_FLOAT_INT", MPI_FLOAT_INT, of_pairs);
  to.add<located<double, int>>("MPI_DOUBLE_INT", MPI_DOUBLE_INT, of_pairs);
  to.add<located<long double, int>>("MPI_LONG_DOUBLE_INT", MPI_LONG_DOUBLE_INT, of_pairs);
  to.add<located<int, int>>("MPI_2INTEGER", MPI_2INTEGER, of_pairs);
  to.add<located<float, float>>("MPI_2REAL", MPI_2REAL, of_pairs);
  to.add<located<double, double>>("MPI_2DOUBLE_PRECISION", MPI_2DOUBLE_PRECISION, of_pairs);
}

}  // namespace

std::vector<operands> predefined_operands() {
  table all;
  add_integers(all);
  add_numbers(all);
  add_pairs(all);
  return std::move(all.rows);
}

}  // namespace muster::testing
