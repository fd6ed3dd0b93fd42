// Where ranks meet: all come, one does not, strangers come, one goes too early.

#include "transports/cluster/rendezvous.hpp"

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <muster/base/error.hpp>
#include <muster/base/fixed_text.hpp>
#include <muster/base/version.hpp>

#include "tests/harness/failure.hpp"
#include "transports/cluster/bootstrap.hpp"
#include "transports/tcp/interfaces.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;

/// A place with somebody who serves there.
struct place {
  explicit place(std::size_t ranks, std::chrono::milliseconds patience = 10s,
                 cluster::meets often = cluster::meets::once) {
    tcp::listener door = tcp::listen_at(tcp::address::resolve("127.0.0.1", 0));
    at.hosts = {"127.0.0.1"};
    at.port = door.at.port();
    at.key = tcp::job_key::random();
    at.patience = patience;
    server = std::make_unique<cluster::rendezvous_server>(std::move(door), ranks, at.key, patience,
                                                          often);
  }
  cluster::meeting_place at;
  std::unique_ptr<cluster::rendezvous_server> server;
};

std::vector<std::uint32_t> ranks_told(cluster::rendezvous& among) {
  return tell_all(among, static_cast<std::uint32_t>(among.rank() * 10));
}

TEST_CASE("all ranks hear of all, more than once") {
  for (const std::size_t ranks : {1, 2, 7}) {
    place where(ranks);
    std::vector<std::vector<std::uint32_t>> heard(ranks);
    {
      std::vector<std::jthread> all;
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        all.emplace_back([&, rank] {
          cluster::rendezvous among(where.at, rank, ranks);
          ranks_told(among);
          heard[rank] = ranks_told(among);
        });
      }
    }
    for (const auto& each : heard) {
      REQUIRE(each.size() == ranks);
      for (std::size_t rank = 0; rank < ranks; ++rank) CHECK(each[rank] == rank * 10);
    }
  }
}

TEST_CASE("some of them among themselves") {
  place where(5);
  std::vector<std::vector<std::uint32_t>> heard(5);
  {
    std::vector<std::jthread> all;
    for (std::size_t rank = 0; rank < 5; ++rank) {
      all.emplace_back([&, rank] {
        cluster::rendezvous among(where.at, rank, 5);
        const std::vector<std::size_t> some =
            rank % 2 == 0 ? std::vector<std::size_t>{0, 2, 4} : std::vector<std::size_t>{1, 3};
        cluster::part_of_rendezvous part(among, some);
        for (std::size_t i = 0; i < rank + 1; ++i) {
          if (rank % 2 == 0 && i < 1)
            heard[rank] = tell_all(part, static_cast<std::uint32_t>(rank));
          if (rank % 2 == 1 && i < 2)
            heard[rank] = tell_all(part, static_cast<std::uint32_t>(rank));
        }
        ranks_told(among);
      });
    }
  }
  CHECK(heard[0] == std::vector<std::uint32_t>{0, 2, 4});
  CHECK(heard[3] == std::vector<std::uint32_t>{1, 3});
}

TEST_CASE("a rank that does not come is named") {
  place where(3, 2s);
  std::vector<std::string> said(2);
  {
    std::vector<std::jthread> all;
    for (std::size_t rank = 0; rank < 2; ++rank) {
      all.emplace_back([&, rank] {
        const auto why = failure_of([&] {
          cluster::rendezvous among(where.at, rank, 3);
          ranks_told(among);
        });
        if (why) said[rank] = why->text();
      });
    }
  }
  for (const std::string& each : said) {
    INFO(each);
    CHECK(each.find("did not come") != std::string::npos);
    CHECK(each.find("such as 2") != std::string::npos);
  }
}

TEST_CASE("two processes as one rank, and a job of another size") {
  place where(2);
  cluster::rendezvous first(where.at, 0, 2);
  first.relate_clock();
  const auto twice = failure_of([&] {
    cluster::rendezvous again(where.at, 0, 2);
    ranks_told(again);
  });
  REQUIRE(twice);
  CHECK(twice->text().find("two processes came as rank 0") != std::string::npos);

  place other(2);
  const auto wrong = failure_of([&] {
    cluster::rendezvous one(other.at, 1, 4);
    ranks_told(one);
  });
  REQUIRE(wrong);
  CHECK(wrong->text().find("rank 1 of 4 came to a job of 2 ranks") != std::string::npos);
}

