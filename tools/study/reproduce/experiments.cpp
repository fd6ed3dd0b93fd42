// The papers' experiments. Sources: Q is Qian 2010 (dissertation), O is Tran et al. on OHIO, K is
// Kumar, Mamidala, Panda 2008, S is Tipparaju, Nieplocha, Panda 2003.

#include <fmt/format.h>

#include "tools/study/reproduce/experiment.hpp"

namespace muster::reproduce {
namespace {

constexpr std::size_t kib = 1024;

std::vector<std::size_t> powers(std::size_t from, std::size_t to, std::size_t factor) {
  std::vector<std::size_t> sizes;
  for (std::size_t bytes = from; bytes <= to; bytes *= factor) sizes.push_back(bytes);
  return sizes;
}

/// Q 6.5: what arrives how late. MVAPICH ran Bruck for short alltoalls and exchanged pair by pair
/// for long ones, and recursive doubling for allgather (Q 5.2, 6.2).
experiment late_alltoall(const std::string& name, const std::string& late) {
  return {.name = "alltoall-" + name,
          .title = "Alltoall, 4 x 4 ranks, " + late,
          .machine = "connectx_ddr",
          .nodes = 4,
          .ranks_a_node = 4,
          .what = collective::alltoall,
          .sizes = powers(8, 1024 * kib, 4),
          .contenders = {{"pap_direct", "pap_direct"},
                         {"pap_shm_direct", "pap_shm_direct"},
                         {"direct", "direct"},
                         {"shm_direct", "leader"},
                         {"bruck (MVAPICH, short)", "bruck"},
                         {"pairwise (MVAPICH, long)", "pairwise"}},
          .late = late,
          .calls = 20};
}
experiment late_allgather(const std::string& name, const std::string& late) {
  return {.name = "allgather-" + name,
          .title = "Allgather, 4 x 4 ranks, " + late,
          .machine = "connectx_ddr",
          .nodes = 4,
          .ranks_a_node = 4,
          .what = collective::allgather,
          .sizes = powers(8, 1024 * kib, 4),
          .contenders = {{"pap_direct", "pap_direct"},
                         {"pap_shm_direct", "pap_shm_direct"},
                         {"direct", "direct"},
                         {"shm_direct", "one_group_multi"},
                         {"recursive_doubling (MVAPICH)", "recursive_doubling"}},
          .late = late,
          .calls = 20};
}

/// Q 5.6 and the paper made of it.
experiment connections() {
  return {.name = "allgather-connections",
          .title = "Allgather over several connections, 4 x 4 ranks",
          .machine = "connectx_ddr",
          .nodes = 4,
          .ranks_a_node = 4,
          .what = collective::allgather,
          .sizes = powers(8, 512 * kib, 2),
          .contenders = {{"gather_multi", "gather_multi"},
                         {"one_group_multi", "one_group_multi"},
                         {"one_group_single", "one_group_single"},
                         {"two_group_multi", "two_group_multi"},
                         {"all_group_multi", "all_group_multi"},
                         {"direct", "direct"},
                         {"recursive_doubling (MVAPICH)", "recursive_doubling"}}};
}

/// Q 3.6, 4.4: two rails, beside Quadrics' own collectives, which used one port, and striped only
/// messages of more than 4 KiB (Q 4.2).
experiment dual_rail(collective what, std::vector<contender> contenders) {
  return {.name = fmt::format("{}-dual-rail", name(what)),
          .title = fmt::format("{}, 4 x 4 ranks, two rails", name(what)),
          .machine = "qsnet2_dual_rail",
          .nodes = 4,
          .ranks_a_node = 4,
          .what = what,
          .sizes = powers(8, 1024 * kib, 2),
          .contenders = std::move(contenders)};
}

/// Q 4.4, beyond the 8 KiB up to which the paper used shared memory (Q 4.3.1). Quadrics' own was a
/// ring there (Q 4.2).
experiment dual_rail_long() {
  experiment result = dual_rail(collective::allgather, {{"direct", "direct"},
                                                        {"bruck", "bruck"},
                                                        {"standard_exchange", "standard_exchange"},
                                                        {"striped ring (native)", "ring"}});
  result.name = "allgather-dual-rail-long";
  result.title = "allgather without shared memory, 4 x 4 ranks, two rails";
  result.sizes = powers(16 * kib, 1024 * kib, 2);
  return result;
}

/// O IV: 56 ranks a node.
experiment at_scale(std::size_t nodes) {
  return {.name = fmt::format("alltoall-{}", nodes * 56),
          .title = fmt::format("Alltoall, {} x 56 ranks", nodes),
          .machine = "hdr100",
          .nodes = nodes,
          .ranks_a_node = 56,
          .what = collective::alltoall,
          .sizes = {16, 64, 256, 1 * kib},
          .contenders = {{"ohio_v1", "ohio_v1"},
                         {"ohio_v2", "ohio_v2"},
                         {"ohio_v3", "ohio_v3"},
                         {"bruck", "bruck"},
                         {"node_aware (Träff)", "node_aware"},
                         {"block_aggregation (Chochia)", "block_aggregation"}},
          .calls = 2};
}

/// K: which scheme suits which interface.
experiment interfaces(const std::string& machine, std::size_t nodes) {
  return {.name = "alltoall-" + machine,
          .title = fmt::format("Alltoall, {} x 8 ranks, {}", nodes, machine),
          .machine = machine,
          .nodes = nodes,
          .ranks_a_node = 8,
          .what = collective::alltoall,
          .sizes = powers(16, 4 * kib, 4),
          .contenders = {{"multicore_groups", "multicore_groups"},
                         {"leader", "leader"},
                         {"direct", "direct"}},
          .calls = 3};
}

/// S 3: shared and remote memory beside trees of messages that ignore nodes.
experiment srm(collective what, const std::string& tree) {
  return {.name = fmt::format("{}-srm", name(what)),
          .title = fmt::format("{}, 16 x 16 ranks", name(what)),
          .machine = "colony",
          .nodes = 16,
          .ranks_a_node = 16,
          .what = what,
          .sizes = what == collective::barrier ? std::vector<std::size_t>{0}
                                               : powers(8, 8 * 1024 * kib, 8),
          .contenders = {{"srm", "srm"}, {"messages", tree}},
          .calls = 3};
}

}  // namespace

std::vector<experiment> experiments() {
  return {
      dual_rail(collective::gather,
                {{"binomial", "binomial"}, {"one-port tree (native)", "binomial:ports=1", true}}),
      dual_rail(collective::allgather,
                {{"direct", "direct"},
                 {"bruck", "bruck"},
                 {"standard_exchange", "standard_exchange"},
                 {"smp_gather_bcast", "smp_gather_bcast"},
                 {"smp_bruck", "smp_bruck"},
                 {"smp_direct", "smp_direct"},
                 {"one-port gather + broadcast (native)", "smp_gather_bcast", true},
                 {"striped gather + broadcast (native, long)", "smp_gather_bcast"}}),
      dual_rail_long(),
      dual_rail(collective::alltoall, {{"direct", "direct"},
                                       {"bruck", "bruck"},
                                       {"standard_exchange", "standard_exchange"},
                                       {"one-port direct (native)", "pairwise", true}}),
      connections(),
      late_alltoall("mif32", "random:mif=32"),
      late_alltoall("mif512", "random:mif=512"),
      late_alltoall("late25", "late:share=25%,mif=128"),
      late_alltoall("late75", "late:share=75%,mif=128"),
      late_allgather("mif32", "random:mif=32"),
      late_allgather("mif512", "random:mif=512"),
      late_allgather("late25", "late:share=25%,mif=128"),
      late_allgather("late75", "late:share=75%,mif=128"),
      at_scale(2),
      at_scale(4),
      at_scale(8),
      at_scale(16),
      interfaces("infinipath", 64),
      interfaces("infinihost3", 64),
      interfaces("connectx_ddr", 4),
      srm(collective::bcast, "binomial"),
      srm(collective::reduce, "binomial"),
      srm(collective::allreduce, "recursive_doubling"),
      srm(collective::barrier, "dissemination"),
  };
}

}  // namespace muster::reproduce
