#include "transports/verbs/port_list.hpp"

#include <algorithm>
#include <charconv>
#include <system_error>

#include <muster/base/error.hpp>

namespace muster::verbs {
namespace {

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t next = 0; next != std::string_view::npos;) {
    next = text.find(at);
    parts.push_back(text.substr(0, next));
    text.remove_prefix(next == std::string_view::npos ? text.size() : next + 1);
  }
  return parts;
}

template <class Number>
Number parse_number(std::string_view text, int base, const named_port& of) {
  Number number = 0;
  const auto [end, code] = std::from_chars(text.begin(), text.end(), number, base);
  if (code == std::errc{} && end == text.end()) return number;
  refuse(of, "'" + std::string(text) + "' is no such number; expected such as mlx5_0:1:gid=3");
}

void parse_part(std::string_view part, named_port& into) {
  constexpr std::string_view gid = "gid=";
  constexpr std::string_view pkey = "pkey=";
  constexpr std::string_view hexadecimal = "0x";
  if (part.starts_with(gid)) {
    into.gid_index = parse_number<std::uint8_t>(part.substr(gid.size()), 10, into);
  } else if (part.starts_with(pkey)) {
    part.remove_prefix(pkey.size());
    const bool is_prefixed = part.starts_with(hexadecimal);
    into.pkey =
        parse_number<std::uint16_t>(is_prefixed ? part.substr(hexadecimal.size()) : part, 16, into);
  } else {
    into.number = parse_number<std::uint8_t>(part, 10, into);
  }
}

named_port parse_port(std::string_view text) {
  named_port made;
  made.text = text;
  const std::vector<std::string_view> parts = split(text, ':');
  made.device = parts.front();
  if (made.device.empty()) refuse(made, "a device's name is missing; expected such as mlx5_0:1");
  for (std::size_t i = 1; i < parts.size(); ++i) parse_part(parts[i], made);
  return made;
}

}  // namespace

std::vector<named_port> parse_port_list(std::string_view text) {
  std::vector<named_port> all;
  for (const std::string_view each : split(text, ',')) all.push_back(parse_port(each));
  return all;
}

std::string key_text(std::uint16_t pkey) {
  constexpr std::string_view digits = "0123456789abcdef";
  std::string text = "0x";
  for (int shift = 12; shift >= 0; shift -= 4) text += digits[(pkey >> shift) & 0xf];
  return text;
}

void refuse(const named_port& one, const std::string& why) {
  throw error(errc::invalid_argument, "MUSTER_VERBS_DEVICES: '" + one.text + "': " + why);
}

}  // namespace muster::verbs
