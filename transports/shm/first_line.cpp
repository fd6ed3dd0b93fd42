#include "transports/shm/first_line.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include <muster/base/descriptor.hpp>

namespace muster::shm {

std::string first_line(const std::string& file) {
  std::array<char, 4096> text;
  const descriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  const ssize_t got = opened ? ::read(opened.get(), text.data(), text.size()) : 0;
  const std::string_view all(text.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  return std::string(all.substr(0, all.find('\n')));
}

}  // namespace muster::shm
