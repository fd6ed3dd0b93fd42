#include <muster/wire/call_record.hpp>

namespace muster::wire {

// The reader's side: each acquire keeps the loads after it after it.
recorded_call read(const call_record& record) noexcept {
  recorded_call call;
  call.word = record.word.load(std::memory_order_acquire);
  call.kind = record.kind.load(std::memory_order_acquire);
  call.count = record.count.load(std::memory_order_acquire);
  call.root = record.root.load(std::memory_order_acquire);
  call.details = record.details.load(std::memory_order_acquire);
  const bool torn = record.word.load(std::memory_order_relaxed) != call.word;
  if (torn) call.word = 0;
  return call;
}

}  // namespace muster::wire
