#include "algos/patterns/arrival/pap_shm_allgather.hpp"

#include <algorithm>
#include <iterator>

#include <muster/coro/when_all.hpp>

#include "algos/patterns/arrival/noted_blocks.hpp"

namespace muster::algos {
namespace {

pooled_list<std::size_t> other_leaders(const gathered_blocks& in) {
  pooled_list<std::size_t> result;
  for (std::size_t i = 1; i < in.nodes(); ++i) result.push_back(in.leader(in.node_ahead(i)));
  return result;
}

task<> send_as_invited(gathered_blocks& in) {
  auto inviting = in.me.invitations_from(other_leaders(in));
  while (const auto to = co_await inviting.next()) {
    co_await in.me.send(*to, in.of_node(in.here()));
  }
}

/// `here`: those whose blocks were received already.
task<> send_to_those_here_first(gathered_blocks& in, pooled_list<std::size_t> here) {
  pooled_list<std::size_t> others = other_leaders(in);
  std::erase_if(others, [&](std::size_t rank) { return std::ranges::count(here, rank) != 0; });
  auto coming = in.me.messages_from(std::move(others));
  while (const auto from = coming.next_that_is_here()) here.push_back(*from);
  std::ranges::copy(coming.still_to_come(), std::back_inserter(here));
  for (const std::size_t to : here) co_await in.me.send(to, in.of_node(in.here()));
}

task<> send_own_node(gathered_blocks& in, const pooled_list<std::size_t>& here) {
  co_await in.filled.all_here(0);
  if (in.me.is_zero_copy(in.of_node(in.here()).size())) {
    co_await send_as_invited(in);
  } else {
    co_await send_to_those_here_first(in, here);
  }
}

task<> receive_as_they_come(gathered_blocks& in, pooled_list<std::size_t>& here) {
  auto coming = in.me.messages_from(other_leaders(in));
  while (const auto from = co_await coming.next()) {
    const std::size_t node = in.me.shape().node_of(*from);
    co_await in.me.receive(*from, in.of_node(node));
    notes_of(in).tell(here.size(), node);
    here.push_back(*from);
    co_await in.copy_out(node);
  }
}

task<> lead(gathered_blocks& in) {
  for (const std::size_t from : other_leaders(in)) {
    co_await in.me.invite(from, in.of_node(in.me.shape().node_of(from)));
  }
  pooled_list<std::size_t> here;
  auto outgoing = send_own_node(in, here);
  auto incoming = receive_as_they_come(in, here);
  auto own = in.copy_out_own_node();
  co_await when_all(std::move(outgoing), std::move(own), std::move(incoming));
}

task<> follow(gathered_blocks& in) {
  auto own = in.copy_out_own_node();
  auto others = copy_out_as_told(in);
  co_await when_all(std::move(own), std::move(others));
}

task<> part(gathered_blocks& in) {
  co_await in.share_own();
  if (is_leader(in.me)) {
    co_await lead(in);
  } else {
    co_await follow(in);
  }
}

}  // namespace

task<> pap_shm_allgather(context& me, const arguments& call) {
  return with_gathered_blocks(me, call, part, 0, bytes_of_notes(me));
}

}  // namespace muster::algos
