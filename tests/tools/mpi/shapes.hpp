#pragma once

#include <mpi.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace muster::testing {

/// Bytes of a datatype that lie side by side.
struct piece {
  std::ptrdiff_t at = 0;
  std::size_t length = 0;
};

/// A datatype, and where its data lies, in the order of its type map.
struct shape {
  std::string name;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  std::vector<piece> pieces = {};
  std::ptrdiff_t extent = 0;
  std::size_t elements = 1;  ///< of the type that it is made of
  bool pads = false;         ///< has bytes that may or may not be copied

  std::ptrdiff_t low() const noexcept;
  std::ptrdiff_t high() const noexcept;
  /// Of others the MPIs alone write beyond buffers.
  bool goes_forward() const noexcept { return extent >= 0 && low() >= 0; }
};

/// Datatypes made of one: contiguous ones, and such with gaps and in odd orders.
class shape_family {
public:
  explicit shape_family(std::string_view name, MPI_Datatype element, std::size_t bytes);
  ~shape_family();
  shape_family(const shape_family&) = delete;
  shape_family& operator=(const shape_family&) = delete;

  const std::vector<shape>& all() const noexcept { return all_; }

private:
  void add(const char* name, MPI_Datatype type, std::ptrdiff_t extent,
           const std::vector<int>& places);

  std::string element_;
  std::size_t bytes_;
  std::vector<shape> all_;
};

/// Every predefined datatype that can be moved.
std::vector<shape> predefined_shapes();

/// Blocks that can be cut into whole numbers of any shape of a family have so many elements, or a
/// multiple.
inline constexpr std::size_t common_elements = 6;

}  // namespace muster::testing
