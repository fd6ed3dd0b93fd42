#include "tools/library/launcher/pmi_wire.hpp"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace muster::launcher {

std::optional<std::size_t> pmi_number(const char* text) {
  if (text == nullptr) return std::nullopt;
  const std::string_view digits(text);
  std::size_t number = 0;
  const auto [end, code] = std::from_chars(digits.begin(), digits.end(), number);
  return code == std::errc{} && end == digits.end() ? std::optional(number) : std::nullopt;
}

std::string_view pmi_field(std::string_view text, std::string_view name, char separator) {
  while (!text.empty()) {
    const std::string_view one = text.substr(0, text.find(separator));
    if (one.starts_with(name) && one.substr(name.size()).starts_with('=')) {
      return one.substr(name.size() + 1);
    }
    text.remove_prefix(std::min(one.size() + 1, text.size()));
  }
  return {};
}

std::optional<pmi_wire> pmi_wire::find() {
  const auto socket = pmi_number(std::getenv("PMI_FD"));
  // A process that one of the ranks has started inherits the variable, but no socket that is open.
  const bool is_open =
      socket && ::send(static_cast<int>(*socket), nullptr, 0, MSG_NOSIGNAL | MSG_DONTWAIT) == 0;
  return is_open ? std::optional(pmi_wire(static_cast<int>(*socket))) : std::nullopt;
}

bool pmi_wire::write_all(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t put = ::send(socket_, text.data(), text.size(), MSG_NOSIGNAL);
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(put));
  }
  return true;
}

bool pmi_wire::read_all(char* into, std::size_t bytes) const {
  while (bytes > 0) {
    const ssize_t got = ::read(socket_, into, bytes);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    into += got;
    bytes -= static_cast<std::size_t>(got);
  }
  return true;
}

std::string pmi_wire::ask_line(std::string line) const {
  line += '\n';
  if (!write_all(line)) return {};
  constexpr std::size_t longest = 65536;  // PMI's own are 1024 bytes long
  std::string answer;
  for (char next = 0; answer.size() < longest && read_all(&next, 1);) {
    if (next == '\n') return answer;
    answer += next;
  }
  return {};
}

std::string pmi_wire::ask_text(const std::string& text) const {
  constexpr std::size_t digits = 6;
  std::array<char, digits + 1> length{};
  std::snprintf(length.data(), length.size(), "%6zu", text.size());
  if (!write_all(length.data()) || !write_all(text) || !read_all(length.data(), digits)) return {};
  const auto bytes = pmi_number(length.data() + std::strspn(length.data(), " "));
  if (!bytes) return {};
  std::string answer(*bytes, '\0');
  return read_all(answer.data(), answer.size()) ? answer : std::string();
}

}  // namespace muster::launcher
