#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include <muster/call/arguments.hpp>
#include <muster/run/operation.hpp>
#include <muster/run/team.hpp>

#include "tools/mpi/aliases.hpp"
#include "tools/mpi/call.hpp"

namespace muster::mpi {

/// A call that means the same whenever it is written alike, but for where its buffers are. Made
/// ready when it comes again: programs repeat their calls.
class cached_call {
public:
  /// \param rank the caller's
  cached_call(const call& written, const arguments& meant, std::size_t rank)
      : written_(written),
        meant_(meant),
        moves_send_(meant.send != nullptr && is_somewhere(written.send.buffer)),
        moves_receive_(meant.receive != nullptr && is_somewhere(written.receive.buffer)),
        refused_distance_(refused_distance(meant, rank)) {}

  [[gnu::always_inline]] bool is_like(const call& other) const noexcept {
    return are_written_alike(written_, other) && !is_refused(other);
  }
  const arguments& meant() const noexcept { return meant_; }
  /// Whether it is known that the MPI is not to carry it out, and so never to be asked again.
  bool stays() const noexcept { return stays_; }
  void stay() noexcept { stays_ = true; }
  /// The operation again, to be started, on the buffers that `now` names. The one before has ended.
  /// \throws error `errc::invalid_argument` where it has not
  task<> again(team& on, const call& now);

  /// Whether it has been made ready, the one before has ended, and nothing remains to be done
  /// behind it.
  bool is_ready() const noexcept { return ready_ != nullptr && !is_left_ && !ready_->is_out(); }
  /// Of one that has been made ready: the MPI is then to be called.
  bool is_left() const noexcept { return is_left_; }
  /// The same of one that is ready, begun: what remains of it, as `operation::run_here`.
  task<> again_here(const call& now) noexcept {
    operation& one = *ready_;
    move_to(now, one);
    return one.run_here();
  }

private:
  [[gnu::always_inline]] bool is_refused(const call& other) const noexcept {
    return refused_distance_ != never_refused && distance_of(other) == refused_distance_;
  }
  static std::ptrdiff_t distance_of(const call& of) noexcept {
    const auto address = [](const side& one) {
      return reinterpret_cast<std::uintptr_t>(one.buffer);
    };
    return static_cast<std::ptrdiff_t>(address(of.receive) - address(of.send));
  }
  void move_to(const call& now, operation& one) const noexcept {
    if (moves_send_) one.send_from(static_cast<const std::byte*>(now.send.buffer));
    if (moves_receive_) one.receive_into(static_cast<std::byte*>(now.receive.buffer));
  }

  call written_;
  arguments meant_;
  // A buffer that is nowhere in one such call is so in all, or it has no meaning on this rank.
  bool moves_send_;
  bool moves_receive_;
  std::ptrdiff_t refused_distance_;
  std::unique_ptr<operation, operation::dropping> ready_;
  bool is_left_ = false;
  bool stays_ = false;
};

}  // namespace muster::mpi
