// Fragments of the guide that use Boost.Asio.

#include <boost/asio/as_tuple.hpp>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/use_awaitable.hpp>
#include <boost/system/system_error.hpp>
#include <cstdint>
#include <exception>
#include <memory>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include <muster/asio.hpp>
#include <muster/muster.hpp>

#include "tests/guide/require.hpp"

namespace asio = boost::asio;
using guide::require;

namespace {

// The guide says so of the Boost that Debian 12 has.
static_assert(!std::is_base_of_v<std::system_error, boost::system::system_error>);

asio::awaitable<void> tasks(muster::team& team) {
  const std::size_t next = (team.rank() + 1) % team.size();
  const std::size_t before = (team.rank() + team.size() - 1) % team.size();
  // [async_run]
  const std::vector<int> mine = {static_cast<int>(team.rank())};
  std::vector<int> theirs(1);
  co_await muster::asio::async_run(team, team.send(next, 1, mine), asio::use_awaitable);
  const std::size_t came =
      co_await muster::asio::async_run(team, team.receive(before, 1, theirs), asio::use_awaitable);
  std::unique_ptr<muster::team> rest =
      co_await muster::asio::async_run(team, muster::shrink(team), asio::use_awaitable);
  // [async_run end]
  require(came == 1 && theirs[0] == static_cast<int>(before));
  require(rest->size() == team.size());
}

asio::awaitable<void> in_order(muster::team& team) {
  // [async_in_order]
  muster::sequencer order(team);
  const std::uint64_t id = 17;  // of the request, the same on all ranks
  const auto add = [&] { return muster::allreduce(team, 2.5, muster::sum); };
  const double total = co_await muster::asio::async_in_order(order, id, add, asio::use_awaitable);
  // [async_in_order end]
  require(total == 2.5 * static_cast<double>(team.size()));
  // No rank's sequencer goes while another's still tells its keys.
  co_await muster::asio::async_barrier(team, asio::use_awaitable);
}

asio::awaitable<void> errors(muster::team& team) {
  bool refused = false;
  const std::size_t nobody = team.size();
  // [asio errors]
  try {
    co_await muster::asio::async_bcast(team, 1, nobody, asio::use_awaitable);  // no such root
  } catch (const boost::system::system_error& why) {
    refused = why.code() == std::errc::invalid_argument;
  }
  // [asio errors end]
  require(refused);
  require(!team.failure());
}

asio::awaitable<void> all(muster::team& team) {
  co_await tasks(team);
  co_await in_order(team);
  co_await errors(team);
}

}  // namespace

int main() {
  asio::io_context io;
  muster::asio::world world(io);
  asio::co_spawn(io, all(world.team()), [](std::exception_ptr why) {
    if (why) std::rethrow_exception(why);
  });
  io.run();
}
