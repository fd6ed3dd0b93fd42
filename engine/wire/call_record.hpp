#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include <muster/wire/cache_line.hpp>

namespace muster::wire {

/// What a rank called last in a lane, for naming both sides of a mismatch: as its owner keeps it in
/// memory that others read while it may be changing. `word` is 0 then.
struct alignas(cache_line) call_record {
  std::atomic<std::uint64_t> word;  ///< sequence number and rolling fingerprint, as announced
  std::atomic<std::uint64_t> kind;  ///< collective, algorithm, type, op and order of combining
  std::atomic<std::uint64_t> count;
  std::atomic<std::uint64_t> root;
  std::atomic<std::uint64_t> details;  ///< a hash of what else all ranks know
};

/// The same as a value.
struct recorded_call {
  std::uint64_t word = 0;  ///< 0: of no operation that is known
  std::uint64_t kind = 0;
  std::uint64_t count = 0;
  std::uint64_t root = 0;
  std::uint64_t details = 0;

  /// Modulo 2^32.
  std::uint32_t sequence() const noexcept { return static_cast<std::uint32_t>(word >> 32); }
  /// Whether it is the same call, whatever came before it.
  bool is_like(const recorded_call& other) const noexcept {
    return kind == other.kind && count == other.count && root == other.root &&
           details == other.details;
  }
};

/// By the owner, of a record that others may be reading: a sequence lock. Each release keeps the
/// stores before it before it: first the old word goes, then the call changes, then the new
/// word stands.
inline void write(call_record& record, const recorded_call& call) noexcept {
  record.word.store(0, std::memory_order_relaxed);
  record.kind.store(call.kind, std::memory_order_release);
  record.count.store(call.count, std::memory_order_release);
  record.root.store(call.root, std::memory_order_release);
  record.details.store(call.details, std::memory_order_release);
  record.word.store(call.word, std::memory_order_release);
}
/// By anybody; with word 0 while it is being changed.
recorded_call read(const call_record& record) noexcept;

}  // namespace muster::wire
