#include "engine/collective/describe.hpp"

namespace muster {

recorded_call read_record(const wire::call_record& record) noexcept {
  // The reader's side of the sequence lock: each acquire keeps the loads after it after it.
  recorded_call call;
  call.sequence = record.sequence.load(std::memory_order_acquire);
  call.kind = record.kind.load(std::memory_order_acquire);
  call.count = record.count.load(std::memory_order_acquire);
  call.root = record.root.load(std::memory_order_acquire);
  const bool torn = record.sequence.load(std::memory_order_relaxed) != call.sequence;
  if (torn) call.sequence = 0;
  return call;
}

std::uint64_t pack_kind(const arguments& call, std::size_t algorithm) noexcept {
  return static_cast<std::uint64_t>(call.what) | static_cast<std::uint64_t>(call.type) << 8 |
         static_cast<std::uint64_t>(call.op) << 16 | static_cast<std::uint64_t>(algorithm) << 24;
}

std::string describe(const arguments& call) {
  if (call.what == collective::barrier) return "barrier()";
  std::string text(name(call.what));
  text += "(" + std::to_string(call.count) + " x " + std::string(name(call.type));
  if (call.op != reduction::none) text += ", " + std::string(name(call.op));
  if (call.what == collective::bcast || call.what == collective::reduce) {
    text += ", root " + std::to_string(call.root);
  }
  return text + ")";
}

std::string describe(const recorded_call& call) {
  arguments words;
  words.what = static_cast<collective>(call.kind & 0xff);
  words.type = static_cast<datatype>(call.kind >> 8 & 0xff);
  words.op = static_cast<reduction>(call.kind >> 16 & 0xff);
  words.count = call.count;
  words.root = call.root;
  return describe(words);
}

}  // namespace muster
