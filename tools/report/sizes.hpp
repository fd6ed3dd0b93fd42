// Lists on the command line: message sizes like `8..1M` and rank counts like `2,4,8`; and sizes
// and times as people read them.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace muster::bench {

/// Parses `64`, `4K`, `1MiB`, lists of them with commas, and ranges `8..1M` whose steps are ×8
/// (`8..1Mx2`: ×2); a range's end is always in it. Gives bytes, ascending, each once. Throws
/// std::invalid_argument that says what was expected unless all are multiples of 8.
std::vector<std::size_t> parse_sizes(std::string_view text);

/// Parses `8` or `2,4,8,16`: ascending, each once, between 1 and 4096. Throws as parse_sizes does.
std::vector<std::size_t> parse_ranks(std::string_view text);

/// `8 B`, `4 KiB`, `1 MiB`; `1.5 KiB` where it doesn't come out even.
std::string readable_bytes(std::size_t bytes);

/// `0.13 µs`, `4.7 µs`, `1.2 ms`: about three digits.
std::string readable_time(double us);

/// Text at the right end of a column; by what a reader sees, since µ and – take more than one byte.
std::string right(std::string_view text, std::size_t width);

}  // namespace muster::bench
