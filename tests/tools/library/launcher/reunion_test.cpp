// Ranks that meet again to make their job anew, and one of which fails each time.

#include "tools/library/launcher/reunion.hpp"

#include <doctest/doctest.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include <muster/base/error.hpp>
#include <muster/team/bootstrap.hpp>

#include "tests/harness/failure.hpp"
#include "transports/cluster/rendezvous.hpp"
#include "transports/tcp/socket.hpp"

namespace muster::testing {
namespace {

/// Rank 1 of 2: comes to each meeting, and goes when all are there.
class failing_rank {
public:
  explicit failing_rank(const cluster::meeting_place& at) : at_(at), thread_([this] { run(); }) {}
  /// Comes no more. \returns to how many it came
  int end() {
    {
      const std::scoped_lock lock(guard_);
      is_over_ = true;
      if (among_ != nullptr) among_->abandon();
    }
    thread_.join();
    return meetings_;
  }

private:
  void run() {
    while (come()) ++meetings_;
  }
  bool come() {
    cluster::rendezvous among(at_, 1, 2);
    if (!be_at(&among)) return false;
    const auto why = failure_of([&] {
      among.come_again();
      tell_all(among, std::uint8_t{0});
    });
    return be_at(nullptr) && !why;
  }
  bool be_at(cluster::rendezvous* among) {
    const std::scoped_lock lock(guard_);
    among_ = among;
    return !is_over_;
  }

  const cluster::meeting_place& at_;
  std::mutex guard_;  // of the next two
  cluster::rendezvous* among_ = nullptr;
  bool is_over_ = false;
  int meetings_ = 0;  // of the thread
  std::jthread thread_;
};

TEST_CASE("a rank gives up when 100 meetings have failed") {
  tcp::listener door = tcp::listen_at(tcp::address::resolve("127.0.0.1", 0));
  meeting one;
  one.size = 2;
  one.machine = 0;
  one.place.hosts = {"127.0.0.1"};
  one.place.port = door.at.port();
  one.place.key = tcp::job_key::random();
  const cluster::rendezvous_server server(std::move(door), one.size, one.place.key,
                                          std::chrono::seconds(60), cluster::meets::only_again);
  failing_rank other(one.place);
  const auto why = failure_of([&] { reunion_attempt(one).run(); });
  CHECK(other.end() == 100);
  REQUIRE(why);
  CHECK(why->code() == errc::bootstrap);
  CHECK(why->text().find("rank 1 went away") != std::string::npos);
}

}  // namespace
}  // namespace muster::testing
