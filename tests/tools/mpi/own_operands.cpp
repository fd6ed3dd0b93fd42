#include <cstdlib>
#include <sstream>

#include "tests/tools/mpi/operands.hpp"

namespace muster::testing {
namespace {

/// x -> slope * x + offset, modulo a prime: composing such functions is associative and does not
/// commute.
struct affine {
  std::uint32_t slope = 1;
  std::uint32_t offset = 0;

  bool operator==(const affine&) const = default;
};
constexpr std::uint64_t prime = 65521;

affine composed(const affine& a, const affine& b) {
  const std::uint64_t slope = std::uint64_t{a.slope} * b.slope % prime;
  const std::uint64_t offset = (std::uint64_t{a.slope} * b.offset + a.offset) % prime;
  return {static_cast<std::uint32_t>(slope), static_cast<std::uint32_t>(offset)};
}

/// The same, between bytes that are no data.
struct spaced {
  std::uint32_t before;
  affine value;
  std::uint32_t after;
};

std::uint32_t combined_modulo(std::uint32_t a, std::uint32_t b) {
  return static_cast<std::uint32_t>((std::uint64_t{a} + b) % prime);
}

/// What MPI hands to an operation must be of the type that the program named.
void require_extent(MPI_Datatype type, std::size_t extent) {
  MPI_Aint lower = 0;
  MPI_Aint is = 0;
  MPI_Type_get_extent(type, &lower, &is);
  if (is != static_cast<MPI_Aint>(extent)) std::abort();
}

void compose_all(void* in, void* inout, int* length, MPI_Datatype* type) {
  require_extent(*type, sizeof(affine));
  const auto* left = static_cast<const affine*>(in);
  auto* right = static_cast<affine*>(inout);
  for (int i = 0; i < *length; ++i) right[i] = composed(left[i], right[i]);
}

void compose_spaced(void* in, void* inout, int* length, MPI_Datatype* type) {
  require_extent(*type, sizeof(spaced));
  const auto* left = static_cast<const spaced*>(in);
  auto* right = static_cast<spaced*>(inout);
  for (int i = 0; i < *length; ++i) right[i].value = composed(left[i].value, right[i].value);
}

void add_modulo(void* in, void* inout, int* length, MPI_Datatype* type) {
  require_extent(*type, sizeof(std::uint32_t));
  const auto* left = static_cast<const std::uint32_t*>(in);
  auto* right = static_cast<std::uint32_t*>(inout);
  for (int i = 0; i < *length; ++i) right[i] = combined_modulo(left[i], right[i]);
}

void take_first(void* in, void* inout, int* length, MPI_Datatype* type) {
  require_extent(*type, sizeof(int));
  const auto* left = static_cast<const int*>(in);
  auto* right = static_cast<int*>(inout);
  for (int i = 0; i < *length; ++i) right[i] = left[i];
}

affine function_of(std::uint64_t key) {
  return {static_cast<std::uint32_t>(key % (prime - 1) + 1),
          static_cast<std::uint32_t>(key / prime % prime)};
}

std::string shown(const affine& one) {
  std::ostringstream text;
  text << one.slope << " x + " << one.offset;
  return text.str();
}

template <class T>
operands described(const char* name, MPI_Datatype type, MPI_Op op, T (*contribution)(std::uint64_t),
                   T (*combined)(T, T), std::string (*show)(T)) {
  return {
      .name = name,
      .type = type,
      .op = op,
      .extent = sizeof(T),
      .contribute = [=](void* to, std::uint64_t key) { *static_cast<T*>(to) = contribution(key); },
      .combine =
          [=](void* left, const void* right) {
            T& into = *static_cast<T*>(left);
            into = combined(into, *static_cast<const T*>(right));
          },
      .same =
          [](const void* is, const void* expected) {
            return *static_cast<const T*>(is) == *static_cast<const T*>(expected);
          },
      .show = [=](const void* one) { return show(*static_cast<const T*>(one)); }};
}

operands described_spaced(const char* name, MPI_Datatype type, MPI_Op op) {
  return {
      .name = name,
      .type = type,
      .op = op,
      .extent = sizeof(spaced),
      .contribute = [](void* to,
                       std::uint64_t key) { static_cast<spaced*>(to)->value = function_of(key); },
      .combine =
          [](void* left, const void* right) {
            affine& into = static_cast<spaced*>(left)->value;
            into = composed(into, static_cast<const spaced*>(right)->value);
          },
      .same =
          [](const void* is, const void* expected) {
            return static_cast<const spaced*>(is)->value ==
                   static_cast<const spaced*>(expected)->value;
          },
      .show = [](const void* one) { return shown(static_cast<const spaced*>(one)->value); }};
}

}  // namespace

own_operands::own_operands() {
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Type_contiguous(2, MPI_UINT32_T, &type);
  const MPI_Datatype pair = keep(type);
  MPI_Datatype loose = MPI_DATATYPE_NULL;
  const int length = 2;
  const MPI_Aint place = offsetof(spaced, value);
  MPI_Type_create_hindexed(1, &length, &place, MPI_UINT32_T, &loose);
  MPI_Type_create_resized(loose, 0, sizeof(spaced), &type);
  MPI_Type_free(&loose);
  const MPI_Datatype with_gaps = keep(type);

  all_.push_back(described<std::uint32_t>(
      "sum modulo a prime", MPI_UINT32_T, keep(add_modulo, true),
      [](std::uint64_t key) { return static_cast<std::uint32_t>(key % prime); },
      [](std::uint32_t a, std::uint32_t b) { return combined_modulo(a, b); },
      [](std::uint32_t one) { return std::to_string(one); }));
  all_.push_back(described<int>(
      "the first, which does not commute", MPI_INT, keep(take_first, false),
      [](std::uint64_t key) { return static_cast<int>(key); }, [](int a, int) { return a; },
      [](int one) { return std::to_string(one); }));
  all_.push_back(described<affine>(
      "composition, which does not commute", pair, keep(compose_all, false), function_of,
      [](affine a, affine b) { return composed(a, b); }, [](affine one) { return shown(one); }));
  all_.push_back(described_spaced("composition of elements with gaps", with_gaps,
                                  keep(compose_spaced, false)));
}

MPI_Op own_operands::keep(MPI_User_function* function, bool commutes) {
  MPI_Op op = MPI_OP_NULL;
  MPI_Op_create(function, commutes ? 1 : 0, &op);
  ops_.push_back(op);
  return op;
}

MPI_Datatype own_operands::keep(MPI_Datatype type) {
  MPI_Type_commit(&type);
  types_.push_back(type);
  return type;
}

own_operands::~own_operands() {
  for (MPI_Op& op : ops_) MPI_Op_free(&op);
  for (MPI_Datatype& type : types_) MPI_Type_free(&type);
}

}  // namespace muster::testing