TEST_CASE("a rank whose first way in took too long comes again") {
  place where(2);
  const auto goes_in = [&](std::size_t rank) {
    return std::make_unique<cluster::rendezvous>(where.at, rank, 2);
  };
  const auto given_up_but_open = goes_in(0);
  goes_in(1);  // and given up
  std::vector<std::uint32_t> heard;
  {
    std::jthread other([&] { ranks_told(*goes_in(1)); });
    heard = ranks_told(*goes_in(0));
  }
  CHECK(heard == std::vector<std::uint32_t>{0, 10});
}

TEST_CASE("another key is not let in") {
  place where(2, 300ms);
  cluster::meeting_place stranger = where.at;
  stranger.key = tcp::job_key::random();
  const auto why = failure_of([&] { cluster::rendezvous one(stranger, 0, 2); });
  REQUIRE(why);
  CHECK(why->code() == errc::bootstrap);
  CHECK(why->text().find("same key") != std::string::npos);
}

TEST_CASE("whose time ends while it is refused is told nothing else") {
  for (int i = 0; i < 100; ++i) {
    place where(2, std::chrono::milliseconds(1 + i % 4));
    cluster::meeting_place stranger = where.at;
    stranger.key = tcp::job_key::random();
    const auto why = failure_of([&] { cluster::rendezvous one(stranger, 0, 2); });
    REQUIRE(why);
    CHECK(why->code() == errc::bootstrap);
  }
}

TEST_CASE("different versions in one job are named, by all ranks") {
  place where(3);
  std::vector<std::string> said(2);
  {
    std::vector<std::jthread> all;
    for (const std::size_t rank : {0, 1}) {
      all.emplace_back([&, rank] {
        cluster::rendezvous among(where.at, rank, 3);
        const auto why = failure_of([&] { cluster::make_job(among, where.at.key); });
        if (why) said[rank] = why->text();
      });
    }
    // All that it says before it knows is its version.
    all.emplace_back([&] {
      cluster::rendezvous among(where.at, 2, 3);
      tell_all(among, fixed_text<32>("0.0.7"));
    });
  }
  for (const std::string& each : said) {
    CHECK(each ==
          "rank 2 has Muster 0.0.7, rank 0 has " + std::string(version) + "; expected one version");
  }
}

TEST_CASE("a server without descriptors says what it needs") {
  place where(2);
  cluster::rendezvous first(where.at, 0, 2);
  const descriptor second(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0));
  const tcp::address there = tcp::address::resolve("127.0.0.1", where.at.port);
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  rlimit none = before;
  none.rlim_cur = 3;  // more are open
  ::setrlimit(RLIMIT_NOFILE, &none);
  ::connect(second.get(), there.get(), there.length);
  const auto why = failure_of([&] { ranks_told(first); });
  ::setrlimit(RLIMIT_NOFILE, &before);
  REQUIRE(why);
  INFO(why->text());
  CHECK(why->text().find("can take no more of 2 ranks: Too many open files: 3 are allowed") !=
        std::string::npos);
  CHECK(why->text().find("expected at least 68") != std::string::npos);
}

/// Another process, so that its descriptors are its own.
class child {
public:
  explicit child(const std::function<bool()>& work) : id_(::fork()) {
    if (id_ != 0) return;
    bool is_well = false;
    try {
      is_well = work();
    } catch (const std::exception&) {
      // It says so by its status.
    }
    ::_exit(is_well ? 0 : 1);
  }
  ~child() {
    if (id_ <= 0) return;
    ::kill(id_, SIGKILL);
    ::waitpid(id_, nullptr, 0);
  }
  child(const child&) = delete;
  child& operator=(const child&) = delete;

