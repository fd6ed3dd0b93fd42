#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include <muster/base/descriptor.hpp>

namespace muster::testing {

[[noreturn]] inline void fail(int why, const char* what) {
  throw std::system_error(why, std::generic_category(), what);
}

/// A file that has no name, and is gone with its last descriptor.
inline descriptor make_memory_file(const char* what) {
  descriptor file(::memfd_create(what, MFD_CLOEXEC));
  if (!file) fail(errno, what);
  return file;
}

/// By which other processes open it, while this one lives.
inline std::string path_of(const descriptor& file) {
  return "/proc/" + std::to_string(::getpid()) + "/fd/" + std::to_string(file.get());
}

}  // namespace muster::testing
