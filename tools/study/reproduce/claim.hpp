// A claim of the papers, and whether it comes out.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "tools/study/reproduce/experiment.hpp"

namespace muster::reproduce {

using all_measurements = std::map<std::string, measurements>;

enum class verdict { holds, factor_differs, fails };

/// A line of the page's table.
struct outcome {
  std::string source;
  std::string says;
  std::string paper;  ///< the paper's figure
  std::string ours;
  verdict came_out = verdict::fails;
  std::string reason;  ///< where it did not
};

/// What a paper says of one experiment.
struct claim {
  enum class kind {
    factor,  ///< `winner` takes 1 / `least` of the time of `other`, at `from` bytes
    best,    ///< `winner` is the fastest of all from `from` to `to` bytes
    ahead,   ///< `winner` is faster than `other` at `least` of the sizes from `from` to `to`
    close,   ///< `winner` takes as long as `other` does, but for `most`, from `from` to `to` bytes
    saving,  ///< `winner` takes between `least` and `most` less time than `other` does
  };
  kind what;
  std::string source;
  std::string says;
  std::string experiment;
  std::string winner;
  std::string other = {};
  std::size_t from = 0;
  std::size_t to = 0;
  double least = 1;
  double most = 1;
  bool on_average = false;  ///< a saving is meant of the mean over the sizes
  std::string reason = {};  ///< why it does not come out, if it is known not to
};

/// How far a factor may be off the paper's.
inline constexpr double tolerance = 0.25;

outcome check(const claim& one, const all_measurements& in);

/// All claims, in the order of the papers.
std::vector<claim> claims();

}  // namespace muster::reproduce
