#include "tools/mpi/types.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "tools/mpi/combinable.hpp"
#include "tools/mpi/combined_here.hpp"
#include "tools/mpi/next.hpp"

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

/// Nobody can free it, and it is made of no other type.
bool is_predefined(const envelope& of) {
  switch (of.combiner) {
    case MPI_COMBINER_NAMED:
    case MPI_COMBINER_F90_REAL:
    case MPI_COMBINER_F90_COMPLEX:
    case MPI_COMBINER_F90_INTEGER:
      return true;
    default:
      return false;
  }
}
bool is_predefined(MPI_Datatype type) { return is_predefined(envelope(type)); }

/// The type that one of MPI_Type_create_f90_real and its like is combined as; MPI_DATATYPE_NULL
/// where it is none of these.
MPI_Datatype sized_type(MPI_Datatype type) {
  struct row {
    int combiner;
    int bytes;
    MPI_Datatype as;
  };
  static const std::array<row, 10> all{{
      {MPI_COMBINER_F90_INTEGER, 1, MPI_INT8_T},
      {MPI_COMBINER_F90_INTEGER, 2, MPI_INT16_T},
      {MPI_COMBINER_F90_INTEGER, 4, MPI_INT32_T},
      {MPI_COMBINER_F90_INTEGER, 8, MPI_INT64_T},
      {MPI_COMBINER_F90_REAL, 4, MPI_REAL4},
      {MPI_COMBINER_F90_REAL, 8, MPI_REAL8},
      {MPI_COMBINER_F90_REAL, 16, MPI_REAL16},
      {MPI_COMBINER_F90_COMPLEX, 8, MPI_COMPLEX8},
      {MPI_COMBINER_F90_COMPLEX, 16, MPI_COMPLEX16},
      {MPI_COMBINER_F90_COMPLEX, 32, MPI_COMPLEX32},
  }};
  const int combiner = envelope(type).combiner;
  int bytes = 0;
  PMPI_Type_size(type, &bytes);
  for (const row& one : all) {
    if (one.combiner == combiner && one.bytes == bytes) return one.as;
  }
  return MPI_DATATYPE_NULL;
}

/// What a derived type was made of.
class contents {
public:
  explicit contents(MPI_Datatype of) : of_(of) {
    integers_.resize(static_cast<std::size_t>(std::max(1, of_.integers)));
    addresses_.resize(static_cast<std::size_t>(std::max(1, of_.addresses)));
    parts_.resize(static_cast<std::size_t>(of_.datatypes));
    PMPI_Type_get_contents(of, of_.integers, of_.addresses, of_.datatypes, integers_.data(),
                           addresses_.data(), parts_.data());
  }
  ~contents() {
    static const auto free_beneath = find_next<decltype(&PMPI_Type_free)>("PMPI_Type_free");
    for (MPI_Datatype& part : parts_) {
      if (!is_predefined(part)) free_beneath(&part);
    }
  }
  contents(const contents&) = delete;
  contents& operator=(const contents&) = delete;

  int combiner() const { return of_.combiner; }
  /// The type that its blocks are of; of a struct, the first one's.
  MPI_Datatype base() const { return parts_.front(); }

