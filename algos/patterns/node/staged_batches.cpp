#include "algos/patterns/node/staged_batches.hpp"

namespace muster::algos {

staged_batches::staged_batches(context& me, const arguments& call, std::size_t leaders,
                               std::size_t at_once)
    : node_alltoall(me, call),
      leaders(leaders),
      a_batch(leaders * at_once),
      places(places_for(nodes(), a_batch)),
      place_bytes(blocks.most_bytes()) {
  // In place, blocks must leave before others come: they are moved aside first.
  if (call.in_place()) sent = me.save(sent);
}

std::span<std::byte> staged_batches::piece_sent(std::size_t step) const {
  const std::size_t place = step == 0 ? 0 : 1 + step % places;
  return shared.subspan(place * place_bytes, blocks.bytes_of(to(step)));
}

std::span<std::byte> staged_batches::piece_received(std::size_t step) const {
  const std::size_t place = step == 0 ? 0 : 1 + places + step % places;
  return shared.subspan(place * place_bytes, blocks.bytes_of(from(step)));
}

task<> staged_batches::stage_step(std::size_t step) { return give(to(step), piece_sent(step)); }

task<> staged_batches::stage_batch(std::size_t batch) {
  // Of the leaders this rank may be one: its own are sent already.
  for (std::size_t leader = 0; batch >= 2 && leader < leaders; ++leader) {
    co_await filled.taken(batch - 2, leader);
  }
  for (std::size_t step = begin_of(batch); step < end_of(batch); ++step) {
    co_await stage_step(step);
  }
  filled.post(batch);
}

task<> staged_batches::copy_out_step(std::size_t step) {
  co_await take(from(step), piece_received(step));
  received.take(step);
}

task<> staged_batches::copy_out_batch(std::size_t batch) {
  for (std::size_t step = begin_of(batch); step < end_of(batch); ++step) {
    co_await received.arrived(leader_in(step), step - 1);
    co_await copy_out_step(step);
  }
}

task<> staged_batches::stage_and_copy_out(std::size_t batch) {
  if (batch + 1 < batches()) co_await stage_batch(batch + 1);
  if (batch > 0) {
    co_await copy_out_batch(batch - 1);
  } else {
    co_await filled.all_here(0);
    co_await copy_out_step(0);
  }
}

}  // namespace muster::algos
