#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include <muster/call/arguments.hpp>
#include <muster/run/operation.hpp>

namespace muster {

/// A team's last operation of each collective, to be run again for the next call like it: programs
/// repeat theirs, and it is dearer to make one than to run it.
///
/// Used by the thread that drives the team's engine alone. Where nothing is ever kept, any may
/// look.
class kept_operations {
public:
  /// The one for a call like its own, with the call's buffers; null where none is kept, or it runs.
  operation* find(team& on, const arguments& call) noexcept {
    kept& last = last_[static_cast<std::size_t>(call.what)];
    operation* const one = last.one.get();
    if (one == nullptr || one->is_out()) return nullptr;
    const last_prepared& prepared = on.selector().last(call.what);
    if (prepared.changes() != last.changes || prepared.find(call) == nullptr) return nullptr;
    one->move_to(call.send, call.receive);
    return one;
  }
  /// Keeps one that was just made and is to run, where the next call can be like it; else that goes
  /// with its task. \returns the same
  operation* keep(team& on, std::unique_ptr<operation> one) noexcept;
  /// One that is kept goes with its task from now on.
  void give_up(const operation& one) noexcept;

private:
  struct kept {
    std::unique_ptr<operation, operation::dropping> one;
    std::uint64_t changes = 0;  // of what was prepared, when it was
  };
  std::array<kept, collectives> last_;
};

}  // namespace muster
