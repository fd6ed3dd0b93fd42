#include "tools/command/bench/osu.hpp"

#include <fmt/format.h>

#include <cctype>
#include <string_view>
#include <utility>
#include <vector>

namespace muster::bench {
namespace {

/// As OSU's programs call it: `Allreduce`, `Reduce_scatter_block`.
std::string osu_name(collective what) {
  std::string text(name(what));
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

/// How it was measured, in the words of `describe` and of the pattern of arrivals.
std::string how_of(const measurement& one) {
  std::string how = describe(one.how, has_op(one.at.what));
  if (one.late) how += (how.empty() ? "" : ", ") + describe(*one.late);
  return how.empty() ? "" : ", " + how;
}

std::string heading(const measurement& first) {
  constexpr std::string_view latency = "Avg Latency(us)";
  const std::string title = fmt::format("# {} {} Latency Test, {} ranks{}\n", title_of(first.who()),
                                        osu_name(first.at.what), first.at.ranks, how_of(first));
  if (!has_sizes(first.at.what))
    return title + fmt::format("{:>18}\n", fmt::format("# {}", latency));
  return title + fmt::format("{:<10}{:>18}\n", "# Size", latency);
}

std::string line_of(const measurement& one) {
  const std::string size = has_sizes(one.at.what) ? fmt::format("{:<10}", one.at.bytes) : "";
  if (!one.has_figures() || !one.verified) {
    const std::string why = one.has_figures() ? "wrong results" : one.failure;
    return fmt::format("# {}{}\n", size, why.empty() ? "does not suit" : why);
  }
  return size + fmt::format("{:>18.2f}\n", one.median_us);
}

}  // namespace

std::string osu_blocks(std::span<const measurement> all, collective what, std::size_t ranks) {
  std::string text;
  std::vector<contender> who = ours_in(all);
  for (const contender& peer : peers_in(all)) who.push_back(peer);
  for (const contender& each : who) {
    bool is_first = true;
    for (const std::size_t bytes : bytes_in(all, what, ranks)) {
      const measurement* const one = find(all, {what, ranks, bytes}, each);
      if (one == nullptr) continue;
      if (std::exchange(is_first, false)) text += "\n" + heading(*one);
      text += line_of(*one);
    }
  }
  return text;
}

}  // namespace muster::bench