  /// Calls `visit(length, displacement, in_bytes, type)` for each block of an indexed type or a
  /// struct, as long as it says true; whether it always did.
  template <class Visit>
  bool all_blocks(Visit visit) const {
    const int blocks = integers_[0];
    for (int i = 0; i < blocks; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const auto after = static_cast<std::size_t>(blocks + i);
      bool holds = false;
      switch (of_.combiner) {
        case MPI_COMBINER_INDEXED:
          holds = visit(integers_[1 + at], integers_[1 + after], false, base());
          break;
        case MPI_COMBINER_HINDEXED:
          holds = visit(integers_[1 + at], addresses_[at], true, base());
          break;
        case MPI_COMBINER_INDEXED_BLOCK:
          holds = visit(integers_[1], integers_[2 + at], false, base());
          break;
        case MPI_COMBINER_HINDEXED_BLOCK:
          holds = visit(integers_[1], addresses_[at], true, base());
          break;
        case MPI_COMBINER_STRUCT:
          holds = visit(integers_[1 + at], addresses_[at], true, parts_[at]);
          break;
        default:
          break;
      }
      if (!holds) return false;
    }
    return true;
  }

private:
  envelope of_;
  std::vector<int> integers_;
  std::vector<MPI_Aint> addresses_;
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

/// Not so for those of a language that this MPI was built without.
bool exists(MPI_Datatype type) { return type != MPI_DATATYPE_NULL && bounds_of(type).size != 0; }

bool is_contiguous(MPI_Datatype type);

/// Whether blocks follow each other from the address on.
bool has_blocks_in_order(const contents& of) {
  MPI_Count next = 0;
  return of.all_blocks([&](MPI_Count length, MPI_Count at, bool in_bytes, MPI_Datatype type) {
    const bounds one = bounds_of(type);
    if (length * one.size == 0) return true;
    if (at * (in_bytes ? 1 : one.extent) != next || !is_contiguous(type)) return false;
    next += length * one.size;
    return true;
  });
}

/// Whether data lies in order and without gaps. Of what is made in more complicated ways it may say
/// no where it could say yes: such elements are packed, and nothing else depends on it.
bool is_contiguous(MPI_Datatype type) {
  const bounds of = bounds_of(type);
  if (of.lower != 0 || of.extent != of.size) return false;
  const envelope has(type);
  if (is_predefined(has)) return true;
  if (has.combiner == MPI_COMBINER_DUP) return is_contiguous(contents(type).base());
  // Of types with large counts MPI-4 tells no contents in this way.
  if (has.integers + has.addresses == 0) return false;
  switch (has.combiner) {
    case MPI_COMBINER_CONTIGUOUS:
    case MPI_COMBINER_VECTOR:
    case MPI_COMBINER_HVECTOR:
    case MPI_COMBINER_RESIZED:
      // Blocks that fill the extent leave nothing between each other.
      return is_contiguous(contents(type).base());
    case MPI_COMBINER_INDEXED:
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
    case MPI_COMBINER_STRUCT:
      return has_blocks_in_order(contents(type));
    default:
      return false;
  }
}

type_facts facts_of(MPI_Datatype type) {
  const bounds of = bounds_of(type);
  MPI_Count first = 0;
  MPI_Count spans = 0;
  PMPI_Type_get_true_extent_x(type, &first, &spans);
  return {.size = static_cast<std::size_t>(std::max<MPI_Count>(0, of.size)),
          .extent = of.extent,
          .first = first,
          .end = first + spans,
          .contiguous = is_contiguous(type),
          .ops = {},
          .stays = is_predefined(type)};
}

}  // namespace

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

elements fortran_logical(MPI_Datatype type) {
  if (!exists(type)) return elements::of_mpi;
  const std::int64_t yes = 1;
  std::int64_t answer = 0;
  PMPI_Reduce_local(&yes, &answer, 1, type, MPI_LOR);
  return answer == yes ? elements::of_muster : elements::of_mpi;
}

types::types() {
  for (const combinable& one : combinable_types()) add(one);
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

void types::add(const combinable& one) {
  if (!exists(one.type)) return;
  type_facts facts = facts_of(one.type);
  facts.ops = one.ops;
  facts.known_by = one.known_by;
  facts.as = one.as;
  // Where the sizes differ it is not what its name says, and only the MPI knows what it is.
  if (facts.extent != static_cast<std::int64_t>(extent_of(one.known_by, one.as))) {
    facts.known_by = elements::of_mpi;
  }
  predefined_.try_emplace(one.type, facts);
}

const type_facts& types::find_again(MPI_Datatype type) {
  const type_facts* facts = nullptr;
  if (const auto at = predefined_.find(type); at != predefined_.end()) {
    facts = &at->second;
  } else if (is_predefined(type)) {
    const auto like = predefined_.find(sized_type(type));
    const type_facts own = like == predefined_.end() ? facts_of(type) : like->second;
    facts = &predefined_.try_emplace(type, own).first->second;
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
  if (all != nullptr) all->deferred_.add(std::move(own));
  return MPI_SUCCESS;
}

void types::reap() {
  for (const auto& facts : deferred_.take()) last_.forget(*facts);
}

}  // namespace muster::mpi
