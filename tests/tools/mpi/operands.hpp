#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace muster::testing {

/// Elements and an operation on them, with a plain reference. Values are such that results are
/// exact whatever the order of an operation that commutes.
struct operands {
  std::string name;  ///< "MPI_SUM of MPI_INT"
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  std::size_t extent = 0;
  /// Writes what a rank contributes; it depends on the key alone.
  std::function<void(void* to, std::uint64_t key)> contribute;
  /// left = left op right
  std::function<void(void* left, const void* right)> combine;
  std::function<bool(const void* is, const void* expected)> same;
  std::function<std::string(const void*)> show;
};

/// Every pair of predefined types and operations that MPI allows.
std::vector<operands> predefined_operands();

/// Operations of the program's own, which go with it.
class own_operands {
public:
  own_operands();
  ~own_operands();
  own_operands(const own_operands&) = delete;
  own_operands& operator=(const own_operands&) = delete;

  const std::vector<operands>& all() const noexcept { return all_; }

private:
  MPI_Op keep(MPI_User_function* function, bool commutes);
  MPI_Datatype keep(MPI_Datatype type);

  std::vector<MPI_Op> ops_;
  std::vector<MPI_Datatype> types_;
  std::vector<operands> all_;
};

}  // namespace muster::testing
