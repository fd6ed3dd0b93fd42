#include "tools/mpi/held_type.hpp"

#include <cstddef>
#include <mutex>
#include <unordered_map>

#include "tools/mpi/next.hpp"

namespace muster::mpi {
namespace {

/// Who holds which. It has a lock of its own: requests that the program leaves behind let go of
/// their types when there is no shim any more.
struct register_of_held {
  struct entry {
    std::size_t holders = 0;
    std::size_t frees = 0;  // put off; MPICH gives one handle for each copy of a type
  };
  std::mutex lock;
  std::unordered_map<MPI_Datatype, entry> all;

  /// Never destroyed, as the MPI may let go of requests at the very end.
  static register_of_held& of_process() {
    static auto& one = *new register_of_held;
    return one;
  }
};

}  // namespace

held_type::held_type(MPI_Datatype of) : type_(of) {
  if (of == MPI_DATATYPE_NULL) return;
  register_of_held& held = register_of_held::of_process();
  const std::lock_guard one_at_a_time(held.lock);
  ++held.all[of].holders;
}

held_type::~held_type() {
  if (type_ == MPI_DATATYPE_NULL) return;
  std::size_t frees = 0;
  {
    register_of_held& held = register_of_held::of_process();
    const std::lock_guard one_at_a_time(held.lock);
    const auto at = held.all.find(type_);
    if (--at->second.holders != 0) return;
    frees = at->second.frees;
    held.all.erase(at);
  }
  static const auto beneath = find_next<decltype(&PMPI_Type_free)>("PMPI_Type_free");
  for (MPI_Datatype one = type_; frees > 0; --frees, one = type_) beneath(&one);
}

bool held_type::puts_off(MPI_Datatype type) {
  register_of_held& held = register_of_held::of_process();
  const std::lock_guard one_at_a_time(held.lock);
  const auto at = held.all.find(type);
  if (at == held.all.end()) return false;
  ++at->second.frees;
  return true;
}

}  // namespace muster::mpi
