#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "algos/patterns/arrival/arrival_notes.hpp"
#include "algos/patterns/call/slices.hpp"
#include "algos/patterns/node/node_buffer.hpp"

/// What an alltoallv needs whose blocks pass through a buffer of each node, where each rank knows
/// only the lengths of its own.
namespace muster::algos {

/// Numbers that ranks tell each other in shared memory or in messages. They are no payload.
class shared_numbers {
public:
  static std::size_t bytes(std::size_t count) noexcept { return count * sizeof(number); }
  explicit shared_numbers(std::span<std::byte> memory) noexcept : memory_(memory) {}

  void set(std::size_t i, std::size_t value) const noexcept {
    const number stored = value;
    std::memcpy(memory_.data() + bytes(i), &stored, sizeof stored);
  }
  std::size_t operator[](std::size_t i) const noexcept {
    number stored = 0;
    std::memcpy(&stored, memory_.data() + bytes(i), sizeof stored);
    return stored;
  }

private:
  using number = std::uint64_t;
  std::span<std::byte> memory_;
};

/// Such an alltoallv, as one rank sees it.
///
/// The node's buffer is a *table*: in it every rank says how much it sends to each node and
/// receives from each. From that all know how long the pieces are that go to other nodes and come
/// from them, and the one that stays; the leader provides *room* for them and says in the table
/// where.
///
/// A piece begins with the lengths of its blocks, source after source, each in the order of its
/// destinations; then come the blocks. So those who take blocks from it see where they lie, and
/// whether they are as long as they expect.
struct node_alltoallv : node_buffer {
  std::span<std::byte> room;

  node_alltoallv(context& me, const arguments& call);

  std::size_t table_bytes() const;
  /// Which node's piece came k-th, k = 1 … n-1, by segments of `received`; segment 0: there is
  /// room.
  arrival_notes notes();

  /// Tells this rank's totals and, when all have, finds out where pieces lie in the room.
  task<> lay_out();
  std::size_t room_bytes() const noexcept { return room_bytes_; }
  /// The leader's: all can use it.
  void open(const shared_scratch& provided);
  /// Waits for that.
  task<> enter();

  std::span<std::byte> piece_to(std::size_t node) const { return part(to_[node]); }
  /// From this rank's own node, the same.
  std::span<std::byte> piece_from(std::size_t node) const { return part(from_[node]); }

  /// Copies this rank's blocks into all pieces; then segment 1 of `filled` says so.
  task<> give_all();
  /// Copies the blocks for this rank out of the piece that came from a node.
  task<> take(std::size_t node);

private:
  shared_numbers totals(std::size_t local_peer) const;
  std::size_t total_of_node(std::size_t which) const;
  std::size_t lengths_bytes(std::size_t node) const;
  void find_pieces();
  task<> give(std::size_t node);
  void expect(std::size_t node);
  std::span<std::byte> part(const slice& one) const { return one.of(room); }

  pooled_list<slice> to_;  // the pieces, by node
  pooled_list<slice> from_;
  pooled_list<std::size_t> mine_;  // in each that leaves, where this rank's blocks begin
  std::size_t room_bytes_ = 0;
};

}  // namespace muster::algos
