#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace muster {

/// Copies past the cache: for results too large to stay in it anyway, this saves reading the lines
/// that are about to be overwritten, and keeps the stage in the cache.
inline void stream_copy(std::byte* to, const std::byte* from, std::size_t bytes) noexcept {
#if defined(__SSE2__)
  constexpr std::size_t line = 64;
  const std::size_t head = (line - reinterpret_cast<std::uintptr_t>(to) % line) % line;
  if (bytes > head + line) {
    std::memcpy(to, from, head);
    to += head;
    from += head;
    bytes -= head;
    // Cores fetch ahead of loads, but not far enough for what is in memory. Nothing is touched by
    // this: it may go past the end.
    constexpr std::size_t ahead = 16 * line;
    for (; bytes >= line; bytes -= line, to += line, from += line) {
      _mm_prefetch(reinterpret_cast<const char*>(from + ahead), _MM_HINT_NTA);
      for (std::size_t i = 0; i < line; i += sizeof(__m128i)) {
        _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                         _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
      }
    }
    // Streaming stores are not ordered by a release store.
    _mm_sfence();
  }
#endif
  if (bytes != 0) std::memcpy(to, from, bytes);
}

}  // namespace muster
