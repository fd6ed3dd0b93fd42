#include "tests/tools/mpi/shapes.hpp"

#include <algorithm>
#include <array>

namespace muster::testing {

std::ptrdiff_t shape::low() const noexcept {
  std::ptrdiff_t least = pieces.front().at;
  for (const piece& one : pieces) least = std::min(least, one.at);
  return least;
}

std::ptrdiff_t shape::high() const noexcept {
  std::ptrdiff_t most = 0;
  for (const piece& one : pieces) {
    most = std::max(most, one.at + static_cast<std::ptrdiff_t>(one.length));
  }
  return most;
}

shape_family::shape_family(std::string_view name, MPI_Datatype element, std::size_t bytes)
    : element_(name), bytes_(bytes) {
  const auto unit = static_cast<MPI_Aint>(bytes);
  MPI_Datatype type = MPI_DATATYPE_NULL;

  MPI_Type_dup(element, &type);
  add("dup", type, 1, {0});

  MPI_Type_contiguous(3, element, &type);
  add("contiguous(3)", type, 3, {0, 1, 2});

  MPI_Type_vector(2, 1, 1, element, &type);
  add("vector without gaps", type, 2, {0, 1});

  MPI_Type_vector(2, 1, 2, element, &type);
  add("vector", type, 3, {0, 2});

  const std::array lengths{2, 1};
  const std::array places{1, 5};
  MPI_Type_indexed(2, lengths.data(), places.data(), element, &type);
  add("indexed", type, 5, {1, 2, 5});

  const std::array backwards{3, 0};
  MPI_Type_create_indexed_block(2, 1, backwards.data(), element, &type);
  add("indexed backwards", type, 4, {3, 0});

  const std::array<MPI_Aint, 2> bytes_at{0, 4 * unit};
  const std::array<MPI_Datatype, 2> both{element, element};
  MPI_Datatype loose = MPI_DATATYPE_NULL;
  MPI_Type_create_struct(2, lengths.data(), bytes_at.data(), both.data(), &loose);
  MPI_Type_create_resized(loose, 0, 6 * unit, &type);
  MPI_Type_free(&loose);
  add("struct", type, 6, {0, 1, 4});

  MPI_Type_create_resized(element, -unit, 3 * unit, &type);
  add("resized", type, 3, {0});

  MPI_Datatype twice = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, type, &twice);
  add("contiguous resized", twice, 6, {0, 3});

  MPI_Type_create_resized(element, 0, -2 * unit, &type);
  add("resized, backwards", type, -2, {0});

  MPI_Type_create_indexed_block(2, 1, backwards.data(), element, &loose);
  MPI_Type_create_resized(loose, 0, -4 * unit, &type);
  MPI_Type_free(&loose);
  add("indexed, backwards", type, -4, {3, 0});

  if (bytes > 1) {  // Open MPI 4.1 does not find all of such bytes
    MPI_Type_vector(3, 1, -1, element, &loose);
    MPI_Type_create_resized(loose, 0, -4 * unit, &type);
    MPI_Type_free(&loose);
    add("vector backwards", type, -4, {0, -1, -2});
  }

  const MPI_Aint before = -2 * unit;
  const int single = 1;
  MPI_Type_create_hindexed(1, &single, &before, element, &loose);
  MPI_Type_create_resized(loose, 0, unit, &type);
  MPI_Type_free(&loose);
  add("before its address", type, 1, {-2});
}

shape_family::~shape_family() {
  for (shape& one : all_) MPI_Type_free(&one.type);
}

void shape_family::add(const char* name, MPI_Datatype type, std::ptrdiff_t extent,
                       const std::vector<int>& places) {
  MPI_Type_commit(&type);
  const auto unit = static_cast<std::ptrdiff_t>(bytes_);
  shape one{.name = element_ + " " + name,
            .type = type,
            .extent = extent * unit,
            .elements = places.size()};
  for (const int place : places) one.pieces.push_back({place * unit, bytes_});
  all_.push_back(std::move(one));
}

