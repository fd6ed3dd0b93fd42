#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <unordered_map>

#include <muster/call/datatype.hpp>
#include <muster/call/reduction.hpp>

#include "tools/mpi/deferred.hpp"
#include "tools/mpi/handle_cache.hpp"

namespace muster::mpi {

/// Some of the predefined operations.
class op_set {
public:
  constexpr op_set() = default;
  constexpr op_set(std::initializer_list<reduction> all) noexcept {
    for (const reduction one : all) bits_ |= bit(one);
  }
  constexpr bool has(reduction op) const noexcept { return (bits_ & bit(op)) != 0; }
  friend constexpr op_set operator|(op_set a, op_set b) noexcept {
    a.bits_ |= b.bits_;
    return a;
  }

private:
  static constexpr std::uint32_t bit(reduction op) noexcept {
    return std::uint32_t{1} << static_cast<unsigned>(op);
  }
  std::uint32_t bits_ = 0;
};

/// What a datatype's elements are, and so who can combine them.
enum class elements : std::uint8_t {
  of_muster,             ///< of one of Muster's datatypes
  long_doubles,          ///< these are `combined_here`
  long_double_complex,   ///< two of them
  long_doubles_indexed,  ///< with an int, as in MPI_LONG_DOUBLE_INT
  float_pairs,           ///< a value and its index, in Fortran's way of one type
  double_pairs,
  of_mpi,  ///< something that the MPI alone knows
};

struct type_facts {
  std::size_t size = 0;     ///< bytes of an element's data
  std::int64_t extent = 0;  ///< bytes from one element to the next; may be negative
  std::int64_t first = 0;   ///< where the first byte of an element's data is, and
  std::int64_t end = 0;     ///< the one after its last, from the element's address on
  bool contiguous = false;  ///< data of all elements lies in order, without gaps, from the address
  elements known_by = elements::of_mpi;
  datatype as = datatype::byte;  ///< where Muster knows it
  op_set ops;                    ///< predefined operations on it that the MPI accepts
  bool stays = false;            ///< nobody can free it
};

/// Fortran's `logical` is one of Muster's integers where .true. is 1 to the MPI, as it is in C.
elements fortran_logical(MPI_Datatype type);

/// Which of Muster's reductions an operation of MPI is; `custom` where it is the program's own,
/// `none` where no collective may use it.
reduction reduction_of(MPI_Op op) noexcept;

struct combinable;

/// Remembers what datatypes are. A derived one keeps its own facts as an attribute, which goes with
/// it.
class types {
public:
  types();
  ~types();
  types(const types&) = delete;
  types& operator=(const types&) = delete;

  const type_facts& find(MPI_Datatype type) {
    if (deferred_.any()) [[unlikely]]
      reap();
    const type_facts* const last = last_.find(type);
    return last != nullptr ? *last : find_again(type);
  }

private:
  const type_facts& find_again(MPI_Datatype type);
  void reap();
  void add(const combinable& one);
  /// The one there is: types of the program may outlive it.
  static std::atomic<types*>& living() noexcept;
  static int forget(MPI_Datatype type, int keyval, void* facts, void* self);

  std::unordered_map<MPI_Datatype, type_facts> predefined_;
  handle_cache<MPI_Datatype, type_facts> last_;
  deferred<std::unique_ptr<const type_facts>> deferred_;
  int keyval_ = MPI_KEYVAL_INVALID;
};

}  // namespace muster::mpi
