#include <fmt/format.h>

#include "tools/reproduce/claim.hpp"

namespace muster::reproduce {
namespace {

using kind = claim::kind;

constexpr std::size_t kib = 1024;
constexpr std::size_t largest = 8192 * kib;

// Why claims do not come out, as far as it is known.
constexpr const char* unexplained = "not explained yet";
constexpr const char* no_hardware_broadcast =
    "The network broadcasts in hardware, which the paper's smp_gather_bcast and the native "
    "allgather use; here both broadcast over a tree.";
constexpr const char* puts_on_both_sides =
    "The paper measured beside MPI libraries; here both sides use the same puts, and the library's "
    "own matching, protocols and copies cost nothing.";
constexpr const char* same_messages =
    "Both send the same messages; they differ in the receive buffer, which the simulated caches "
    "hold "
    "but for the largest.";
constexpr const char* no_steps =
    "Leaders of node_aware and block_aggregation send to all nodes as soon as they can; those of "
    "OHIO exchange step by step, as its pseudocode does, and wake their neighbours in each.";

void add_dual_rail(std::vector<claim>& all) {
  all.push_back({.what = kind::factor,
                 .source = "Q 3.6",
                 .says = "gather over two ports is ahead of the native one-port tree at 4 KiB",
                 .experiment = "gather-dual-rail",
                 .winner = "binomial",
                 .other = "one-port tree (native)",
                 .from = 4 * kib,
                 .least = 2.15});
  all.push_back({.what = kind::factor,
                 .source = "Q 3.6",
                 .says = "allgather direct over two ports is ahead of the native one at 32 KiB",
                 .experiment = "allgather-dual-rail",
                 .winner = "direct",
                 .other = "one-port gather + broadcast (native)",
                 .from = 32 * kib,
                 .least = 1.49,
                 .reason = no_hardware_broadcast});
  all.push_back({.what = kind::factor,
                 .source = "Q 3.6",
                 .says = "alltoall direct over two ports is ahead of the native one at 2 KiB",
                 .experiment = "alltoall-dual-rail",
                 .winner = "direct",
                 .other = "one-port direct (native)",
                 .from = 2 * kib,
                 .least = 2.26});
  all.push_back({.what = kind::factor,
                 .source = "Q 4.4",
                 .says = "smp_bruck is ahead of the native allgather at 4 KiB",
                 .experiment = "allgather-dual-rail",
                 .winner = "smp_bruck",
                 .other = "one-port gather + broadcast (native)",
                 .from = 4 * kib,
                 .least = 1.96,
                 .reason = no_hardware_broadcast});
  all.push_back({.what = kind::best,
                 .source = "Q 4.4",
                 .says = "smp_gather_bcast is the best allgather of the shortest",
                 .experiment = "allgather-dual-rail",
                 .winner = "smp_gather_bcast",
                 .from = 8,
                 .to = 256,
                 .reason = no_hardware_broadcast});
  all.push_back({.what = kind::best,
                 .source = "Q 4.4",
                 .says = "smp_bruck is the best allgather of middling lengths",
                 .experiment = "allgather-dual-rail",
                 .winner = "smp_bruck",
                 .from = 512,
                 .to = 8 * kib});
  all.push_back({.what = kind::best,
                 .source = "Q 4.4",
                 .says = "direct is the best allgather of long messages",
                 .experiment = "allgather-dual-rail",
                 .winner = "direct",
                 .from = 16 * kib,
                 .to = largest});
}

void add_connections(std::vector<claim>& all) {
  const auto best = [&](const char* winner, std::size_t from, std::size_t to) {
    all.push_back({.what = kind::best,
                   .source = "Q 5.6",
                   .says = fmt::format("{} is the best allgather", winner),
                   .experiment = "allgather-connections",
                   .winner = winner,
                   .from = from,
                   .to = to});
  };
  best("gather_multi", 8, 32);
  best("one_group_multi", 64, 2 * kib);
  best("two_group_multi", 4 * kib, 64 * kib);
  best("direct", 128 * kib, largest);
}

void add_late_factors(std::vector<claim>& all, const std::string& what, const std::string& other,
                      const std::string& short_other, std::size_t shortest, double direct_32,
                      double shm_32, double direct_512, double shm_512) {
  const auto factor = [&](const char* winner, const std::string& than, const char* mif,
                          std::size_t bytes, double least) {
    all.push_back(
        {.what = kind::factor,
         .source = what == "alltoall" ? "Q 6.5.1" : "Q 6.5.2",
         .says = fmt::format("{}, MIF {}: {} is ahead of the library's", what, mif, winner),
         .experiment = fmt::format("{}-mif{}", what, mif),
         .winner = winner,
         .other = than,
         .from = bytes,
         .least = least,
         .reason = puts_on_both_sides});
  };
  factor("pap_direct", other, "32", 8 * kib, direct_32);
  factor("pap_shm_direct", short_other, "32", shortest, shm_32);
  factor("pap_direct", other, "512", 8 * kib, direct_512);
  factor("pap_shm_direct", short_other, "512", shortest, shm_512);
}

void add_late_orders(std::vector<claim>& all, const std::string& what) {
  const auto ahead = [&](const char* winner, const char* other, const char* late, double least) {
    all.push_back({.what = kind::ahead,
                   .source = "Q 6.5",
                   .says = fmt::format("{}, {}: {} is ahead of {}", what, late, winner, other),
                   .experiment = fmt::format("{}-{}", what, late),
                   .winner = winner,
                   .other = other,
                   .from = 1,
                   .to = largest,
                   .least = least});
  };
  for (const char* late : {"mif32", "mif512", "late25"}) {
    ahead("pap_direct", "direct", late, 1);
    ahead("pap_shm_direct", "shm_direct", late, 1);
  }
  ahead("pap_direct", "direct", "late75", 0.5);
  ahead("pap_shm_direct", "shm_direct", "late75", 0.5);
}

void add_scale(std::vector<claim>& all) {
  for (const std::size_t ranks : {112, 224, 448, 896}) {
    const std::string in = fmt::format("alltoall-{}", ranks);
    const auto ahead = [&](const char* winner, const char* other) {
      all.push_back(
          {.what = kind::ahead,
           .source = "O IV",
           .says = fmt::format("alltoall of {} ranks: {} is ahead of {}", ranks, winner, other),
           .experiment = in,
           .winner = winner,
           .other = other,
           .from = 1,
           .to = largest,
           .reason = same_messages});
    };
    const auto saves = [&](const char* other, double least, double most) {
      all.push_back({.what = kind::saving,
                     .source = "O IV",
                     .says = fmt::format("alltoall of {} ranks: ohio_v3 takes less time than {}",
                                         ranks, other),
                     .experiment = in,
                     .winner = "ohio_v3",
                     .other = other,
                     .from = 1,
                     .to = largest,
                     .least = least,
                     .most = most,
                     .on_average = true,
                     .reason = no_steps});
    };
    ahead("ohio_v2", "ohio_v1");
    ahead("ohio_v3", "ohio_v2");
    saves("bruck", 0.40, 0.50);
    saves("node_aware (Träff)", 0.09, 0.15);
    saves("block_aggregation (Chochia)", 0.09, 0.15);
  }
}

void add_interfaces(std::vector<claim>& all) {
  const auto ahead = [&](const char* machine, const char* winner, const char* other) {
    all.push_back({.what = kind::ahead,
                   .source = "K",
                   .says = fmt::format("alltoall, {}: {} is ahead of {}", machine, winner, other),
                   .experiment = fmt::format("alltoall-{}", machine),
                   .winner = winner,
                   .other = other,
                   .from = 1,
                   .to = largest});
  };
  ahead("infinipath", "multicore_groups", "leader");
  ahead("infinipath", "leader", "direct");
  ahead("infinihost3", "leader", "multicore_groups");
  ahead("connectx_ddr", "multicore_groups", "leader");
  all.push_back({.what = kind::saving,
                 .source = "K",
                 .says = "alltoall, infinipath: multicore_groups takes up to 55 % less time",
                 .experiment = "alltoall-infinipath",
                 .winner = "multicore_groups",
                 .other = "direct",
                 .from = 512,
                 .to = 1 * kib,
                 .least = 0.55,
                 .most = 0.55,
                 .on_average = true});
}

void add_srm(std::vector<claim>& all) {
  const auto saves = [&](const char* what, double least, double most) {
    all.push_back(
        {.what = kind::saving,
         .source = "S 3",
         .says = fmt::format("{} of 256 ranks takes less time than message passing", what),
         .experiment = fmt::format("{}-srm", what),
         .winner = "srm",
         .other = "messages",
         .from = 0,
         .to = largest,
         .least = least,
         .most = most});
  };
  saves("bcast", 0.27, 0.84);
  saves("reduce", 0.24, 0.79);
  saves("allreduce", 0.30, 0.73);
  saves("barrier", 0.73, 0.73);
}

}  // namespace

std::vector<claim> claims() {
  std::vector<claim> all;
  add_dual_rail(all);
  add_connections(all);
  // The paper's shortest messages are of 4 bytes and of 1; here of 8.
  add_late_factors(all, "alltoall", "pairwise (MVAPICH, long)", "bruck (MVAPICH, short)", 8, 3.1,
                   3.5, 1.5, 1.2);
  add_late_orders(all, "alltoall");
  add_late_factors(all, "allgather", "recursive_doubling (MVAPICH)", "recursive_doubling (MVAPICH)",
                   8, 3.1, 2.5, 1.3, 1.2);
  add_late_orders(all, "allgather");
  add_scale(all);
  add_interfaces(all);
  add_srm(all);
  for (claim& one : all) {
    if (one.reason.empty()) one.reason = unexplained;
  }
  return all;
}

}  // namespace muster::reproduce
