#include "algos/patterns/arrival/first_comers.hpp"

#include "algos/patterns/node/leaders.hpp"

namespace muster::algos {
namespace {

pooled_list<std::size_t> ranks_of_other_nodes(const context& me) {
  pooled_list<std::size_t> all;
  const shape& ranks = me.shape();
  for (std::size_t step = 1; step < ranks.nodes(); ++step) {
    const auto there = ranks.ranks_of((node_number(me) + step) % ranks.nodes());
    all.insert(all.end(), there.begin(), there.end());
  }
  return all;
}

}  // namespace

std::size_t first_speaker(context& me) {
  const std::size_t root = me.call().root;
  if (me.shape().node_of(root) == node_number(me)) return me.shape().index_of(root);
  return me.first_here();
}

task<> call_on_root(context& me) { return me.send_note(me.call().root, {}); }

callers::callers(context& root)
    : me_(root),
      here_(root.state(), wire::coming::message, ranks_of_other_nodes(root),
            peer_arrivals::senders::any) {}

task<std::optional<std::size_t>> callers::next() {
  const auto caller = co_await here_.next();
  if (caller) co_await take(*caller);
  co_return caller;
}

task<pooled_list<std::size_t>> callers::next_that_are_here(std::size_t most) {
  pooled_list<std::size_t> all;
  for (auto caller = co_await here_.next(); caller; caller = here_.next_that_is_here()) {
    co_await take(*caller);
    all.push_back(*caller);
    if (all.size() == most) break;
  }
  co_return all;
}

// Its local peers will not call, and may have left before others do.
task<> callers::take(std::size_t caller) {
  here_.forget(me_.shape().ranks_of(me_.shape().node_of(caller)));
  co_await me_.receive_note(caller, {});
}

}  // namespace muster::algos
