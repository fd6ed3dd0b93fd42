#include <muster/team/topology.hpp>

#include <hwloc.h>

#include <memory>

#include <muster/base/error.hpp>

namespace muster {
namespace {

using topology_handle =
    std::unique_ptr<hwloc_topology,
                    decltype([](hwloc_topology_t t) { hwloc_topology_destroy(t); })>;

topology_handle load() {
  hwloc_topology_t raw = nullptr;
  if (hwloc_topology_init(&raw) != 0) throw error(errc::resource, "hwloc: cannot begin");
  topology_handle handle(raw);
  if (hwloc_topology_load(raw) != 0) {
    throw error(errc::resource, "hwloc: cannot read the topology of this machine");
  }
  return handle;
}

std::uint32_t ancestor(hwloc_topology_t from, hwloc_obj_t of, hwloc_obj_type_t type) {
  const hwloc_obj_t found = hwloc_get_ancestor_obj_by_type(from, type, of);
  return found == nullptr ? place::unknown : found->logical_index;
}

std::uint32_t numa_node(hwloc_obj_t of) {
  const int first = of->nodeset == nullptr ? -1 : hwloc_bitmap_first(of->nodeset);
  return first < 0 ? place::unknown : static_cast<std::uint32_t>(first);
}

using cpuset_handle =
    std::unique_ptr<hwloc_bitmap_s, decltype([](hwloc_bitmap_t set) { hwloc_bitmap_free(set); })>;

/// The processing units that this process is bound to, or all that it may be bound to.
cpuset_handle usable(hwloc_topology_t from, topology::of which) {
  cpuset_handle set(hwloc_bitmap_alloc());
  if (which == topology::of::machine ||
      hwloc_get_cpubind(from, set.get(), HWLOC_CPUBIND_PROCESS) != 0) {
    hwloc_bitmap_copy(set.get(), hwloc_topology_get_allowed_cpuset(from));
  }
  return set;
}

std::uint32_t common(std::uint32_t a, std::uint32_t b) { return a == b ? a : place::unknown; }

}  // namespace

topology topology::read(of which) {
  const topology_handle machine = load();
  hwloc_topology_t raw = machine.get();
  topology result;
  const cpuset_handle allowed = usable(raw, which);
  result.processors_ = static_cast<std::size_t>(hwloc_bitmap_weight(allowed.get()));
  // Machines that report no cores still have processing units.
  const bool has_cores = hwloc_get_nbobjs_by_type(raw, HWLOC_OBJ_CORE) > 0;
  const hwloc_obj_type_t type = has_cores ? HWLOC_OBJ_CORE : HWLOC_OBJ_PU;
  for (hwloc_obj_t obj = hwloc_get_next_obj_by_type(raw, type, nullptr); obj != nullptr;
       obj = hwloc_get_next_obj_by_type(raw, type, obj)) {
    const cpuset_handle mine(hwloc_bitmap_dup(obj->cpuset));
    hwloc_bitmap_and(mine.get(), mine.get(), allowed.get());
    const int processor = hwloc_bitmap_first(mine.get());
    if (processor < 0) continue;
    place where;
    where.package = ancestor(raw, obj, HWLOC_OBJ_PACKAGE);
    where.numa = numa_node(obj);
    where.l3 = ancestor(raw, obj, HWLOC_OBJ_L3CACHE);
    where.core = obj->logical_index;
    result.cores_.push_back({processor, where});
  }
  if (result.cores_.empty()) throw error(errc::resource, "hwloc: found no processor to use");
  return result;
}

place topology::anywhere() const noexcept {
  place shared = cores_.front().where;
  for (const core& each : cores_) {
    shared.package = common(shared.package, each.where.package);
    shared.numa = common(shared.numa, each.where.numa);
    shared.l3 = common(shared.l3, each.where.l3);
    shared.core = common(shared.core, each.where.core);
  }
  return shared;
}

std::vector<place> topology::places(std::size_t ranks, std::size_t nodes, bool bound) const {
  std::vector<place> all;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    place where = bound ? cores_[rank % cores_.size()].where : anywhere();
    where.node = static_cast<std::uint32_t>(rank * nodes / ranks);
    all.push_back(where);
  }
  return all;
}

}  // namespace muster
