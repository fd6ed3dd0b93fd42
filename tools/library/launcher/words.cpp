#include "tools/library/launcher/words.hpp"

#include <algorithm>
#include <charconv>

#include <muster/base/error.hpp>

namespace muster::launcher {
namespace {

[[noreturn]] void fail(const std::string& why) { throw error(errc::bootstrap, why); }

}  // namespace

std::size_t parse_number(std::string_view text, const std::string& name, std::size_t most) {
  std::size_t value = 0;
  const auto [end, code] = std::from_chars(text.begin(), text.end(), value);
  if (code != std::errc{} || end != text.end() || value > most) {
    fail(name + " is '" + std::string(text) + "'; expected a number up to " + std::to_string(most));
  }
  return value;
}

void parse_place(std::string_view text, const std::string& name, cluster::meeting_place& into) {
  const std::size_t colon = std::min(text.rfind(':'), text.size());
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.empty() || colon == text.size()) {
    fail(name + " is '" + std::string(text) + "'; expected host:port");
  }
  into.hosts = {std::string(host)};
  into.port = static_cast<std::uint16_t>(
      parse_number(text.substr(colon + 1), "the port of " + name, UINT16_MAX));
}

std::string_view next_part(std::string_view& text, char separator) {
  const std::string_view part = text.substr(0, text.find(separator));
  text.remove_prefix(std::min(part.size() + 1, text.size()));
  return part;
}

void check(const meeting& one) {
  if (one.size != 0 && one.rank < one.size) return;
  fail("rank " + std::to_string(one.rank) + " of " + std::to_string(one.size) +
       " ranks cannot be; expected a rank below their number");
}

}  // namespace muster::launcher
