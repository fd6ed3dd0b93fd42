#pragma once

#include <memory>
#include <string_view>

#include <muster/coro/task.hpp>

namespace muster {

class operation;

/// The same collective by an algorithm chosen by hand, for this call only:
///
///     co_await by("bruck:ports=2", alltoall(team, send, receive));
///
/// The same on every rank. `ports` and `groups` are options of algorithms that have them.
/// \param collective what any of Muster's collectives returned, not awaited
/// \throws error `errc::invalid_argument` for any other task, an unknown algorithm or option, or
/// one that does not suit the call
task<> by(std::string_view algorithm, task<> collective);

/// A collective made ready once, to be run many times on the same buffers:
///
///     plan exchange(alltoall(team, send, receive));
///     for (…) co_await exchange.run();
///
/// Arguments are checked, layouts kept and the algorithm chosen when the plan is made; a run
/// allocates nothing and costs less than the plain call. Local: that a rank calls through a plan
/// the others need not know, as long as no other algorithm is chosen by hand. Therefore a run takes
/// its place in the team's order when it begins, like the plain call; one that ranks begin in
/// different orders needs a team of its own (see `duplicate`). Buffers outlive the runs on them, a
/// reduction of the user's own the plan; layouts are copied. Move-only; dies before its team, and
/// not on another thread while it runs.
class plan {
public:
  /// \param collective what any of Muster's collectives returned, not awaited
  /// \throws error `errc::invalid_argument` for any other task
  explicit plan(task<> collective);

  /// One run, an operation like that of the plain call in all. The one before has ended, and its
  /// task is gone. \throws error `errc::invalid_argument` where it has not.
  task<> run();
  /// One run on other buffers, and all further ones: as long as the plan's, and null where its are,
  /// as for what is in place or a rank does not have. \throws as `run`, and where that differs
  task<> run_on(const void* send, void* receive);

private:
  operation& idle() const;
  struct dropping {  // a run that is still under way keeps what it needs
    void operator()(operation* kept) const noexcept;
  };
  std::unique_ptr<operation, dropping> kept_;
};

}  // namespace muster
