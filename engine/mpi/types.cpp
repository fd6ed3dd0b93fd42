#include "engine/mpi/types.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <utility>
#include <vector>

namespace muster::mpi {
namespace {

struct envelope {
  explicit envelope(MPI_Datatype of) {
    PMPI_Type_get_envelope(of, &integers, &addresses, &datatypes, &combiner);
  }
  int integers = 0;
  int addresses = 0;
  int datatypes = 0;
  int combiner = MPI_COMBINER_NAMED;
};

/// Nobody can free it.
bool is_predefined(MPI_Datatype type) { return envelope(type).combiner == MPI_COMBINER_NAMED; }

/// The type that a derived one is made of; of one with many, the first.
class base_type {
public:
  explicit base_type(MPI_Datatype of) {
    const envelope has(of);
    std::vector<int> integers(static_cast<std::size_t>(std::max(1, has.integers)));
    std::vector<MPI_Aint> addresses(static_cast<std::size_t>(std::max(1, has.addresses)));
    parts_.resize(static_cast<std::size_t>(has.datatypes));
    PMPI_Type_get_contents(of, has.integers, has.addresses, has.datatypes, integers.data(),
                           addresses.data(), parts_.data());
  }
  ~base_type() {
    for (MPI_Datatype& part : parts_) {
      if (!is_predefined(part)) PMPI_Type_free(&part);
    }
  }
  base_type(const base_type&) = delete;
  base_type& operator=(const base_type&) = delete;

  MPI_Datatype get() const { return parts_.front(); }

private:
  std::vector<MPI_Datatype> parts_;
};

struct bounds {
  MPI_Count size = 0;
  MPI_Count lower = 0;
  MPI_Count extent = 0;
};

bounds bounds_of(MPI_Datatype type) {
  bounds of;
  PMPI_Type_size_x(type, &of.size);
  PMPI_Type_get_extent_x(type, &of.lower, &of.extent);
  return of;
}

/// Whether data lies in order and without gaps. Of what is made in more complicated ways it may say
/// no where it could say yes: such elements are packed.
bool is_contiguous(MPI_Datatype type) {
  const bounds of = bounds_of(type);
  if (of.lower != 0 || of.extent != of.size) return false;
  const envelope has(type);
  // Of types with large counts MPI-4 tells no contents in this way.
  const bool tells = has.integers + has.addresses > 0;
  switch (has.combiner) {
    case MPI_COMBINER_NAMED:
      return true;
    case MPI_COMBINER_DUP:
      return is_contiguous(base_type(type).get());
    case MPI_COMBINER_CONTIGUOUS:
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
    case MPI_COMBINER_RESIZED:
      // Blocks that fill the extent leave nothing between each other.
      return tells && is_contiguous(base_type(type).get());
    default:
      return false;
  }
}

type_facts facts_of(MPI_Datatype type) {
  const bounds of = bounds_of(type);
  return {.size = static_cast<std::size_t>(std::max<MPI_Count>(0, of.size)),
          .extent = static_cast<std::size_t>(std::max<MPI_Count>(0, of.extent)),
          .contiguous = is_contiguous(type),
          .stays = is_predefined(type)};
}

}  // namespace

kept_type::kept_type(MPI_Datatype of) : type_(of) {
  if (of == MPI_DATATYPE_NULL || is_predefined(of)) return;
  is_own_ = PMPI_Type_dup(of, &type_) == MPI_SUCCESS;
}

kept_type::~kept_type() {
  if (is_own_) PMPI_Type_free(&type_);
}

reduction reduction_of(MPI_Op op) noexcept {
  static const std::array<std::pair<MPI_Op, reduction>, 14> all{{
      {MPI_SUM, reduction::sum},
      {MPI_PROD, reduction::product},
      {MPI_MIN, reduction::min},
      {MPI_MAX, reduction::max},
      {MPI_LAND, reduction::logical_and},
      {MPI_LOR, reduction::logical_or},
      {MPI_LXOR, reduction::logical_xor},
      {MPI_BAND, reduction::bit_and},
      {MPI_BOR, reduction::bit_or},
      {MPI_BXOR, reduction::bit_xor},
      {MPI_MINLOC, reduction::minloc},
      {MPI_MAXLOC, reduction::maxloc},
      {MPI_REPLACE, reduction::none},
      {MPI_NO_OP, reduction::none},
  }};
  for (const auto& [theirs, ours] : all) {
    if (theirs == op) return ours;
  }
  return reduction::custom;
}

bool has(const type_facts& type, reduction op) noexcept {
  using enum reduction;
  switch (type.kind) {
    case elements::known:
      return supports(op, type.as);
    case elements::bytes:
      return op == bit_and || op == bit_or || op == bit_xor;
    case elements::real:
      return op == sum || op == product || op == min || op == max;
    case elements::complex:
      return op == sum || op == product;
    case elements::logical:
      return op == logical_and || op == logical_or || op == logical_xor;
    case elements::pair:
      return op == minloc || op == maxloc;
    case elements::opaque:
      return false;
  }
  return false;
}

types::types() {
  using enum elements;
  const std::array<std::pair<MPI_Datatype, datatype>, 45> numbers{{
      {MPI_SIGNED_CHAR, datatype::int8},
      {MPI_UNSIGNED_CHAR, datatype::uint8},
      {MPI_SHORT, datatype::int16},
      {MPI_UNSIGNED_SHORT, datatype::uint16},
      {MPI_INT, datatype::int32},
      {MPI_UNSIGNED, datatype::uint32},
      {MPI_LONG, datatype::int64},
      {MPI_UNSIGNED_LONG, datatype::uint64},
      {MPI_LONG_LONG, datatype::int64},
      {MPI_UNSIGNED_LONG_LONG, datatype::uint64},
      {MPI_FLOAT, datatype::float32},
      {MPI_DOUBLE, datatype::float64},
      {MPI_INT8_T, datatype::int8},
      {MPI_UINT8_T, datatype::uint8},
      {MPI_INT16_T, datatype::int16},
      {MPI_UINT16_T, datatype::uint16},
      {MPI_INT32_T, datatype::int32},
      {MPI_UINT32_T, datatype::uint32},
      {MPI_INT64_T, datatype::int64},
      {MPI_UINT64_T, datatype::uint64},
      {MPI_AINT, datatype::int64},
      {MPI_OFFSET, datatype::int64},
      {MPI_COUNT, datatype::int64},
      {MPI_C_BOOL, datatype::boolean},
      {MPI_CXX_BOOL, datatype::boolean},
      {MPI_C_FLOAT_COMPLEX, datatype::complex64},
      {MPI_C_DOUBLE_COMPLEX, datatype::complex128},
      {MPI_CXX_FLOAT_COMPLEX, datatype::complex64},
      {MPI_CXX_DOUBLE_COMPLEX, datatype::complex128},
      {MPI_INTEGER, datatype::int32},
      {MPI_INTEGER1, datatype::int8},
      {MPI_INTEGER2, datatype::int16},
      {MPI_INTEGER4, datatype::int32},
      {MPI_INTEGER8, datatype::int64},
      {MPI_REAL, datatype::float32},
      {MPI_REAL4, datatype::float32},
      {MPI_REAL8, datatype::float64},
      {MPI_DOUBLE_PRECISION, datatype::float64},
      {MPI_COMPLEX, datatype::complex64},
      {MPI_DOUBLE_COMPLEX, datatype::complex128},
      {MPI_2INT, datatype::int32_indexed},
      {MPI_SHORT_INT, datatype::int16_indexed},
      {MPI_LONG_INT, datatype::int64_indexed},
      {MPI_FLOAT_INT, datatype::float32_indexed},
      {MPI_DOUBLE_INT, datatype::float64_indexed},
  }};
  for (const auto& [theirs, ours] : numbers) add(theirs, known, ours);
  add(MPI_2INTEGER, known, datatype::int32_indexed);
  add(MPI_COMPLEX8, known, datatype::complex64);
  add(MPI_COMPLEX16, known, datatype::complex128);
  add(MPI_BYTE, bytes, datatype::uint8);
  add(MPI_LONG_DOUBLE, real);
  add(MPI_C_LONG_DOUBLE_COMPLEX, complex);
  add(MPI_CXX_LONG_DOUBLE_COMPLEX, complex);
  add(MPI_LOGICAL, logical);
  for (const MPI_Datatype one : {MPI_LONG_DOUBLE_INT, MPI_2REAL, MPI_2DOUBLE_PRECISION}) {
    add(one, pair);
  }
  PMPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, forget, &keyval_, nullptr);
  // release: what it is made of, for whichever thread frees a type.
  living().store(this, std::memory_order_release);
}

