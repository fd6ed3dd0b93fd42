// What a rank of a job of 1,000 takes for the others: descriptors and bytes, with none of them
// talked to, one, and all; and what it says when the system gives it no more.

#include "transports/tcp/footprint.hpp"

#include <doctest/doctest.h>
#include <malloc.h>
#include <sys/resource.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "transports/stream/links.hpp"
#include "transports/tcp/descriptors.hpp"
#include "transports/tcp/endpoint.hpp"

namespace {

// By thread: a heartbeat's answers are not this rank's doing.
constinit thread_local std::size_t bytes_in_use = 0;

void* counted(std::size_t bytes, std::size_t alignment) {
  void* memory = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
  if (memory == nullptr) throw std::bad_alloc();
  bytes_in_use += ::malloc_usable_size(memory);
  return memory;
}

void discount(void* memory) noexcept {
  bytes_in_use -= ::malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

void* operator new(std::size_t bytes) { return counted(bytes, alignof(std::max_align_t)); }
void* operator new[](std::size_t bytes) { return counted(bytes, alignof(std::max_align_t)); }
void* operator new(std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void* operator new[](std::size_t bytes, std::align_val_t alignment) {
  return counted(bytes, static_cast<std::size_t>(alignment));
}
void operator delete(void* memory) noexcept { discount(memory); }
void operator delete[](void* memory) noexcept { discount(memory); }
void operator delete(void* memory, std::size_t) noexcept { discount(memory); }
void operator delete[](void* memory, std::size_t) noexcept { discount(memory); }
void operator delete(void* memory, std::align_val_t) noexcept { discount(memory); }
void operator delete[](void* memory, std::align_val_t) noexcept { discount(memory); }
void operator delete(void* memory, std::size_t, std::align_val_t) noexcept { discount(memory); }
void operator delete[](void* memory, std::size_t, std::align_val_t) noexcept { discount(memory); }

namespace muster::testing {
namespace {

using namespace std::chrono_literals;
using purpose = wire::links::purpose;

constexpr std::size_t ranks = 1000;
constexpr std::size_t link_memory = std::size_t{64} << 20;
constexpr std::size_t lanes = 64;

std::size_t open_descriptors() {
  const std::filesystem::directory_iterator all("/proc/self/fd");
  return static_cast<std::size_t>(std::distance(begin(all), end(all))) - 1;  // this look's own
}

/// All other ranks of the job, as far as the system knows: one listens for all of them, lets in who
/// connects, and holds the connections.
class others {
public:
  explicit others(const tcp::job_key& key)
      : key_(key), door_(tcp::listen_at(tcp::address::resolve("127.0.0.1", 0))) {}

  const tcp::address& at() const noexcept { return door_.at; }
  std::size_t connected() const noexcept { return connected_.size(); }
  std::size_t descriptors() const noexcept { return connected_.size() + under_way_.size(); }
  void advance() {
    while (descriptor next = tcp::accept_from(door_))
      under_way_.emplace_back(std::move(next), key_);
    std::erase_if(under_way_, [this](tcp::admission& one) {
      if (one.advance() != tcp::admission::state::named) return false;
      one.accept();
      connected_.push_back(one.release());
      return true;
    });
  }

private:
  const tcp::job_key& key_;
  tcp::listener door_;
  std::vector<tcp::admission> under_way_;
  std::vector<descriptor> connected_;
};

std::vector<tcp::listener> one_door() {
  std::vector<tcp::listener> doors;
  doors.push_back(*tcp::try_listening_at(tcp::address::resolve("127.0.0.1", 0),
                                         tcp::listening_for::datagrams_too));
  return doors;
}

std::vector<tcp::paths> ways_to(const others& all, std::size_t subflows) {
  std::vector<tcp::paths> ways(ranks, tcp::paths(subflows, {0, all.at()}));
  ways[0].clear();
  return ways;
}

std::vector<std::size_t> all_ranks() {
  std::vector<std::size_t> all(ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) all[rank] = rank;
  return all;
}

/// Rank 0, whole.
struct rank {
  std::vector<std::size_t> members = all_ranks();
  tcp::endpoint reach;
  stream::connections connections;
  stream::links links;

  rank(const tcp::endpoint::settings& how, const others& all, std::size_t subflows)
      : reach(how, one_door(), ways_to(all, subflows)),
        connections(ranks, {&reach}),
        links(connections, 0, members, 0, lanes) {}

  void say_something(std::size_t to) {
    const std::array<std::byte, 100> bytes{};
    const wire::open_link out(links, 0, to, purpose::send);
    if (out->has_room(bytes.size())) out->send({}, bytes);
  }
};

/// Drives rank 0 and the others until that is so; false: it takes too long.
bool until(rank& one, others& all, const std::function<bool()>& so) {
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (!so()) {
    all.advance();
    one.connections.progress();
    if (std::chrono::steady_clock::now() > end) return false;
  }
  return true;
}

/// Besides the buffers of connections, a rank keeps so much of each other rank from the beginning,
/// and so much of each that it talks to. docs/performance.md says so.
constexpr std::size_t bytes_known = 1024;
/// And for all together what an io_uring puts short messages into, and its own state.
constexpr std::size_t bytes_of_reactor = std::size_t{320} << 10;
constexpr std::size_t bytes_talked_to = 2048;

void check_footprint(std::size_t subflows) {
  INFO(subflows, " subflows");
  const tcp::job_key key = tcp::job_key::random();
  others all(key);
  const std::size_t window = tcp::window_within(link_memory, ranks, subflows);
  const std::size_t each = tcp::connection_bytes(window, subflows);
  const std::size_t descriptors_before = open_descriptors();
  const std::size_t bytes_before = bytes_in_use;
  rank one({.rank = 0, .key = key, .window = window, .timeout = 10s}, all, subflows);
  const auto bytes = [&] { return bytes_in_use - bytes_before; };
  // The process has what the others hold, too.
  const auto descriptors = [&] {
    return open_descriptors() - descriptors_before - all.descriptors();
  };
  const auto talks_to = [&](std::size_t count) {
    return until(one, all, [&] {
      for (std::size_t rank = 1; rank <= count; ++rank) {
        if (!one.reach.is_open_to(rank)) return false;
      }
      return all.connected() == count * subflows;
    });
  };
  const std::size_t idle = tcp::idle_descriptors(1);

  CHECK(descriptors() == idle);
  CHECK(bytes() <= bytes_of_reactor + ranks * bytes_known);
  MESSAGE("none talked to: ", bytes(), " bytes, ", descriptors(), " descriptors");

  one.say_something(1);
  REQUIRE(talks_to(1));
  CHECK(descriptors() == idle + subflows);
  CHECK(bytes() <=
        bytes_of_reactor + ranks * bytes_known + each + bytes_talked_to + 8 * ranks * lanes);
  MESSAGE("one talked to: ", bytes(), " bytes");

  for (std::size_t rank = 2; rank < ranks; ++rank) {
    one.say_something(rank);
    if (rank % 100 == 0) REQUIRE(talks_to(rank));
  }
  REQUIRE(talks_to(ranks - 1));
  CHECK(descriptors() == idle + (ranks - 1) * subflows);
  CHECK(one.reach.most_descriptors() == tcp::idle_descriptors(1) + (ranks - 1) * subflows);
  CHECK(one.reach.most_bytes() == (ranks - 1) * each);
  CHECK(one.reach.most_bytes() <= link_memory);
  CHECK(bytes() >= one.reach.most_bytes());
  CHECK(bytes() <=
        bytes_of_reactor + one.reach.most_bytes() + ranks * (bytes_known + bytes_talked_to));
  MESSAGE("all talked to: ", bytes(), " bytes, ", one.reach.most_bytes(), " of them buffers, ",
          descriptors(), " descriptors");
}

TEST_CASE("descriptors and bytes of a rank of 1,000 follow those that it talks to") {
  check_footprint(1);
  check_footprint(2);
}

TEST_CASE("buffers stay within what they may take, or are the least there are") {
  for (const std::size_t subflows : {1, 2, 8}) {
    for (const std::size_t peers : {1, 10, 200, 256, 257, 1'000, 4'000, 10'000}) {
      INFO(peers, " peers, ", subflows, " subflows");
      const std::size_t window = tcp::window_within(link_memory, peers, subflows);
      const std::size_t all = peers * tcp::connection_bytes(window, subflows);
      CHECK(window >= tcp::least_window);
      CHECK(window <= wire::link::capacity);
      CHECK((all <= link_memory || window == tcp::least_window));
      // And are not shorter than they need to be.
      const std::size_t twice = peers * tcp::connection_bytes(2 * window, subflows);
      CHECK((twice > link_memory || window == wire::link::capacity));
    }
  }
  CHECK(tcp::window_within(link_memory, 256, 1) == 65536);
  CHECK(tcp::window_within(link_memory, 1'000, 1) == 16384);
  CHECK(tcp::window_within(link_memory, 10'000, 1) == 4096);
}

/// The process may have so many descriptors more than now, until it raises that.
class scarce_descriptors {
public:
  explicit scarce_descriptors(std::size_t more) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    rlimit now = before_;
    now.rlim_cur = open_descriptors() + more;
    ::setrlimit(RLIMIT_NOFILE, &now);
  }
  ~scarce_descriptors() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  scarce_descriptors(const scarce_descriptors&) = delete;
  scarce_descriptors& operator=(const scarce_descriptors&) = delete;

private:
  rlimit before_{};
};

TEST_CASE("a rank raises its own limit to what it may need") {
  const tcp::job_key key = tcp::job_key::random();
  const others all(key);
  const scarce_descriptors few(20);
  const std::size_t before = tcp::allowed_descriptors();
  const rank one({.rank = 0, .key = key}, all, 1);
  CHECK(before < ranks);
  CHECK(tcp::allowed_descriptors() >= one.reach.most_descriptors());
}

void check_shortage(const std::string& said) {
  INFO(said);
  CHECK(said.find("rank 0 can make no more connections: Too many open files") == 0);
  CHECK(said.find(std::to_string(tcp::allowed_descriptors()) + " are allowed (ulimit -n)") !=
        std::string::npos);
  CHECK(said.find("expected at least 1004 for sockets") != std::string::npos);
}

TEST_CASE("a rank that connects and has no descriptor left says what it needs") {
  const tcp::job_key key = tcp::job_key::random();
  const others all(key);
  std::string said;
  rank one({.rank = 0, .key = key, .give_up = [&](const std::string& why) { said = why; }}, all, 1);
  const scarce_descriptors few(20);
  for (std::size_t rank = 1; rank < 40; ++rank) one.say_something(rank);
  check_shortage(said);
}

/// Rank 0 with a door by which others come.
struct visited {
  explicit visited(const others& all, const tcp::job_key& key)
      : reach({.rank = 0, .key = key, .give_up = [this](const std::string& why) { said = why; }},
              std::move(doors), ways_to(all, 1)) {}

  void progress_for(std::chrono::milliseconds time) {
    const auto end = std::chrono::steady_clock::now() + time;
    while (said.empty() && std::chrono::steady_clock::now() < end) connections.progress();
  }

  std::string said;
  std::vector<tcp::listener> doors = one_door();
  tcp::address at = doors.front().at;
  tcp::endpoint reach;
  stream::connections connections{ranks, {&reach}};
};

/// Another rank's side, which connects.
tcp::admission come_as(std::uint32_t rank, const tcp::address& to, const tcp::job_key& key) {
  return {tcp::begin_connecting(to), key, {.from = rank, .to = 0}};
}

TEST_CASE("a rank that is connected to and has no descriptor left says what it needs") {
  const tcp::job_key key = tcp::job_key::random();
  const others all(key);
  visited one(all, key);
  std::vector<tcp::admission> coming;
  for (std::uint32_t rank = 1; rank <= 40; ++rank) coming.push_back(come_as(rank, one.at, key));
  const scarce_descriptors few(20);
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (one.said.empty() && std::chrono::steady_clock::now() < end) {
    const auto pause = std::chrono::steady_clock::now() + 50ms;
    std::vector<std::uint32_t> sent_away;  // for others that came
    while (std::chrono::steady_clock::now() < pause) {
      one.connections.progress();
      std::erase_if(coming, [&](tcp::admission& each) {
        const bool has_failed = each.advance() == tcp::admission::state::failed;
        if (has_failed) sent_away.push_back(each.who().from);
        return has_failed;
      });
    }
    for (const std::uint32_t rank : sent_away) coming.push_back(come_as(rank, one.at, key));
  }
  check_shortage(one.said);
}

TEST_CASE("strangers who say nothing keep no rank out that has no descriptor left") {
  const tcp::job_key key = tcp::job_key::random();
  const others all(key);
  visited one(all, key);
  std::vector<descriptor> strangers;
  for (int i = 0; i < 40; ++i) strangers.push_back(tcp::begin_connecting(one.at));
  tcp::admission peer = come_as(1, one.at, key);
  const scarce_descriptors few(20);
  one.progress_for(100ms);
  CHECK(one.said.empty());
  auto state = tcp::admission::state::under_way;
  const auto end = std::chrono::steady_clock::now() + 10s;
  while (state == tcp::admission::state::under_way && std::chrono::steady_clock::now() < end) {
    one.connections.progress();
    state = peer.advance();
  }
  CHECK(state == tcp::admission::state::accepted);
  CHECK(one.said.empty());
}

}  // namespace
}  // namespace muster::testing
