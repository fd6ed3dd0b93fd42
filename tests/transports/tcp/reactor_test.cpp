// By which of the system's interfaces ranks learn what has come, and where one is refused.

#include "transports/tcp/reactor.hpp"

#include <doctest/doctest.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <muster/base/descriptor.hpp>
#include <muster/base/error.hpp>

#include "tests/harness/refuse_call.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;
using tcp::reactor;

/// What a process finds to which io_uring is refused.
enum found { fell_back = 0, did_not = 1, could_not_try = 2 };

int look_without_io_uring() {
  if (!refuse_call(SYS_io_uring_setup)) return could_not_try;
  std::string why;
  const bool is_epoll = tcp::make_reactor({}, &why)->which() == reactor::kind::epoll;
  if (!is_epoll || why != "Operation not permitted") return did_not;
  try {
    tcp::make_reactor(reactor::kind::io_uring);
    return did_not;
  } catch (const error& refused) {
    const bool says_why = std::string(refused.what()).find(why) != std::string::npos;
    return refused.code() == errc::resource && says_why ? fell_back : did_not;
  }
}

TEST_CASE("where io_uring is refused, epoll serves, and is said to") {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(look_without_io_uring());
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  CHECK(WEXITSTATUS(status) == fell_back);
}

struct ends {
  descriptor near;
  descriptor far;
};

ends connected() {
  std::array<int, 2> both{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, both.data()) == 0);
  return {descriptor(both[0]), descriptor(both[1])};
}

/// What was told.
struct memo final : reactor::handler {
  int readable = 0;
  int writable = 0;
  int stops = 0;
  bool ends = false;
  std::string brought;

  void note(std::uint64_t, bool may_read, bool may_write, bool last) noexcept override {
    readable += may_read ? 1 : 0;
    writable += may_write ? 1 : 0;
    ends = ends || last;
  }
  void bring(std::uint64_t, std::span<const std::byte> bytes) noexcept override {
    brought.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  void stop_bringing(std::uint64_t, bool last) noexcept override {
    ++stops;
    ends = ends || last;
  }
};

template <class So>
bool look_until(reactor& by, memo& told, So so) {
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (!so()) {
    by.look(told);
    if (std::chrono::steady_clock::now() > end) return false;
  }
  return true;
}

std::unique_ptr<reactor> by_uring() { return tcp::make_reactor(reactor::kind::io_uring); }

void say(const ends& through, const std::string& text) {
  REQUIRE(::send(through.far.get(), text.data(), text.size(), 0) ==
          static_cast<ssize_t>(text.size()));
}

TEST_CASE("io_uring brings what comes, until it is told to end") {
  const auto by = by_uring();
  const ends two = connected();
  const tcp::registration watch(*by, two.near.get(), 7, reactor::interest::messages);
  memo told;
  watch.begin_bringing();
  say(two, "one");
  CHECK(look_until(*by, told, [&] { return told.brought == "one"; }));
  say(two, "two");
  CHECK(look_until(*by, told, [&] { return told.brought == "onetwo"; }));
  watch.end_bringing();
  CHECK(look_until(*by, told, [&] { return told.stops == 1; }));
  CHECK(!told.ends);
  say(two, "three");
  for (int i = 0; i < 1000; ++i) by->look(told);
  CHECK(told.brought == "onetwo");
  watch.await_readable(false);
  CHECK(look_until(*by, told, [&] { return told.readable >= 1; }));
}

TEST_CASE("io_uring brings more than its buffers hold, and the end") {
  const auto by = by_uring();
  ends two = connected();
  const tcp::registration watch(*by, two.near.get(), 7, reactor::interest::messages);
  memo told;
  watch.begin_bringing();
  std::string all;
  for (int i = 0; i < 2000; ++i) {
    const std::string piece = std::to_string(i) + std::string(1000, 'x');
    say(two, piece);
    all += piece;
    const int stops = told.stops;
    by->look(told);
    if (told.stops != stops) watch.begin_bringing();
  }
  two.far = descriptor();
  CHECK(look_until(*by, told, [&, stops = told.stops]() mutable {
    if (told.stops != stops && !told.ends) watch.begin_bringing();
    stops = told.stops;
    return told.ends;
  }));
  CHECK(told.brought == all);
}

/// What the system has of an io_uring.
struct held {
  unsigned taken = 0;   ///< of what it was asked
  unsigned unseen = 0;  ///< of what it has told, within the ring
};

unsigned number_in(const std::string& text, const char* name) {
  const std::size_t at = text.find(std::string("\n") + name + ":");
  REQUIRE(at != std::string::npos);
  return static_cast<unsigned>(std::stoul(text.substr(text.find(':', at) + 1), nullptr, 0));
}

held held_of(const reactor& by) {
  std::ifstream file("/proc/self/fdinfo/" + std::to_string(by.descriptor()));
  const std::string text(std::istreambuf_iterator<char>(file), {});
  return {number_in(text, "SqHead"), number_in(text, "CqTail") - number_in(text, "CqHead")};
}

/// How often each was told that there is room.
struct roll final : reactor::handler {
  std::vector<int> calls;

