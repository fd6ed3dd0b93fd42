#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <muster/team/shape.hpp>

#include "transports/sim/clock.hpp"

namespace muster::sim {

/// What ranks did and when, for the viewers of Chrome's trace format (Perfetto): a process a node,
/// a lane a rank, operations and phases as nested slices, messages as arrows.
class trace {
public:
  /// From `begins` to `ends`, on a rank's lane.
  void slice(std::size_t rank, std::string_view name, picoseconds begins, picoseconds ends,
             std::size_t bytes = 0);
  /// An operation of a rank begins, ends; several may be in progress.
  void operation_begins(std::size_t rank, std::string_view name, std::string_view algorithm,
                        std::uint64_t sequence, picoseconds when);
  void operation_ends(std::size_t rank, std::string_view name, std::uint64_t sequence,
                      picoseconds when);
  /// A message leaves, arrives; `number` joins the two.
  void leaves(std::size_t rank, std::uint64_t number, picoseconds when);
  void arrives(std::size_t rank, std::uint64_t number, picoseconds when);

  /// The whole, as JSON.
  std::string to_json(const shape& ranks) const;

private:
  struct entry {
    char phase;
    std::uint32_t rank;
    std::uint32_t name;  // index into names_
    picoseconds begins;
    picoseconds lasts;
    std::uint64_t number;
    std::uint32_t algorithm = 0;  // of 'b': index into names_
  };
  std::uint32_t name_index(std::string_view name);

  std::vector<std::string> names_;
  std::vector<entry> entries_;
};

}  // namespace muster::sim