  bool ends_well() {
    int status = 0;
    ::waitpid(std::exchange(id_, 0), &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
  }

private:
  pid_t id_;
};

TEST_CASE("strangers who say nothing keep no rank out, though a server has few descriptors") {
  tcp::listener door = tcp::listen_at(tcp::address::resolve("127.0.0.1", 0));
  const tcp::address at = door.at;
  const cluster::meeting_place where{
      .hosts = {"127.0.0.1"}, .port = at.port(), .key = tcp::job_key::random(), .patience = 10s};
  constexpr std::size_t strangers = 200;
  std::array<int, 2> said{};
  REQUIRE(::pipe(said.data()) == 0);
  const descriptor heard(said[0]);
  descriptor says(said[1]);
  const child crowd([&] {
    std::vector<descriptor> all;
    for (std::size_t i = 0; i < strangers; ++i) all.push_back(tcp::begin_connecting(at));
    return ::write(says.get(), "x", 1) == 1 && ::pause() == 0;
  });
  char ready = 0;
  REQUIRE(::read(heard.get(), &ready, 1) == 1);
  std::deque<child> ranks;
  for (const std::size_t rank : {0, 1}) {
    ranks.emplace_back([&where, rank] {
      cluster::rendezvous among(where, rank, 2);
      return ranks_told(among) == std::vector<std::uint32_t>{0, 10};
    });
  }
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const rlimit few{.rlim_cur = 100, .rlim_max = before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &few);
  {
    const cluster::rendezvous_server server(std::move(door), 2, where.key, 10s);
    for (child& each : ranks) CHECK(each.ends_well());
  }
  ::setrlimit(RLIMIT_NOFILE, &before);
}

TEST_CASE("a rank that comes by the loopback learns by which address others come") {
  tcp::listener door = tcp::listen_everywhere_at(0);
  const auto outside = tcp::beyond_loopback(tcp::address::resolve("127.0.0.1", 0));
  cluster::meeting_place near{
      .hosts = {"127.0.0.1"}, .port = door.at.port(), .key = tcp::job_key::random()};
  cluster::meeting_place far = near;
  far.hosts = {outside.host_text()};
  const cluster::rendezvous_server server(std::move(door), 2, near.key, 10s);
  std::jthread other([&] {
    cluster::rendezvous among(far, 1, 2);
    ranks_told(among);
    CHECK(among.address_for_others().is_same_host(outside));
    ranks_told(among);
  });
  cluster::rendezvous among(near, 0, 2);
  ranks_told(among);
  CHECK(among.address_for_others().is_same_host(outside));
  ranks_told(among);
}

TEST_CASE("clocks are related, and the error is told") {
  place where(3);
  std::vector<clock_relation> found(3);
  {
    std::vector<std::jthread> all;
    for (std::size_t rank = 0; rank < 3; ++rank) {
      all.emplace_back([&, rank] {
        cluster::rendezvous among(where.at, rank, 3);
        ranks_told(among);
        found[rank] = among.relate_clock();
        ranks_told(among);
      });
    }
  }
  // They all have one clock, which is within what may be wrong.
  for (const clock_relation& each : found) {
    CHECK(each.error_ns > 0);
    CHECK(std::abs(each.offset_ns) <= each.error_ns);
  }
}

TEST_CASE("a rank that goes too early breaks it for all") {
  place where(2);
  std::jthread early([&] { cluster::rendezvous(where.at, 1, 2).relate_clock(); });
  cluster::rendezvous patient(where.at, 0, 2);
  early.join();
  const auto why = failure_of([&] { ranks_told(patient); });
  REQUIRE(why);
  CHECK(why->text().find("rank 1 went away") != std::string::npos);
}

TEST_CASE("a rank that has come and says nothing is named") {
  place where(3, 2s);
  cluster::rendezvous silent(where.at, 1, 3);
  silent.relate_clock();
  std::vector<std::optional<error>> why(3);
  {
    std::vector<std::jthread> all;
    for (const std::size_t rank : {0, 2}) {
      all.emplace_back([&, rank] {
        why[rank] = failure_of([&] {
          cluster::rendezvous among(where.at, rank, 3);
          ranks_told(among);
        });
      });
    }
  }
  for (const std::size_t rank : {0, 2}) {
    REQUIRE(why[rank]);
    CHECK(why[rank]->code() == errc::bootstrap);
    CHECK(why[rank]->text().find("1 of 3 ranks, such as 1, said nothing for 2 s") !=
          std::string::npos);
  }
  CHECK(failure_of([&] { ranks_told(silent); }));
}

struct coming {
  coming(const place& where, std::size_t rank, std::size_t size) : at(where.at, rank, size) {}
  operator cluster::rendezvous&() { return at; }
  cluster::rendezvous at;
};
/// To another meeting than the first.
struct returning : coming {
  returning(const place& where, std::size_t rank, std::size_t size) : coming(where, rank, size) {
    at.come_again();
  }
};

/// All ranks of `where` meet and hear of each other.
template <class Rank>
void meet(const place& where, std::size_t ranks) {
  std::vector<std::jthread> all;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    all.emplace_back([&where, rank, ranks] {
      Rank among(where, rank, ranks);
      CHECK(ranks_told(among).size() == ranks);
      CHECK(ranks_told(among).size() == ranks);
    });
  }
}

