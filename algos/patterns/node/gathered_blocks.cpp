#include "algos/patterns/node/gathered_blocks.hpp"

#include "algos/patterns/arrival/arrival_notes.hpp"

#include <algorithm>

#include "algos/patterns/node/copy_runs.hpp"

namespace muster::algos {

task<> gathered_blocks::share_own() {
  co_await me.copy(slots.of_rank(shared, me.rank()), call.own_block(me.rank()));
  filled.post(0);
}

task<> gathered_blocks::copy_out(std::size_t node) {
  const auto ranks = me.shape().ranks_of(node);
  return unpack(me, of_node(node), ranks.size(),
                [this, ranks](std::size_t i) { return call.received_from(ranks[i]); });
}

task<> gathered_blocks::copy_out_own_node() {
  co_await filled.all_here(0);
  co_await copy_out(here());
}

task<> gathered_blocks::copy_out_other_nodes() {
  for (std::size_t step = 1; step < nodes(); ++step) co_await copy_out(node_ahead(step));
}

task<> gathered_blocks::copy_out_going_back() {
  for (std::size_t step = 1; step < nodes(); ++step) {
    co_await received.arrived(0, step - 1);
    co_await copy_out(node_back(step));
  }
}

task<> with_gathered_blocks(context& me, const arguments& call, task<> (*part)(gathered_blocks&),
                            std::size_t first_node, std::size_t more_bytes) {
  gathered_blocks in(me, call, first_node);
  const auto to_the_end = [part](gathered_blocks& on) -> task<> {
    co_await part(on);
    on.received.take(0);
  };
  co_await with_node_buffer(in, in.slots.bytes() + more_bytes, 0, to_the_end);
}

bool suits_gathered_blocks(const shape& ranks, const machine& seen, const arguments& call) {
  // Some have notes behind the blocks.
  return fits_into_node_buffer(
      seen, call.received_bytes(ranks.size()) + arrival_notes::bytes(ranks.nodes()));
}

node_cost cost_of_gathered_blocks(const even_nodes& of, const arguments& call,
                                  std::size_t messages) {
  const block_lengths lengths(call);
  node_cost cost{.messages = messages, .connections = messages};
  for (std::size_t node = 0; node < of.nodes; ++node) {
    std::size_t bytes = 0;
    for (std::size_t i = 0; i < of.ranks_a_node; ++i) {
      bytes += lengths.of_rank(node * of.ranks_a_node + i);
    }
    cost.bytes = std::max(cost.bytes, (of.nodes - 1) * bytes);
    cost.memory += bytes;
  }
  return cost;
}

}  // namespace muster::algos
