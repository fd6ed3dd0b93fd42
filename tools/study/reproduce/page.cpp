#include "tools/study/reproduce/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace muster::reproduce {
namespace {

std::string_view words(verdict one) {
  switch (one) {
    case verdict::holds:
      return "holds";
    case verdict::factor_differs:
      return "order holds, factor differs";
    default:
      return "**no**";
  }
}

constexpr std::string_view opening = R"(# The papers' claims, simulated

Written by `muster sim --reproduce docs/reproduction`; do not edit.

Each experiment of the papers runs the same coroutines that run on real ranks, on a model of the
machine on which the paper measured. The models' figures are the papers' own basic measurements,
others' published ones, or estimates that say so (`transports/sim/models`); none was chosen so that
a claim comes out. Ranks have a core each and look on as long as they wait, as the papers' did.
Orders are held against the simulator at every size; a factor holds if it is within 25 % of the
paper's. Each figure has its times as JSON beside it; `muster plot` draws it again.

Sources: Q is Qian's dissertation (2010), O the OHIO alltoall, K Kumar, Mamidala and Panda (2008),
S Tipparaju, Nieplocha and Panda (2003).

)";

}  // namespace

std::string summary(std::span<const outcome> outcomes) {
  const auto count = [&](verdict what) {
    return std::ranges::count(outcomes, what, &outcome::came_out);
  };
  return fmt::format("{} of {} claims hold, of {} more the order does, {} do not come out",
                     count(verdict::holds), outcomes.size(), count(verdict::factor_differs),
                     count(verdict::fails));
}

std::string line(const outcome& one) {
  return fmt::format("{:<8} {:<6} {}: {}; here {}", one.source,
                     one.came_out == verdict::holds            ? "holds"
                     : one.came_out == verdict::factor_differs ? "order"
                                                               : "NO",
                     one.says, one.paper, one.ours);
}

std::string page(std::span<const outcome> outcomes, std::span<const experiment> figures) {
  std::string text(opening);
  auto out = std::back_inserter(text);
  fmt::format_to(out, "{}.\n\n", summary(outcomes));
  fmt::format_to(out, "| source | claim | paper | here | | why not |\n|---|---|---|---|---|---|\n");
  for (const outcome& one : outcomes) {
    fmt::format_to(out, "| {} | {} | {} | {} | {} | {} |\n", one.source, one.says, one.paper,
                   one.ours, words(one.came_out), one.reason);
  }
  fmt::format_to(out, "\n## Figures\n");
  for (const experiment& one : figures) {
    fmt::format_to(out, "\n### {}\n\nOn `{}`.\n\n![{}]({}.svg)\n", one.title, one.machine,
                   one.title, one.name);
  }
  return text;
}

}  // namespace muster::reproduce
