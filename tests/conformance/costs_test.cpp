// What a row of the catalog says that it costs, held against what the simulator counts.

#include <doctest/doctest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "algos/catalog.hpp"
#include "tools/conformance/findings.hpp"
#include "tools/conformance/random.hpp"
#include "tools/conformance/simulated.hpp"

namespace muster::testing {
namespace {

constexpr std::size_t page = 4096;

/// Messages are counted as the algorithm sends them: none is cut, none goes in place.
simulated even_cluster(const even_nodes& of) {
  simulated in;
  in.model.cluster.nodes = of.nodes;
  in.model.cluster.ranks_a_node = of.ranks_a_node;
  in.model.cluster.cores_a_node = of.ranks_a_node;
  in.options.foreign_from = machine::never;
  return in;
}

/// Of the node that has most of each.
node_cost count(sim::simulation& all, const even_nodes& of) {
  node_cost most;
  for (std::size_t node = 0; node < of.nodes; ++node) {
    node_cost here;
    for (std::size_t i = 0; i < of.ranks_a_node; ++i) {
      const sim::counters& counted = all.rank_at(node * of.ranks_a_node + i).counted();
      here.messages += counted.sends;
      here.bytes += counted.sent_bytes;
      here.connections += counted.connections;
      here.memory += counted.stage_memory;
    }
    most.messages = std::max(most.messages, here.messages);
    most.bytes = std::max(most.bytes, here.bytes);
    most.connections = std::max(most.connections, here.connections);
    most.memory = std::max(most.memory, here.memory);
  }
  return most;
}

std::string text_of(const node_cost& of) {
  return std::to_string(of.messages) + " messages, " + std::to_string(of.bytes) + " bytes, " +
         std::to_string(of.connections) + " connections, " + std::to_string(of.memory) +
         " bytes of memory";
}

/// What all ranks know of a call, and how it is to run.
arguments known_arguments(const spec& call, const block_layout& blocks, const tuning& how) {
  arguments result = bare_arguments(call, 0);
  if (call.what == collective::allgatherv) result.receive_blocks = &blocks;
  result.how = how;
  return result;
}

/// Whether the cost is what the row says, or the row does not run this call.
void check_cost(const algorithm& row, const even_nodes& of, std::size_t block,
                const std::string& choice) {
  const simulated in = even_cluster(of);
  sim::simulation all(in.model, algos::catalog(), in.options);
  team& first = all.rank_at(0).team();
  spec call{row.what, datatype::byte, has_op(row.what) ? reduction::bit_xor : reduction::none,
            block};
  call.seed = derive(block, first.size());  // of lengths that vary
  const placement received_blocks = received(call, first.size(), 0);
  const block_layout blocks = received_blocks.complete();
  const arguments known =
      known_arguments(call, blocks, first.selector().find(row.what, choice).how);
  if (!row.suits(first.shape(), first.machine(), known)) return;
  findings found;
  all.run([&](sim::rank& me) -> task<> {
    me.team().choose(row.what, choice);
    const lateness none = [](random_stream&) -> task<> { co_return; };
    const std::vector<spec> calls = {call};
    co_await make_calls(me.team(), calls, {}, found, none);
  });
  const std::string wrong = found.take();
  CHECK_MESSAGE(wrong.empty(), wrong);
  const node_cost said = row.costs(of, known);
  node_cost counted = count(all, of);
  // Whole pages are counted, of each rank that stages something.
  const bool memory_fits =
      counted.memory >= said.memory && counted.memory <= said.memory + 2 * page * of.ranks_a_node;
  if (said.memory == 0 || memory_fits) counted.memory = said.memory;
  CHECK_MESSAGE(counted == said, name(row.what), " ", choice, ", ", of.nodes, " nodes of ",
                of.ranks_a_node, ", ", block, " bytes: the row says ", text_of(said), "; counted ",
                text_of(counted));
}

TEST_CASE("every formula") {
  constexpr even_nodes shapes[] = {{1, 1}, {1, 4}, {2, 1}, {2, 2}, {3, 2}, {4, 4},
                                   {5, 1}, {5, 3}, {8, 2}, {9, 1}, {16, 1}};
  for (const algorithm& row : tested_rows()) {
    if (row.costs == nullptr) continue;
    for (const even_nodes& of : shapes) {
      for (const std::size_t block : {1, 24, 600}) {
        for (const std::string& choice : choices_of(row)) check_cost(row, of, block, choice);
      }
    }
  }
}

TEST_CASE("allgather on four nodes of four costs what was published") {
  struct published {
    std::string_view id;
    std::size_t connections, blocks_a_message, messages;
  };
  // Qian 2010, table 5.1: concurrent active connections, and 4M_3S, 4M_3C, 4M_3C, 2M_6C, 1M_12C.
  constexpr published table[] = {{"one_group_single", 1, 4, 3},
                                 {"one_group_multi", 3, 4, 3},
                                 {"gather_multi", 3, 4, 3},
                                 {"two_group_multi", 6, 2, 6},
                                 {"all_group_multi", 12, 1, 12}};
  const arguments call =
      known_arguments({collective::allgather, datatype::byte, reduction::none, 100}, {}, {});
  for (const published& each : table) {
    const auto row = std::ranges::find_if(algos::catalog(), [&](const algorithm& one) {
      return one.what == collective::allgather && one.id == each.id;
    });
    const node_cost said = row->costs({4, 4}, call);
    CHECK(said.connections == each.connections);
    CHECK(said.messages == each.messages);
    CHECK(said.bytes == each.messages * each.blocks_a_message * call.bytes());
  }
}

TEST_CASE("whoever says what it costs says it in words, too") {
  for (const algorithm& row : tested_rows()) {
    CHECK_MESSAGE((row.costs == nullptr) == row.formula.empty(), name(row.what), " ", row.id);
  }
}

}  // namespace
}  // namespace muster::testing