types::~types() {
  living().store(nullptr, std::memory_order_relaxed);
  PMPI_Type_free_keyval(&keyval_);
}

std::atomic<types*>& types::living() noexcept {
  static std::atomic<types*> one{nullptr};
  return one;
}

void types::add(MPI_Datatype type, elements kind, datatype as) {
  if (type == MPI_DATATYPE_NULL) return;  // of a language that this MPI was built without
  type_facts facts = facts_of(type);
  facts.kind = kind;
  facts.as = as;
  // Where the sizes differ it is not what its name says, and nothing is known of it.
  if (kind == elements::known && facts.extent != size_of(as)) facts.kind = elements::opaque;
  predefined_.try_emplace(type, facts);
}

const type_facts& types::find_again(MPI_Datatype type) {
  const type_facts* facts = nullptr;
  if (const auto at = predefined_.find(type); at != predefined_.end()) {
    facts = &at->second;
  } else if (is_predefined(type)) {
    facts = &predefined_.try_emplace(type, facts_of(type)).first->second;
  } else {
    void* kept = nullptr;
    int is_kept = 0;
    PMPI_Type_get_attr(type, keyval_, &kept, &is_kept);
    if (is_kept == 0) {
      auto own = std::make_unique<type_facts>(facts_of(type));
      PMPI_Type_set_attr(type, keyval_, own.get());
      kept = own.release();
    }
    facts = static_cast<const type_facts*>(kept);
  }
  last_.keep(type, *facts);
  return *facts;
}

int types::forget(MPI_Datatype, int, void* facts, void*) {
  std::unique_ptr<const type_facts> own(static_cast<const type_facts*>(facts));
  types* const all = living().load(std::memory_order_acquire);
  if (all != nullptr) all->gone_.add(std::move(own));
  return MPI_SUCCESS;
}

void types::bury() {
  for (const auto& facts : gone_.take()) last_.forget(*facts);
}

}  // namespace muster::mpi
