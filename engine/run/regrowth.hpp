#pragma once

#include <memory>

#include <muster/coro/task.hpp>

namespace muster {

class team;

/// How ranks that were started again become part of a team: whoever starts them provides it.
class regrowth {
public:
  /// See `grow`, which calls it.
  virtual task<std::unique_ptr<team>> grow(team& of) = 0;

protected:
  ~regrowth() = default;
};

}  // namespace muster
