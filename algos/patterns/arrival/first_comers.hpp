#pragma once

#include <cstddef>
#include <optional>

#include <muster/run/context.hpp>

/// Operations with a root in which it does not matter which rank of a node hears from the root:
/// whoever comes first of its node speaks for it, and calls on the root, which serves nodes in the
/// order in which they call. So no rank but the root is waited for by any other.
namespace muster::algos {

/// Who speaks for this rank's node, by place in it: the root on its own, elsewhere whoever is first
/// to ask here.
std::size_t first_speaker(context& me);

/// A speaker calls on the root.
task<> call_on_root(context& me);

/// Those who call on the root, one of each node but its own.
class callers {
public:
  explicit callers(context& root);

  /// The next one; nothing after the last.
  task<std::optional<std::size_t>> next();
  /// All who have called by now, up to so many: one that is waited for, and then those who need no
  /// waiting. None after the last.
  task<pooled_list<std::size_t>> next_that_are_here(std::size_t most);

private:
  task<> take(std::size_t caller);

  context& me_;
  peer_arrivals here_;
};

}  // namespace muster::algos
