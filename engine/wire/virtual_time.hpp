#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <muster/call/arguments.hpp>

namespace muster::wire {

/// One rank's local work where time is virtual: it is done at once and then takes the time that a
/// model says. Fabrics on real hardware have none of this.
class virtual_time {
public:
  /// A collective begins at this rank, ends. Operations of a team are numbered from 1.
  virtual void begin(std::uint64_t sequence, const arguments& call,
                     std::string_view algorithm) noexcept = 0;
  virtual void end(std::uint64_t sequence, const arguments& call) noexcept = 0;

  virtual void copy(std::span<std::byte> to, const std::byte* from) noexcept = 0;
  /// Throws what a reduction of the user's own does.
  virtual void combine(const arguments& call, std::byte* to, std::span<const std::byte* const> from,
                       std::size_t count) = 0;
  /// The rank has seen what `flag`, in another rank's line, says: the line had to be fetched, and
  /// what was written before may be read.
  virtual void read_flag(const void* flag) noexcept = 0;
  /// The rank is about to change, at once, a flag that others of its node change, too: whatever it
  /// announced before is seen by then, and the line has to be fetched from whoever changed it last.
  /// \returns whether that takes until later; then the rank is resumed when it can change it.
  virtual bool take_line(const void* flag) noexcept = 0;
  /// Whether buffers hold anything. If not they are addresses alone, never touched.
  virtual bool carries_payload() const noexcept = 0;

  /// Whether the rank is busy for so long that others act before it goes on: then its coroutine
  /// suspends, and is resumed when the work is done.
  virtual bool busy() const noexcept = 0;
  virtual void resume_when_done(std::coroutine_handle<> next) noexcept = 0;

protected:
  ~virtual_time() = default;
};

/// What local work is awaited with.
class work_wait {
public:
  /// Done already.
  work_wait() = default;
  /// What `time` was given to do.
  explicit work_wait(virtual_time* time) noexcept : time_(time) {}

  bool await_ready() const noexcept { return time_ == nullptr || !time_->busy(); }
  void await_suspend(std::coroutine_handle<> self) const noexcept { time_->resume_when_done(self); }
  void await_resume() const noexcept {}

private:
  virtual_time* time_ = nullptr;
};

}  // namespace muster::wire
