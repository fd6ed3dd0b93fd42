#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include <muster/base/descriptor.hpp>

#include "tests/soak/memory_file.hpp"

namespace muster::testing {

/// A control group of this machine in which there is next to no memory.
class control_group {
public:
  control_group() {
    constexpr std::string_view limit = "1048576";
    const std::string name = "/muster-soak-" + std::to_string(::getpid());
    // Of version 1, or of version 2.
    if (make("/sys/fs/cgroup/memory" + name) && set("memory.limit_in_bytes", limit)) return;
    remove();
    if (make("/sys/fs/cgroup" + name) && set("memory.max", limit)) return;
    why_not_ = std::strerror(errno);
    remove();
  }
  ~control_group() { remove(); }
  control_group(const control_group&) = delete;
  control_group& operator=(const control_group&) = delete;

  /// By which other processes find it, while this one lives, or nothing: it cannot be made.
  std::string path() const { return where_ ? path_of(where_) : std::string(); }
  const std::string& why_not() const noexcept { return why_not_; }

private:
  bool make(const std::string& path) {
    if (::mkdir(path.c_str(), 0755) != 0) return false;
    made_ = path;
    where_ = descriptor(::open(path.c_str(), O_DIRECTORY | O_CLOEXEC));
    return static_cast<bool>(where_);
  }

  bool set(const char* file, std::string_view value) const {
    const descriptor to(::openat(where_.get(), file, O_WRONLY | O_CLOEXEC));
    return to && ::write(to.get(), value.data(), value.size()) > 0;
  }

  void remove() noexcept {
    const int why = errno;
    where_ = descriptor();
    if (!made_.empty()) ::rmdir(made_.c_str());
    made_.clear();
    errno = why;
  }

  std::string made_;
  descriptor where_;
  std::string why_not_;
};

}  // namespace muster::testing
