#pragma once

#include <optional>

#include <muster/api/plan.hpp>
#include <muster/call/arguments.hpp>
#include <muster/run/team.hpp>

#include "tools/mpi/call.hpp"

namespace muster::mpi {

/// A call that means the same whenever it is written alike, but for where its buffers are. Made
/// ready when it comes again: programs repeat their calls.
class cached_call {
public:
  cached_call(const call& written, const arguments& meant) : written_(written), meant_(meant) {}

  bool is_like(const call& other) const noexcept { return are_written_alike(written_, other); }
  const arguments& meant() const noexcept { return meant_; }
  /// The operation again, to be started, on the buffers that `now` names. The one before has ended.
  task<> again(team& on, const call& now);

private:
  call written_;
  arguments meant_;
  std::optional<plan> ready_;
};

}  // namespace muster::mpi
