#include "tools/mpi/operands.hpp"

#include <muster/call/arguments.hpp>

namespace muster::mpi {
namespace {

using part = operand::part;

/// A reduction's, whose type stands with what is received.
operand vector_of(const call& what, side call::* where, const char* name, std::int64_t elements) {
  return {.where = where, .name = name, .type = what.receive.type, .count = elements};
}

operands of_reduction(const call& what, const arguments& known, std::size_t rank,
                      std::size_t ranks) noexcept {
  const side& vector = what.receive;
  std::int64_t result = vector.count;
  std::int64_t all = result;
  if (known.what == collective::reduce_scatter_block) {
    all = result * static_cast<std::int64_t>(ranks);
  } else if (known.what == collective::reduce_scatter) {
    if (!vector.counts.given()) return {};
    all = 0;
    for (std::size_t i = 0; i < ranks; ++i) all += vector.counts[i];
    result = vector.counts[rank];
  }
  operands found;
  const bool in_place = what.send.in_place();
  if (!in_place) {
    operand sent = vector_of(what, &call::send, "sendbuf", all);
    sent.reads = part::all;
    found.add(sent);
  }
  if (!known.receives(rank)) return found;
  operand received = vector_of(what, &call::receive, "recvbuf", in_place ? all : result);
  if (in_place) received.reads = part::all;
  // A result that is undefined is not written.
  if (known.what != collective::exscan || rank != 0) received.writes = part::all;
  received.results = result;
  found.add(received);
  return found;
}

/// Of one block.
operand side_of(const call& what, side call::* where, const char* name) {
  const side& own = what.*where;
  return {.where = where, .name = name, .type = own.type, .count = own.count};
}

operand side_of(const call& what, side call::* where, const char* name, std::size_t blocks) {
  operand all = side_of(what, where, name);
  all.blocks = blocks;
  all.varies = (what.*where).counts.given();
  return all;
}

bool sends_blocks(const arguments& known) noexcept {
  return known.sends_blocks() || (has_neighbors(known.what) && !known.sends_one_block());
}

bool receives_blocks(const arguments& known) noexcept {
  return known.receives_blocks() || has_neighbors(known.what);
}

operands of_movement(const call& what, const arguments& known, std::size_t rank,
                     const block_numbers& blocks) noexcept {
  operands found;
  if (known.what == collective::bcast) {
    operand all = side_of(what, &call::receive, "buffer");
    (rank == known.root ? all.reads : all.writes) = part::all;
    found.add(all);
    return found;
  }
  if (known.sends(rank) && !what.send.in_place()) {
    operand sent = sends_blocks(known) ? side_of(what, &call::send, "sendbuf", blocks.sent)
                                       : side_of(what, &call::send, "sendbuf");
    sent.reads = part::all;
    found.add(sent);
  }
  if (known.receives(rank) && !what.receive.in_place()) {
    operand received = receives_blocks(known)
                           ? side_of(what, &call::receive, "recvbuf", blocks.received)
                           : side_of(what, &call::receive, "recvbuf");
    received.writes = part::all;
    if (what.send.in_place() && known.sends_blocks()) {
      received.reads = part::all;
    } else if (what.send.in_place()) {
      // Its own block is where it belongs.
      received.reads = part::own;
      received.writes = part::others;
    }
    found.add(received);
  }
  return found;
}

}  // namespace

operand_block operand::block(const call& of, std::size_t number) const noexcept {
  if (!varies) return {static_cast<std::int64_t>(number) * count, count, type};
  const side& own = of.*where;
  const std::int64_t elements = own.counts[number];
  if (elements <= 0) return {0, 0, MPI_DATATYPE_NULL};  // and then need not have a displacement
  return {own.displacements.given() ? own.displacements[number] : 0, elements,
          own.types == nullptr ? type : own.types[number]};
}

operands operands_of(const call& what, std::size_t rank, const block_numbers& blocks) noexcept {
  arguments known;
  known.what = collective_of(what.what);
  known.root = static_cast<std::size_t>(what.root);
  if (known.what == collective::barrier) return {};
  return has_op(known.what) ? of_reduction(what, known, rank, blocks.received)
                            : of_movement(what, known, rank, blocks);
}

}  // namespace muster::mpi