TEST_CASE("a rank that asks after the server has gone is told so, however often") {
  place where(2);
  cluster::rendezvous among(where.at, 0, 2);
  where.server.reset();
  // The connection breaks at the first question: the others are written into a broken one.
  for (int i = 0; i < 3; ++i) {
    const auto why = failure_of([&] { ranks_told(among); });
    REQUIRE(why);
    CHECK(why->text().find("went away") != std::string::npos);
  }
}

TEST_CASE("ranks meet again and again") {
  for (const auto often : {cluster::meets::again, cluster::meets::only_again}) {
    const place where(3, 10s, often);
    if (often == cluster::meets::again) meet<coming>(where, 3);
    for (int i = 0; i < 5; ++i) meet<returning>(where, 3);
  }
}

TEST_CASE("where they meet again nobody waits too long, and whoever goes may come once more") {
  const place where(3, 2s, cluster::meets::only_again);
  {
    std::jthread replaced([&] {
      returning among(where, 1, 3);
      CHECK(failure_of([&] { ranks_told(among); }));
    });
    returning killed(where, 2, 3);
    std::this_thread::sleep_for(2500ms);  // longer than the patience
    const returning again(where, 1, 3);   // takes the place of the one that waits
  }
  meet<returning>(where, 3);
}

TEST_CASE("what waits can be abandoned") {
  const place where(2, 10s, cluster::meets::only_again);
  returning among(where, 0, 2);
  const std::jthread later([&among] {
    std::this_thread::sleep_for(50ms);
    among.at.abandon();
  });
  const auto why = failure_of([&] { ranks_told(among); });
  REQUIRE(why);
  CHECK(why->code() == errc::bootstrap);
}

TEST_CASE("a rank that comes no more breaks every later meeting") {
  const place where(2, 10s, cluster::meets::only_again);
  meet<returning>(where, 2);
  std::jthread ends([&] {
    std::this_thread::sleep_for(50ms);
    cluster::rendezvous::tell_of_end(where.at, 1, 2);
  });
  for (int i = 0; i < 2; ++i) {
    const auto why = failure_of([&] {
      returning waits(where, 0, 2);
      ranks_told(waits);
    });
    REQUIRE(why);
    CHECK(why->code() == errc::rank_left);
    CHECK(why->text().find("rank 1 has ended") != std::string::npos);
  }
}

TEST_CASE("a rank that fails once all have come breaks that meeting alone") {
  const place where(2, 10s, cluster::meets::only_again);
  {
    returning patient(where, 0, 2);
    {
      const returning early(where, 1, 2);
    }
    const auto why = failure_of([&] { ranks_told(patient); });
    REQUIRE(why);
    CHECK(why->code() == errc::bootstrap);
    CHECK(why->text().find("rank 1 went away") != std::string::npos);
    CHECK(failure_of([&] { ranks_told(patient); }));  // also if it asks once more
  }
  meet<returning>(where, 2);
}

TEST_CASE("a rank that comes again before the first meeting breaks that") {
  const place where(2, 10s, cluster::meets::again);
  cluster::rendezvous patient(where.at, 0, 2);
  patient.relate_clock();
  std::jthread again([&] {
    returning among(where, 1, 2);
    CHECK(ranks_told(among).size() == 2);
  });
  const auto why = failure_of([&] { ranks_told(patient); });
  REQUIRE(why);
  CHECK(why->text().find("rank 1 failed before all had come") != std::string::npos);
  returning also(where, 0, 2);
  CHECK(ranks_told(also).size() == 2);
}

}  // namespace
}  // namespace muster::testing
