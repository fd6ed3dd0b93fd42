#pragma once

#include <mpi.h>

#include <utility>

namespace muster::mpi {

/// A datatype that is there while this lives, under the handle that the program has for it: if the
/// program frees it meanwhile, that is put off until nothing holds it. A handle that is no datatype
/// does no harm; nobody asks the MPI about it.
class held_type {
public:
  explicit held_type(MPI_Datatype of);
  ~held_type();
  held_type(held_type&& other) noexcept : type_(std::exchange(other.type_, MPI_DATATYPE_NULL)) {}
  held_type& operator=(held_type&&) = delete;

  MPI_Datatype get() const noexcept { return type_; }

  /// The program frees a datatype. True if that is put off.
  static bool puts_off(MPI_Datatype type);

private:
  MPI_Datatype type_;
};

}  // namespace muster::mpi
