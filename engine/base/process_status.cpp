#include <muster/base/process_status.hpp>

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstring>

#include <muster/base/descriptor.hpp>

namespace muster {

process_status::process_status(std::int64_t process) noexcept {
  std::array<char, 64> path{"/proc/"};
  char* const digits = path.data() + std::strlen(path.data());
  std::strcpy(std::to_chars(digits, digits + 24, process).ptr, "/stat");
  const descriptor opened(::open(path.data(), O_RDONLY | O_CLOEXEC));
  const ssize_t got = opened ? ::read(opened.get(), text_.data(), text_.size()) : 0;
  const std::string_view all(text_.data(), static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  const std::size_t name_end = all.rfind(')');  // a name may have anything in it
  if (name_end != all.npos && name_end + 2 < all.size()) rest_ = all.substr(name_end + 2);
}

char process_status::state() const noexcept { return rest_.empty() ? gone : rest_.front(); }

std::int64_t process_status::field(int number) const noexcept {
  std::string_view left = rest_;
  for (int i = 0; i < number; ++i) {
    left.remove_prefix(std::min(left.find(' '), left.size() - 1) + 1);
  }
  std::int64_t value = 0;
  std::from_chars(left.data(), left.data() + left.size(), value);
  return value;
}

}  // namespace muster
