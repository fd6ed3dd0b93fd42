#pragma once

/// Muster in programs of Boost.Asio: `co_await muster::asio::async_allreduce(…, use_awaitable)`.

#if !__has_include(<boost/asio.hpp>)
#error \
    "<muster/asio.hpp> needs Boost.Asio: <boost/asio.hpp> is not found. Install Boost, on Debian libboost1.81-dev"
#endif

#include <boost/asio/io_context.hpp>

#include <memory>

#include <muster/asio/collectives.hpp>
#include <muster/asio/driver.hpp>
#include <muster/run/team.hpp>
#include <muster/world.hpp>

namespace muster::asio {

/// The team of all ranks of the job, as `muster::world`, driven by an `io_context`: no thread, and
/// no loop that looks while there is nothing to wait for. `run` returns when only the world is
/// left.
///
/// One a process, made and destroyed by one thread, while nobody runs the context; not destroyed in
/// a process that was forked. What is pending when it is destroyed completes
/// with `errc::stopped`, if the context runs again.
class world {
public:
  /// \param by outlives the world
  /// \param options but for who drives
  /// \throws error `errc::bootstrap` where the job cannot be joined
  explicit world(boost::asio::io_context& by, world_options options = {})
      : joined_(driven_from_outside(std::move(options))),
        driver_(std::make_shared<driver>(by, joined_.engine())) {
    joined_.engine().be_driven_by(driver_.get());
  }
  ~world() {
    driver_->close();
    joined_.engine().be_driven_by(nullptr);
  }
  world(const world&) = delete;
  world& operator=(const world&) = delete;

  muster::team& team() noexcept { return joined_.team(); }

private:
  static world_options driven_from_outside(world_options options) {
    options.progress = progress::external;
    return options;
  }

  muster::world joined_;
  std::shared_ptr<driver> driver_;
};

}  // namespace muster::asio