std::vector<shape> predefined_shapes() {
  struct named {
    const char* name;
    MPI_Datatype type;
  };
  const named types[] = {
      {"MPI_CHAR", MPI_CHAR},
      {"MPI_SIGNED_CHAR", MPI_SIGNED_CHAR},
      {"MPI_UNSIGNED_CHAR", MPI_UNSIGNED_CHAR},
      {"MPI_BYTE", MPI_BYTE},
      {"MPI_PACKED", MPI_PACKED},
      {"MPI_WCHAR", MPI_WCHAR},
      {"MPI_SHORT", MPI_SHORT},
      {"MPI_UNSIGNED_SHORT", MPI_UNSIGNED_SHORT},
      {"MPI_INT", MPI_INT},
      {"MPI_UNSIGNED", MPI_UNSIGNED},
      {"MPI_LONG", MPI_LONG},
      {"MPI_UNSIGNED_LONG", MPI_UNSIGNED_LONG},
      {"MPI_LONG_LONG", MPI_LONG_LONG},
      {"MPI_UNSIGNED_LONG_LONG", MPI_UNSIGNED_LONG_LONG},
      {"MPI_FLOAT", MPI_FLOAT},
      {"MPI_DOUBLE", MPI_DOUBLE},
      {"MPI_LONG_DOUBLE", MPI_LONG_DOUBLE},
      {"MPI_C_BOOL", MPI_C_BOOL},
      {"MPI_INT8_T", MPI_INT8_T},
      {"MPI_INT16_T", MPI_INT16_T},
      {"MPI_INT32_T", MPI_INT32_T},
      {"MPI_INT64_T", MPI_INT64_T},
      {"MPI_UINT8_T", MPI_UINT8_T},
      {"MPI_UINT16_T", MPI_UINT16_T},
      {"MPI_UINT32_T", MPI_UINT32_T},
      {"MPI_UINT64_T", MPI_UINT64_T},
      {"MPI_AINT", MPI_AINT},
      {"MPI_COUNT", MPI_COUNT},
      {"MPI_OFFSET", MPI_OFFSET},
      {"MPI_C_FLOAT_COMPLEX", MPI_C_FLOAT_COMPLEX},
      {"MPI_C_DOUBLE_COMPLEX", MPI_C_DOUBLE_COMPLEX},
      {"MPI_C_LONG_DOUBLE_COMPLEX", MPI_C_LONG_DOUBLE_COMPLEX},
      {"MPI_CXX_BOOL", MPI_CXX_BOOL},
      {"MPI_CXX_DOUBLE_COMPLEX", MPI_CXX_DOUBLE_COMPLEX},
      {"MPI_2INT", MPI_2INT},
      {"MPI_SHORT_INT", MPI_SHORT_INT},
      {"MPI_LONG_INT", MPI_LONG_INT},
      {"MPI_FLOAT_INT", MPI_FLOAT_INT},
      {"MPI_DOUBLE_INT", MPI_DOUBLE_INT},
      {"MPI_LONG_DOUBLE_INT", MPI_LONG_DOUBLE_INT},
      {"MPI_CHARACTER", MPI_CHARACTER},
      {"MPI_LOGICAL", MPI_LOGICAL},
      {"MPI_INTEGER", MPI_INTEGER},
      {"MPI_REAL", MPI_REAL},
      {"MPI_DOUBLE_PRECISION", MPI_DOUBLE_PRECISION},
      {"MPI_COMPLEX", MPI_COMPLEX},
      {"MPI_DOUBLE_COMPLEX", MPI_DOUBLE_COMPLEX},
      {"MPI_2REAL", MPI_2REAL},
      {"MPI_2INTEGER", MPI_2INTEGER},
      {"MPI_2DOUBLE_PRECISION", MPI_2DOUBLE_PRECISION},
      {"MPI_REAL16", MPI_REAL16},
  };
  std::vector<shape> all;
  for (const auto& [name, type] : types) {
    if (type == MPI_DATATYPE_NULL) continue;
    int bytes = 0;
    MPI_Aint lower = 0;
    MPI_Aint extent = 0;
    MPI_Type_size(type, &bytes);
    MPI_Type_get_extent(type, &lower, &extent);
    if (bytes == 0) continue;
    shape one{.name = name, .type = type, .extent = extent, .pads = bytes != extent};
    if (type == MPI_SHORT_INT) {
      one.pieces = {{0, sizeof(short)}, {sizeof(int), sizeof(int)}};
    } else {
      one.pieces = {{0, static_cast<std::size_t>(bytes)}};
    }
    all.push_back(std::move(one));
  }
  return all;
}

}  // namespace muster::testing
