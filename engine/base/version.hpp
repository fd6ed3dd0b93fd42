// Muster's version, said here and nowhere else: https://semver.org.
#pragma once

#include <string_view>

#define MUSTER_VERSION_MAJOR 0
#define MUSTER_VERSION_MINOR 1
#define MUSTER_VERSION_PATCH 0

/// "0.1.0". For `#if` there are the three numbers.
#define MUSTER_VERSION_TEXT(number) #number
#define MUSTER_VERSION_DOTTED(major, minor, patch) \
  MUSTER_VERSION_TEXT(major) "." MUSTER_VERSION_TEXT(minor) "." MUSTER_VERSION_TEXT(patch)
#define MUSTER_VERSION \
  MUSTER_VERSION_DOTTED(MUSTER_VERSION_MAJOR, MUSTER_VERSION_MINOR, MUSTER_VERSION_PATCH)

namespace muster {

/// The same: of the headers that a file was compiled with.
inline constexpr std::string_view version = MUSTER_VERSION;

}  // namespace muster
