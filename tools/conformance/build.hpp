#pragma once

#include <cstddef>

/// How this test was built, where that decides how much of it there is time for.
namespace muster::testing {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool sanitized = true;
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
inline constexpr bool sanitized = true;
#else
inline constexpr bool sanitized = false;
#endif
#else
inline constexpr bool sanitized = false;
#endif

/// So many rounds, or `under_sanitizers` of them where each takes 5 to 10 times as long.
constexpr std::size_t rounds(std::size_t plain, std::size_t under_sanitizers) {
  return sanitized ? under_sanitizers : plain;
}

}  // namespace muster::testing
