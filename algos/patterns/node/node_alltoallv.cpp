#include "algos/patterns/node/node_alltoallv.hpp"

#include "algos/patterns/node/copy_runs.hpp"

namespace muster::algos {

node_alltoallv::node_alltoallv(context& me, const arguments& call)
    : node_buffer(me, call), to_(nodes()), from_(nodes()), mine_(nodes()) {}

// ---- the table: where the room is, notes of arrivals, totals

std::size_t node_alltoallv::table_bytes() const {
  return sizeof(wire::origin) + arrival_notes::bytes(nodes()) +
         me.node().size() * shared_numbers::bytes(2 * nodes());
}

arrival_notes node_alltoallv::notes() { return {shared.subspan(sizeof(wire::origin)), received}; }

/// What a rank sends to each node, then what it receives from each.
shared_numbers node_alltoallv::totals(std::size_t local_peer) const {
  const std::size_t before = sizeof(wire::origin) + arrival_notes::bytes(nodes());
  return shared_numbers(shared.subspan(before + local_peer * shared_numbers::bytes(2 * nodes())));
}

std::size_t node_alltoallv::total_of_node(std::size_t which) const {
  std::size_t all = 0;
  for (std::size_t i = 0; i < me.node().size(); ++i) all += totals(i)[which];
  return all;
}

task<> node_alltoallv::lay_out() {
  const shared_numbers mine = totals(me.node_index());
  for (std::size_t node = 0; node < nodes(); ++node) {
    std::size_t sent = 0;
    std::size_t expected = 0;
    for (const std::size_t rank : me.shape().ranks_of(node)) {
      sent += call.sent_to(rank).size();
      expected += call.received_from(rank).size();
    }
    mine.set(node, sent);
    mine.set(nodes() + node, expected);
  }
  filled.post(0);
  co_await filled.all_here(0);
  find_pieces();
}

void node_alltoallv::open(const shared_scratch& provided) {
  const wire::origin where = provided.where();
  std::memcpy(shared.data(), &where, sizeof where);
  room = provided.bytes();
  received.post(0);
}

task<> node_alltoallv::enter() {
  co_await received.arrived(0, 0);
  wire::origin where;
  std::memcpy(&where, shared.data(), sizeof where);
  room = me.shared_scratch_at(where, room_bytes_);
}

// ---- the pieces

std::size_t node_alltoallv::lengths_bytes(std::size_t node) const {
  return shared_numbers::bytes(me.node().size() * me.shape().ranks_of(node).size());
}

void node_alltoallv::find_pieces() {
  for (std::size_t node = 0; node < nodes(); ++node) {
    mine_[node] = lengths_bytes(node);
    for (std::size_t i = 0; i < me.node_index(); ++i) mine_[node] += totals(i)[node];
    to_[node] = {room_bytes_, lengths_bytes(node) + total_of_node(node)};
    room_bytes_ += to_[node].length;
  }
  for (std::size_t node = 0; node < nodes(); ++node) {
    from_[node] = to_[node];
    if (node == here()) continue;
    from_[node] = {room_bytes_, lengths_bytes(node) + total_of_node(nodes() + node)};
    room_bytes_ += from_[node].length;
  }
}

task<> node_alltoallv::give_all() {
  for (std::size_t node = 0; node < nodes(); ++node) {
    if (node != here()) expect(node);
    co_await give(node);
  }
  filled.post(1);
}

task<> node_alltoallv::give(std::size_t node) {
  const auto ranks = me.shape().ranks_of(node);
  const shared_numbers lengths(piece_to(node));
  const std::size_t first = me.node_index() * ranks.size();
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    lengths.set(first + i, call.sent_to(ranks[i]).size());
  }
  return pack(me, piece_to(node).subspan(mine_[node]), ranks.size(),
              [this, ranks](std::size_t i) { return call.sent_to(ranks[i]); });
}

/// Until a piece comes there stand the lengths that are expected, and where a simulation leaves out
/// what messages hold, they stay.
void node_alltoallv::expect(std::size_t node) {
  const auto sources = me.shape().ranks_of(node);
  const shared_numbers lengths(piece_from(node));
  for (std::size_t i = 0; i < sources.size(); ++i) {
    lengths.set(i * me.node().size() + me.node_index(), call.received_from(sources[i]).size());
  }
}

task<> node_alltoallv::take(std::size_t node) {
  const shared_numbers lengths(piece_from(node));
  std::span<const std::byte> blocks = piece_from(node).subspan(lengths_bytes(node));
  std::size_t next = 0;
  for (const std::size_t source : me.shape().ranks_of(node)) {
    for (std::size_t i = 0; i < me.node().size(); ++i) {
      const auto block = blocks.first(lengths[next++]);
      blocks = blocks.subspan(block.size());
      if (i != me.node_index()) continue;
      const std::span<std::byte> place = call.received_from(source);
      me.check_length(source, block.size(), place.size());
      co_await me.copy(place, block);
    }
  }
}

}  // namespace muster::algos
