#include "tools/report/sizes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <stdexcept>
#include <utility>

namespace muster::bench {
namespace {

constexpr std::size_t largest_bytes = std::size_t{1} << 30;
constexpr std::size_t most_ranks = 4096;

[[noreturn]] void reject(std::string_view text, std::string_view expected) {
  throw std::invalid_argument(fmt::format("'{}' is not {}", text, expected));
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.push_back(text.substr(0, end));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

/// The number at the front of `text`, which then holds what follows it.
bool take_number(std::string_view& text, std::size_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return false;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return true;
}

std::size_t parse_size(std::string_view text) {
  constexpr std::string_view expected = "a size such as 8, 64K or 1M (at most 1G)";
  std::string_view rest = text;
  std::size_t number = 0;
  if (!take_number(rest, number)) reject(text, expected);

  constexpr std::array<std::pair<char, unsigned>, 3> units{{{'K', 10}, {'M', 20}, {'G', 30}}};
  unsigned shift = 0;
  for (const auto& [letter, bits] : units) {
    if (!rest.empty() && (rest[0] == letter || rest[0] == letter + ('a' - 'A'))) shift = bits;
  }
  if (shift != 0) rest.remove_prefix(1);
  if (!rest.empty() && rest != "B" && rest != "iB") reject(text, expected);
  if (number > largest_bytes >> shift) reject(text, expected);

  const std::size_t bytes = number << shift;
  if (bytes == 0 || bytes % 8 != 0)
    reject(text, "a multiple of 8 bytes (the messages are doubles)");
  return bytes;
}

std::vector<std::size_t> parse_range(std::string_view text) {
  const std::size_t dots = text.find("..");
  if (dots == std::string_view::npos) return {parse_size(text)};
  std::string_view last_text = text.substr(dots + 2);
  std::size_t factor = 8;
  if (const std::size_t times = last_text.find('x'); times != std::string_view::npos) {
    std::string_view factor_text = last_text.substr(times + 1);
    if (!take_number(factor_text, factor) || !factor_text.empty() || factor < 2) {
      reject(text, "a range such as 8..1M or 8..1Mx2, where x2 means: each size twice the last");
    }
    last_text = last_text.substr(0, times);
  }
  const std::size_t first = parse_size(text.substr(0, dots));
  const std::size_t last = parse_size(last_text);
  if (first > last) reject(text, "a range from a smaller size to a larger one");

  std::vector<std::size_t> sizes;
  for (std::size_t bytes = first; bytes < last; bytes *= factor) sizes.push_back(bytes);
  sizes.push_back(last);
  return sizes;
}

std::vector<std::size_t> sorted_once(std::vector<std::size_t> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

}  // namespace

std::vector<std::size_t> parse_sizes(std::string_view text) {
  std::vector<std::size_t> sizes;
  for (const std::string_view part : split(text, ',')) {
    const auto more = parse_range(part);
    sizes.insert(sizes.end(), more.begin(), more.end());
  }
  return sorted_once(std::move(sizes));
}

std::vector<std::size_t> parse_ranks(std::string_view text) {
  std::vector<std::size_t> counts;
  for (const std::string_view part : split(text, ',')) {
    std::string_view rest = part;
    std::size_t count = 0;
    if (!take_number(rest, count) || !rest.empty() || count < 1 || count > most_ranks) {
      reject(part, fmt::format("a number of ranks (1 to {}), such as 8 or 2,4,8,16", most_ranks));
    }
    counts.push_back(count);
  }
  return sorted_once(std::move(counts));
}

std::string readable_bytes(std::size_t bytes) {
  constexpr std::array<std::pair<unsigned, std::string_view>, 4> units{
      {{30, "GiB"}, {20, "MiB"}, {10, "KiB"}, {0, "B"}}};
  for (const auto& [bits, name] : units) {
    const std::size_t unit = std::size_t{1} << bits;
    if (bytes < unit) continue;
    if (bytes % unit == 0) return fmt::format("{} {}", bytes / unit, name);
    return fmt::format("{:.3g} {}", static_cast<double>(bytes) / static_cast<double>(unit), name);
  }
  return "0 B";
}

std::string readable_time(double us) {
  struct unit {
    double us;
    const char* name;
  };
  for (const unit& one : {unit{1e6, "s"}, unit{1e3, "ms"}}) {
    if (us >= one.us) return fmt::format("{:#.3g} {}", us / one.us, one.name);
  }
  return us >= 100 ? fmt::format("{:.0f} µs", us) : fmt::format("{:.{}f} µs", us, us >= 10 ? 1 : 2);
}

std::string right(std::string_view text, std::size_t width) {
  const auto continues = [](char c) { return (static_cast<unsigned char>(c) & 0xc0) == 0x80; };
  const auto visible =
      text.size() - static_cast<std::size_t>(std::count_if(text.begin(), text.end(), continues));
  return std::string(width > visible ? width - visible : 0, ' ') + std::string(text);
}

}  // namespace muster::bench
