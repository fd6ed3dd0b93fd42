#include <muster/run/operation_state.hpp>

#include <muster/call/describe.hpp>
#include <muster/run/diagnosis.hpp>

namespace muster {

std::string operation_state::describe() const {
  return muster::describe(call_) + ", operation " + std::to_string(ticket_.sequence);
}

bool operation_state::lane_has_become_free() const noexcept {
  bookkeeping& books = this->books();
  const std::uint64_t after = ticket_.after;
  if (ticket_.kind == stage_kind::apart) {
    // Nothing that it touches is read by ranks it does not send to.
    return books.order.completed() >= after && books.order.is_complete(ticket_.last_apart);
  }
  if (books.order.completed() < after) return false;
  std::uint64_t by_all = books.order.completed();
  for (std::size_t i = 0; i < node_.size(); ++i) {
    if (i == index_) continue;
    std::uint64_t& known = books.known_complete[i];
    // acquire: what they read is read before this rank overwrites it.
    if (known < after) known = board().completion(i).upto.load(std::memory_order_acquire);
    if (known < after) return false;
    by_all = std::min(by_all, known);
  }
  books.known_complete_by_all = by_all;
  return true;
}

void operation_state::throw_mismatch(std::size_t local_peer) const {
  if (auto why = find_mismatch(*this, node_[local_peer])) throw *why;
  throw error(errc::mismatched_call,
              "rank " + std::to_string(node_[local_peer]) + " and rank " + std::to_string(rank()) +
                  " called different collectives before " + describe(),
              node_[local_peer]);
}

void operation_state::throw_breakage() const {
  if (auto why = breakage_once_written(*this)) std::rethrow_exception(why);
  throw error(errc::stopped, describe() + ": the team is being broken by another rank");
}

}  // namespace muster
