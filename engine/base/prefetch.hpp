#pragma once

#include <cstddef>

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

/// The same of so many bytes.
inline void prefetch_to_read(const void* address, std::size_t bytes) noexcept {
  constexpr std::size_t line = 64;
  for (std::size_t at = 0; at < bytes; at += line) {
    prefetch_to_read(static_cast<const char*>(address) + at);
  }
}

}  // namespace muster