  explicit roll(std::size_t size) : calls(size) {}
  void note(std::uint64_t who, bool, bool may_write, bool) noexcept override {
    calls[who] += may_write ? 1 : 0;
  }
  void bring(std::uint64_t, std::span<const std::byte>) noexcept override {}
  void stop_bringing(std::uint64_t, bool) noexcept override {}
  bool is_complete() const { return std::ranges::count(calls, 0) == 0; }
};

/// Asks so often, without a look, whether there is room, of which there is.
void check_asked_often(std::size_t times, const held& expected) {
  const auto by = by_uring();
  const ends two = connected();
  std::vector<tcp::registration> watches;
  for (std::size_t i = 0; i < times; ++i) {
    watches.emplace_back(*by, two.near.get(), i, reactor::interest::messages);
    watches.back().await_writable();
  }
  const held found = held_of(*by);
  CHECK(found.taken == expected.taken);
  CHECK(found.unseen == expected.unseen);
  roll told(times);
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (!told.is_complete() && std::chrono::steady_clock::now() < end) by->look(told);
  CHECK(told.is_complete());
  CHECK(std::ranges::count(told.calls, 1) == std::ssize(told.calls));
}

TEST_CASE("io_uring takes what it is asked for when there is room no more for another question") {
  check_asked_often(128, {.taken = 0, .unseen = 0});
  check_asked_often(129, {.taken = 128, .unseen = 128});
  check_asked_often(300, {.taken = 256, .unseen = 256});
}

TEST_CASE("io_uring keeps what it has to tell where there is room for it no more") {
  check_asked_often(1024 + 128, {.taken = 1024, .unseen = 1024});
  check_asked_often(3000, {.taken = 2944, .unseen = 1024});
}

TEST_CASE("what io_uring watches no more it keeps open no more") {
  const auto by = by_uring();
  ends two = connected();
  {
    const tcp::registration watch(*by, two.near.get(), 7, reactor::interest::messages);
    watch.begin_bringing();
    memo told;
    by->look(told);
  }
  two.near = descriptor();
  char byte = 0;
  CHECK(::recv(two.far.get(), &byte, 1, 0) == 0);
}

TEST_CASE("a process that was forked ends its own part of an io_uring alone") {
  std::unique_ptr<reactor> by = by_uring();
  const ends two = connected();
  std::optional<tcp::registration> watch;
  watch.emplace(*by, two.near.get(), 7, reactor::interest::messages);
  memo told;
  watch->begin_bringing();
  by->look(told);
  const pid_t child = ::fork();
  if (child == 0) {
    watch.reset();
    by.reset();
    ::_exit(0);
  }
  int status = 1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(status == 0);
  say(two, "on");
  CHECK(look_until(*by, told, [&] { return told.brought == "on"; }));
  CHECK(told.stops == 0);
}

TEST_CASE("a socket that io_uring watched for a thread that has ended is watched on") {
  const auto by = by_uring();
  const ends two = connected();
  const tcp::registration watch(*by, two.near.get(), 7, reactor::interest::messages);
  memo told;
  std::jthread([&] {
    watch.begin_bringing();
    by->look(told);
  }).join();
  say(two, "still");
  CHECK(look_until(*by, told, [&] { return told.stops == 1; }));
  CHECK(!told.ends);
  watch.begin_bringing();
  CHECK(look_until(*by, told, [&] { return told.brought == "still"; }));
}

TEST_CASE("both become readable once something has come") {
  for (const reactor::kind which : {reactor::kind::epoll, reactor::kind::io_uring}) {
    CAPTURE(tcp::name(which));
    const auto by = tcp::make_reactor(which);
    const ends two = connected();
    const tcp::registration watch(*by, two.near.get(), 7, reactor::interest::messages);
    memo told;
    for (int i = 0; i < 1000; ++i) {  // as one does that reads each time, and finds nothing
      watch.await_readable(false);
      by->look(told);
    }
    watch.await_readable(false);
    by->arm();
    pollfd sleeper{.fd = by->descriptor(), .events = POLLIN, .revents = 0};
    const int before = told.readable;
    say(two, "x");
    CHECK(::poll(&sleeper, 1, 10'000) == 1);
    by->disarm();
    CHECK(look_until(*by, told, [&] { return told.readable > before; }));
  }
}

}  // namespace
}  // namespace muster::testing
