#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "tools/mpi/device_driver.hpp"

namespace muster::mpi {

/// Where the data of a datatype's elements lies.
class type_map {
public:
  explicit type_map(MPI_Datatype type);

  std::ptrdiff_t extent() const noexcept { return extent_; }
  /// From an element's place to its first byte.
  std::ptrdiff_t low() const noexcept { return low_; }
  /// Adds the stretches of so many elements, the first of which is at `at`; few where they can be
  /// few. \throws error where the MPI does not tell
  void add_strips(std::int64_t elements, std::ptrdiff_t at, std::vector<strip>& to);

private:
  struct run {
    std::ptrdiff_t at;
    std::size_t length;
  };
  const std::vector<run>& runs();
  std::vector<run> find_runs() const;
  bool are_even() const noexcept;
  std::ptrdiff_t distance() const noexcept { return runs_[1].at - runs_[0].at; }

  MPI_Datatype type_;
  std::size_t size_ = 0;
  std::ptrdiff_t extent_ = 0;
  std::ptrdiff_t low_ = 0;
  std::size_t width_ = 0;  // from the first byte to behind the last
  std::vector<run> runs_;
};

/// Those of one call.
class type_maps {
public:
  type_map& find(MPI_Datatype type) { return all_.try_emplace(type, type).first->second; }

private:
  std::unordered_map<MPI_Datatype, type_map> all_;
};

}  // namespace muster::mpi
