#pragma once

namespace muster {

/// Asks for the cache line at `address` as its next writer, without waiting for it.
inline void prefetch_to_write(const void* address) noexcept {
#if defined(__x86_64__)
  // The builtin would fetch it as a reader wherever the build does not assume the instruction; a
  // processor without it takes it for a no-op.
  asm volatile("prefetchw (%0)" ::"r"(address));
#else
  __builtin_prefetch(address, 1);
#endif
}

/// The same as a reader.
inline void prefetch_to_read(const void* address) noexcept { __builtin_prefetch(address); }

}  // namespace muster
