#include "algos/patterns/arrival/noted_blocks.hpp"

namespace muster::algos {

std::size_t bytes_of_notes(const context& me) { return arrival_notes::bytes(me.shape().nodes()); }

arrival_notes notes_of(gathered_blocks& in) {
  return {in.shared.subspan(in.slots.bytes()), in.received};
}

task<> copy_out_as_told(gathered_blocks& in) {
  for (std::size_t k = 0; k + 1 < in.nodes(); ++k) {
    co_await in.received.arrived(0, k);
    co_await in.copy_out(notes_of(in).which(k));
  }
}

}  // namespace muster::algos
