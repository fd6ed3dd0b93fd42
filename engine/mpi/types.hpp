#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <utility>

#include "engine/collective/datatype.hpp"
#include "engine/collective/reduction.hpp"
#include "engine/mpi/gone.hpp"
#include "engine/mpi/handle_cache.hpp"

namespace muster::mpi {

/// What a datatype's elements are to a reduction.
enum class elements : std::uint8_t {
  opaque,  ///< nothing that a predefined operation combines
  known,   ///< one of Muster's datatypes
  bytes,   ///< uint8 to Muster, of which MPI allows bitwise operations alone
  real,    ///< the rest are for the MPI to combine: `long double`, …
  complex,
  logical,
  pair,
};

struct type_facts {
  std::size_t size = 0;    ///< bytes of an element's data
  std::size_t extent = 0;  ///< bytes from one element to the next
  bool contiguous =
      false;  ///< data of all elements lies in order, without gaps, from the address on
  elements kind = elements::opaque;
  datatype as = datatype::byte;  ///< where the kind is `known`
  bool stays = false;            ///< nobody can free it
};

/// A datatype that stays, whatever the program does to it: one of MPI's own, which keeps its handle
/// since by that it is known, or a duplicate.
class kept_type {
public:
  explicit kept_type(MPI_Datatype of);
  ~kept_type();
  kept_type(kept_type&& other) noexcept
      : type_(other.type_), is_own_(std::exchange(other.is_own_, false)) {}
  kept_type& operator=(kept_type&&) = delete;

  MPI_Datatype get() const noexcept { return type_; }

private:
  MPI_Datatype type_;
  bool is_own_ = false;
};

/// Which of Muster's reductions an operation of MPI is; `custom` where it is the program's own,
/// `none` where no collective may use it.
reduction reduction_of(MPI_Op op) noexcept;

/// Whether MPI has a predefined operation for such elements.
bool has(const type_facts& type, reduction op) noexcept;

/// Remembers what datatypes are. A derived one keeps its own facts as an attribute, which goes with
/// it.
class types {
public:
  types();
  ~types();
  types(const types&) = delete;
  types& operator=(const types&) = delete;

  const type_facts& find(MPI_Datatype type) {
    if (gone_.any()) [[unlikely]]
      bury();
    const type_facts* const last = last_.find(type);
    return last != nullptr ? *last : find_again(type);
  }

private:
  const type_facts& find_again(MPI_Datatype type);
  void bury();
  void add(MPI_Datatype type, elements kind, datatype as = datatype::byte);
  /// The one there is: types of the program may outlive it.
  static std::atomic<types*>& living() noexcept;
  static int forget(MPI_Datatype type, int keyval, void* facts, void* self);

  std::unordered_map<MPI_Datatype, type_facts> predefined_;
  handle_cache<MPI_Datatype, type_facts> last_;
  gone<std::unique_ptr<const type_facts>> gone_;
  int keyval_ = MPI_KEYVAL_INVALID;
};

}  // namespace muster::mpi
