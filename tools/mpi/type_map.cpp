#include "tools/mpi/type_map.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include <muster/base/error.hpp>

#include "tools/mpi/pieces.hpp"

namespace muster::mpi {

type_map::type_map(MPI_Datatype type) : type_(type) {
  MPI_Count size = 0;
  MPI_Count lower = 0;
  MPI_Count extent = 0;
  MPI_Count low = 0;
  MPI_Count width = 0;
  PMPI_Type_size_x(type, &size);
  PMPI_Type_get_extent_x(type, &lower, &extent);
  PMPI_Type_get_true_extent_x(type, &low, &width);
  size_ = static_cast<std::size_t>(std::max<MPI_Count>(0, size));
  extent_ = static_cast<std::ptrdiff_t>(extent);
  low_ = static_cast<std::ptrdiff_t>(low);
  width_ = static_cast<std::size_t>(std::max<MPI_Count>(0, width));
}

const std::vector<type_map::run>& type_map::runs() {
  if (runs_.empty() && size_ != 0) runs_ = find_runs();
  return runs_;
}

// Which bytes of an element are data is seen where data is unpacked into nothing.
std::vector<type_map::run> type_map::find_runs() const {
  if (size_ == width_) return {{.at = low_, .length = size_}};
  if (size_ > std::numeric_limits<int>::max()) {
    throw error(errc::invalid_argument, "an element has " + std::to_string(size_) +
                                            " bytes of data with gaps between them; expected no "
                                            "more than int can count");
  }
  const std::vector<unsigned char> data(size_, 1);
  std::vector<unsigned char> element(width_, 0);
  int position = 0;
  require_success(PMPI_Unpack(data.data(), static_cast<int>(size_), &position,
                              reinterpret_cast<void*>(reinterpret_cast<address>(element.data()) -
                                                      static_cast<address>(low_)),
                              1, type_, MPI_COMM_SELF),
                  "MPI_Unpack");
  std::vector<run> all;
  for (auto at = element.begin(); at != element.end();) {
    const auto first = std::find(at, element.end(), 1);
    at = std::find(first, element.end(), 0);
    if (first == at) break;
    all.push_back(
        {.at = low_ + (first - element.begin()), .length = static_cast<std::size_t>(at - first)});
  }
  return all;
}

bool type_map::are_even() const noexcept {
  return std::ranges::adjacent_find(runs_, [this](const run& one, const run& next) {
           return next.length != one.length || next.at - one.at != distance();
         }) == runs_.end();
}

namespace {

/// Drivers count rows' distances in int.
constexpr std::ptrdiff_t most_pitch = std::numeric_limits<int>::max();

}  // namespace

void type_map::add_strips(std::int64_t elements, std::ptrdiff_t at, std::vector<strip>& to) {
  const std::vector<run>& all = runs();
  if (all.empty() || elements <= 0) return;
  const auto count = static_cast<std::size_t>(elements);
  const auto each_element = [&](auto add) {
    for (std::int64_t i = 0; i < elements; ++i) add(at + static_cast<std::ptrdiff_t>(i) * extent_);
  };
  const run& first = all.front();
  if (all.size() == 1 && extent_ == static_cast<std::ptrdiff_t>(first.length)) {
    to.push_back({.at = at + first.at, .width = first.length * count});
    return;
  }
  const bool even = all.size() > 1 && are_even() && distance() <= most_pitch;
  if (even && (count == 1 || extent_ == distance() * static_cast<std::ptrdiff_t>(all.size()))) {
    to.push_back({.at = at + first.at,
                  .width = first.length,
                  .rows = all.size() * count,
                  .pitch = static_cast<std::size_t>(distance())});
  } else if (even && count <= all.size()) {
    each_element([&](std::ptrdiff_t element) {
      to.push_back({.at = element + first.at,
                    .width = first.length,
                    .rows = all.size(),
                    .pitch = static_cast<std::size_t>(distance())});
    });
  } else {
    for (const run& one : all) {
      // Elements may overlap, or follow each other backwards.
      const bool apart = extent_ >= static_cast<std::ptrdiff_t>(one.length);
      if (count == 1 || (apart && extent_ <= most_pitch)) {
        to.push_back({.at = at + one.at,
                      .width = one.length,
                      .rows = count,
                      .pitch = static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, extent_))});
      } else {
        each_element([&](std::ptrdiff_t element) {
          to.push_back({.at = element + one.at, .width = one.length});
        });
      }
    }
  }
}

}  // namespace muster::mpi
