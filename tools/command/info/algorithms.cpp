#include "tools/command/info/algorithms.hpp"

#include <fmt/format.h>

#include <iterator>

#include "tools/command/bench/uniform_blocks.hpp"
#include "tools/command/catalog/catalog.hpp"
#include "tools/command/shared/command_line.hpp"
#include "tools/command/sim/models.hpp"
#include "tools/command/sim/run.hpp"
#include "tools/report/sizes.hpp"

namespace muster::cli {
namespace {

std::string figures_of(const algorithm& row, const costs_of& asked) {
  const even_nodes team{asked.nodes, asked.ranks_a_node};
  arguments call;
  call.what = row.what;
  call.type = datatype::byte;
  call.count = bench::has_sizes(row.what) ? asked.bytes : 0;
  // Where blocks may vary, all are of one length.
  bench::uniform_blocks<std::size_t> blocks;
  blocks.arrange(call.count, team.nodes * team.ranks_a_node);
  const block_layout layout{.counts = blocks.counts(), .displacements = blocks.displacements()};
  if (has_varying_blocks(row.what)) call.send_blocks = call.receive_blocks = &layout;
  const node_cost cost = row.costs(team, call);
  return fmt::format("{} messages, {}, {} connections, {} staged", cost.messages,
                     bench::readable_bytes(cost.bytes), cost.connections,
                     bench::readable_bytes(cost.memory));
}

std::string estimate_of(const algorithm& row, const simulator::job& how, std::size_t bytes) {
  const simulator::result found =
      run_point(how, {row.what, bytes, std::string(row.id)}, [](std::uint64_t) {});
  if (!found.suits) return "does not suit";
  if (!found.has_figures()) return "failed: " + found.failure;
  return bench::readable_time(found.median_us);
}

void add_row(std::string& text, const algorithm& row, const simulator::job& how,
             const costs_of& asked) {
  auto out = std::back_inserter(text);
  const std::size_t bytes = bench::has_sizes(row.what) ? asked.bytes : 0;
  // Local peers are a program's own: there is no call of all programs to simulate.
  const std::string estimate = has_neighbors(row.what) ? "" : estimate_of(row, how, bytes);
  fmt::format_to(out, "  {:<20} {:>14}  {}\n", row.id, estimate, row.summary);
  fmt::format_to(out, "  {:<20} {:>14}  {}; needs {}{}{}\n", "", "", row.source, row.needs,
                 row.has_ports ? "; ports=K" : "", row.has_groups ? "; groups=G" : "");
  if (row.costs == nullptr) return;
  fmt::format_to(out, "  {:<20} {:>14}  {}: {}\n", "", "", row.formula, figures_of(row, asked));
}

}  // namespace

collective parse_collective(const std::string& text) {
  for (std::size_t i = collectives_of_all; i < collectives; ++i) {
    if (name(static_cast<collective>(i)) == text) return static_cast<collective>(i);
  }
  return bench::parse_collective(text);
}

std::string describe_algorithms(const costs_of& asked) {
  simulator::job how;
  how.model = simulator::find_model(asked.machine);
  how.nodes = asked.nodes;
  how.ranks_a_node = asked.ranks_a_node;
  how.calls = 1;
  how.payload = false;
  const catalogs::extended_catalog known(asked.catalog_file);
  how.rows = known.rows();
  std::string text = fmt::format(
      "Algorithms, the preferred first; times and costs of a call of {} (a block, or the vector) "
      "on {} "
      "nodes of {} ranks\nlike {}'s, simulated. Costs are a node's: n nodes of p ranks, blocks of "
      "m "
      "bytes, k ports, g groups.\nMUSTER_ALLTOALL=bruck:ports=2 chooses by hand, and "
      "by(\"bruck:ports=2\", alltoall(...)) for a call.\n",
      bench::readable_bytes(asked.bytes), asked.nodes, asked.ranks_a_node, asked.machine);
  std::optional<collective> last;
  for (const algorithm& row : known.rows()) {
    if (asked.what && row.what != *asked.what) continue;
    if (last != row.what) text += fmt::format("\n{}\n", name(row.what));
    last = row.what;
    add_row(text, row, how, asked);
  }
  return text;
}

}  // namespace muster::cli
