#include "algos/patterns/gathered_blocks.hpp"

namespace muster::algos {
namespace {

/// How many of these ranks, from the first on, follow each other: their blocks lie in one piece in
/// the result, too.
std::size_t run_length(std::span<const std::size_t> ranks) {
  std::size_t length = 1;
  while (length < ranks.size() && ranks[length] == ranks[0] + length) ++length;
  return length;
}

}  // namespace

task<> gathered_blocks::share_own() {
  co_await me.copy(slots.of_rank(shared, me.rank()), call.own_block(me.rank()));
  filled.post(0);
}

task<> gathered_blocks::copy_out(std::size_t node) {
  auto ranks = me.shape().ranks_of(node);
  while (!ranks.empty()) {
    const std::size_t run = run_length(ranks);
    const std::span<std::byte> place(call.received_from(ranks[0]).data(), run * call.bytes());
    co_await me.copy(place, slots.of_ranks(shared, ranks[0], run));
    ranks = ranks.subspan(run);
  }
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
  return fits_into_node_buffer(seen, call.bytes() * ranks.size());
}

node_cost cost_of_gathered_blocks(const even_nodes& of, const arguments& call,
                                  std::size_t messages) {
  return {.messages = messages,
          .bytes = (of.nodes - 1) * of.ranks_a_node * call.bytes(),
          .connections = messages,
          .memory = of.nodes * of.ranks_a_node * call.bytes()};
}

}  // namespace muster::algos
