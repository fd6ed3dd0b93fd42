// Connections of several subflows, whose packets a relay delays and whose sockets it breaks: what
// is sent comes once, in order, and whole.

#include "transports/tcp/multipath_connection.hpp"

#include <doctest/doctest.h>
#include <linux/sockios.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <list>
#include <memory>
#include <random>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "tools/conformance/build.hpp"
#include "tools/conformance/random.hpp"
#include "transports/stream/links.hpp"
#include "transports/tcp/endpoint.hpp"
#include "transports/tcp/packet.hpp"
#include "transports/tcp/peer_connection.hpp"
#include "transports/tcp/subflow.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;
using purpose = wire::links::purpose;

/// Passes on what two sides say through it, as a rail does, until it is cut.
class relay {
public:
  /// \param to where the side that is connected to listens
  explicit relay(const tcp::address& to)
      : door_(tcp::listen_at(tcp::address::resolve("127.0.0.1", 0))), to_(to) {
    thread_ = std::jthread([this](const std::stop_token& over) { run(over); });
  }
  const tcp::address& at() const noexcept { return door_.at; }
  /// All that is on its way is lost, with all connections.
  void cut() noexcept { cuts_.fetch_add(1); }

private:
  struct both_ways {
    std::array<descriptor, 2> ends;
    std::array<std::vector<char>, 2> waiting;  // to that end
  };

  void run(const std::stop_token& over) {
    int seen = 0;
    while (!over.stop_requested()) {
      if (const int cuts = cuts_.load(); cuts != seen) {
        seen = cuts;
        for (both_ways& each : all_) break_off(each);
        all_.clear();
      }
      accept();
      all_.remove_if([&](both_ways& one) { return !pass_on(one, 0) || !pass_on(one, 1); });
      std::this_thread::sleep_for(20us);
    }
  }
  void accept() {
    while (descriptor from = tcp::accept_from(door_)) {
      all_.push_back({.ends = {std::move(from), tcp::begin_connecting(to_)}, .waiting = {}});
    }
  }
  /// Without farewell.
  static void break_off(const both_ways& one) noexcept {
    for (const descriptor& end : one.ends) {
      const linger now{.l_onoff = 1, .l_linger = 0};
      ::setsockopt(end.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
    }
  }
  static bool pass_on(both_ways& one, std::size_t to) {
    std::array<char, 30'000> bytes;
    std::vector<char>& waiting = one.waiting[to];
    if (waiting.size() < 100'000) {
      const ssize_t got = ::recv(one.ends[1 - to].get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
      if (got == 0 || (got < 0 && errno != EAGAIN && errno != ENOTCONN)) return false;
      if (got > 0) waiting.insert(waiting.end(), bytes.begin(), bytes.begin() + got);
    }
    if (waiting.empty()) return true;
    const ssize_t sent =
        ::send(one.ends[to].get(), waiting.data(), waiting.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
    if (sent < 0) return errno == EAGAIN || errno == ENOTCONN;
    waiting.erase(waiting.begin(), waiting.begin() + sent);
    return true;
  }

  tcp::listener door_;
  tcp::address to_;
  std::list<both_ways> all_;
  std::atomic<int> cuts_ = 0;
  std::jthread thread_;
};

struct party {
  tcp::endpoint reach;
  stream::connections all;
  std::array<std::size_t, 2> members{0, 1};
  stream::links links;

  party(const tcp::endpoint::settings& how, std::vector<tcp::listener> doors,
        std::vector<tcp::paths> peers)
      : reach(how, std::move(doors), std::move(peers)),
        all(2, {&reach}),
        links(all, 0, members, how.rank, 4) {}
};

/// Two ranks, each of which reaches the other through relays.
struct couple {
  tcp::job_key key = tcp::job_key::random();
  std::array<std::deque<relay>, 2> rails;  // to the first, to the second
  std::array<std::unique_ptr<party>, 2> ranks;

  couple(std::size_t subflows, tcp::reactor::kind by)
      : couple(subflows, {.window = 8192, .reactor = by}, {}) {}
  /// \param beside where each rank has one way more, without a relay; empty: none has
  couple(std::size_t subflows, tcp::endpoint::settings how, std::span<const tcp::listener> beside) {
    std::array<tcp::paths, 2> ways;
    std::array<std::vector<tcp::listener>, 2> doors;
    for (std::size_t i = 0; i < 2; ++i) {
      doors[i].push_back(tcp::listen_at(tcp::address::resolve("127.0.0.1", 0)));
      for (std::size_t rail = 0; rail < subflows; ++rail) {
        rails[i].emplace_back(doors[i][0].at);
        ways[i].push_back({0, rails[i].back().at()});
      }
      if (!beside.empty()) ways[i].push_back({0, beside[i].at});
    }
    how.key = key;
    how.rank = 0;
    ranks[0] =
        std::make_unique<party>(how, std::move(doors[0]), std::vector<tcp::paths>{{}, ways[1]});
    how.rank = 1;
    ranks[1] =
        std::make_unique<party>(how, std::move(doors[1]), std::vector<tcp::paths>{ways[0], {}});
  }
  void progress() {
    for (const auto& each : ranks) each->all.progress();
  }
  void cut(std::size_t rail) {
    for (auto& each : rails) each[rail].cut();
  }
  /// Whether both have all subflows, as far as they have noticed.
  bool is_whole() {
    for (std::size_t i = 0; i < 2; ++i) {
      const auto& to = static_cast<const tcp::peer_connection&>(ranks[i]->all.to(1 - i));
      for (std::size_t rail = 0; rail < rails[i].size(); ++rail) {
        if (!to.is_open(rail)) return false;
      }
    }
    return true;
  }
};

std::vector<std::byte> bytes_of(std::size_t seed, std::size_t count) {
  std::vector<std::byte> bytes(count);
  random_stream random(seed);
  for (std::size_t i = 0; i < count; i += sizeof(std::uint64_t)) {
    const std::uint64_t next = random.next();
    std::memcpy(&bytes[i], &next, std::min(sizeof next, count - i));
  }
  return bytes;
}

/// What one rank sends the other in one lane, short messages and long ones in turn, and how far
/// both have come.
class conversation {
public:
  conversation(couple& between, std::size_t from, std::size_t lane, std::size_t messages)
      : out_(between.ranks[from]->links, lane, 1 - from, purpose::send),
        in_(between.ranks[1 - from]->links, lane, from, purpose::receive),
        seed_(1000 * lane + 100'000 * from),
        messages_(messages),
        expected_(message(0)) {}

  bool is_over() const noexcept { return received_ == messages_ && left_; }
  /// Both sides as far as they can.
  void go_on() {
    if (sent_ < messages_) send_one();
    if (sent_ == messages_ && out_->has_left()) left_ = true;
    if (received_ < messages_) receive_one();
  }

private:
  static constexpr std::size_t longest = sanitized ? 350'000 : 700'000;

  bool is_long(std::size_t i) const noexcept { return i % 4 == 3; }
  std::vector<std::byte> message(std::size_t i) const {
    return bytes_of(seed_ + i, is_long(i) ? longest - 1000 * (i % 300) : 1 + (i * 37) % 3000);
  }
  void send_one() {
    if (!is_long(sent_)) {
      const auto bytes = message(sent_);
      if (!out_->has_room(bytes.size())) return;
      out_->send({}, bytes);
      ++sent_;
      return;
    }
    if (!is_put_) {
      if (!out_->is_invited() || !out_->can_put()) return;
      std::array<std::byte, 8> head;
      out_->take_invitation(head);
      body_ = message(sent_);
      out_->put(head, body_);
      is_put_ = true;
    }
    if (!out_->has_left()) return;
    std::ranges::fill(body_, std::byte{0xee});  // ours again
    is_put_ = false;
    ++sent_;
  }
  void receive_one() {
    if (!is_long(received_)) {
      if (!in_->holds(expected_.size())) return;
      std::vector<std::byte> got(expected_.size());
      in_->take(got);
      CHECK((got == expected_));
      expected_ = message(++received_);
      return;
    }
    std::array<std::byte, 8> head{};
    if (!is_posted_) {
      if (!in_->can_post()) return;
      place_.assign(expected_.size(), std::byte{0});
      in_->post(head, place_);
      is_posted_ = true;
    }
    if (!is_taking_) {
      if (!in_->holds(head.size())) return;
      in_->take(head);
      in_->begin_taking(place_);
      is_taking_ = true;
    }
    if (in_->body() != wire::link::body_state::in_place) return;
    CHECK((place_ == expected_));
    is_posted_ = is_taking_ = false;
    expected_ = message(++received_);
    kept_ = std::move(place_);  // nothing may write there any more
    kept_expected_ = kept_;
    check_kept();
  }
  void check_kept() const { CHECK((kept_ == kept_expected_)); }

  wire::open_link out_;
  wire::open_link in_;
  std::size_t seed_;
  std::size_t messages_;
  std::vector<std::byte> expected_;  // the next one here
  std::size_t sent_ = 0;
  bool left_ = false;
  std::size_t received_ = 0;
  bool is_put_ = false;
  bool is_posted_ = false;
  bool is_taking_ = false;
  std::vector<std::byte> body_;
  std::vector<std::byte> place_;
  std::vector<std::byte> kept_;
  std::vector<std::byte> kept_expected_;
};

/// Both ranks speak in several lanes while `disturb` is called; false: it takes too long.
template <class Disturb>
bool converse(couple& two, std::size_t messages, Disturb disturb) {
  std::deque<conversation> all;
  for (std::size_t from = 0; from < 2; ++from) {
    for (std::size_t lane = 0; lane < 2; ++lane) {
      all.emplace_back(two, from, 2 * from + lane, messages);
    }
  }
  const auto end = std::chrono::steady_clock::now() + 60s;
  while (!std::ranges::all_of(all, &conversation::is_over)) {
    two.progress();
    for (conversation& each : all) each.go_on();
    disturb();
    if (std::chrono::steady_clock::now() > end) return false;
  }
  return true;
}

using by_epoll = std::integral_constant<tcp::reactor::kind, tcp::reactor::kind::epoll>;
using by_uring = std::integral_constant<tcp::reactor::kind, tcp::reactor::kind::io_uring>;

TEST_CASE_TEMPLATE("several subflows, whole", By, by_epoll, by_uring) {
  for (const std::size_t subflows : {1, 2, 3, 5}) {
    couple two(subflows, By::value);
    CHECK(converse(two, 24, [] {}));
  }
}

TEST_CASE_TEMPLATE("subflows that break again and again", By, by_epoll, by_uring) {
  INFO(how_to_replay());
  std::mt19937_64 random(run_seed());
  couple two(3, By::value);
  std::size_t rail = 0;
  int cuts = 0;
  bool is_cut = false;  // and neither side has noticed
  auto next = std::chrono::steady_clock::now();
  while (cuts < 8) {
    REQUIRE(converse(two, 12, [&] {
      // Never all at once, and not before the last has been made anew.
      if (!two.is_whole()) {
        is_cut = false;
        next = std::chrono::steady_clock::now() + std::chrono::milliseconds(random() % 200);
        return;
      }
      if (is_cut || std::chrono::steady_clock::now() < next) return;
      two.cut(rail);
      is_cut = true;
      ++cuts;
      rail = (rail + 1) % 3;
    }));
  }
}

/// Who has come to a listener and gets no answer.
class unanswered {
public:
  explicit unanswered(const tcp::listener& at) : at_(at) {}

  std::size_t count() {
    while (descriptor next = tcp::accept_from(at_)) all_.push_back(std::move(next));
    return all_.size();
  }
  /// Whether that one has gone.
  bool has_ended(std::size_t which) {
    std::array<char, 256> words;
    return ::recv(all_[which].get(), words.data(), words.size(), MSG_DONTWAIT) == 0;
  }

private:
  const tcp::listener& at_;
  std::vector<descriptor> all_;
};

TEST_CASE_TEMPLATE("a subflow that is not answered is tried again, and holds up nothing", By,
                   by_epoll, by_uring) {
  const tcp::address anywhere = tcp::address::resolve("127.0.0.1", 0);
  const std::array<tcp::listener, 2> deaf = {tcp::listen_at(anywhere), tcp::listen_at(anywhere)};
  couple two(
      1,
      {.window = 8192, .reactor = By::value, .longest_attempt = 200ms, .between_attempts = 100ms},
      deaf);
  std::array<unanswered, 2> come = {unanswered(deaf[0]), unanswered(deaf[1])};
  const auto has_tried_again = [](unanswered& one) { return one.count() > 1 && one.has_ended(0); };
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (!std::ranges::all_of(come, has_tried_again)) {
    REQUIRE(std::chrono::steady_clock::now() < end);
    REQUIRE(converse(two, 4, [] {}));
  }
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(two.ranks[i]->reach.state(1 - i) == wire::liveness::alive);
  }
}

/// A subflow of no connection, and who is at its other end.
struct lone_subflow final : tcp::reactor::handler {
  std::unique_ptr<tcp::reactor> by;
  tcp::subflow near;
  descriptor far;

  explicit lone_subflow(tcp::reactor::kind which) : by(tcp::make_reactor(which)) {
    const tcp::listener door = tcp::listen_at(tcp::address::resolve("127.0.0.1", 0));
    descriptor socket = tcp::begin_connecting(door.at);
    while (!tcp::how_connected(socket.get())) std::this_thread::sleep_for(100us);
    far = tcp::accept_from(door);
    REQUIRE(far);
    tcp::registration watch(*by, socket.get(), 0, tcp::reactor::interest::messages);
    near.open(std::move(socket), std::move(watch));
  }
  ~lone_subflow() { near.close(); }

  void note(std::uint64_t, bool readable, bool writable, bool ends) noexcept override {
    near.note(readable, writable, ends);
  }
  void bring(std::uint64_t, std::span<const std::byte> bytes) noexcept override {
    near.bring(bytes);
  }
  void stop_bringing(std::uint64_t, bool ends) noexcept override { near.stop_bringing(ends); }

  /// Of what it was given the system has so many bytes that it has not sent.
  std::size_t unsent() const {
    int bytes = 0;
    REQUIRE(::ioctl(near.socket(), SIOCOUTQNSD, &bytes) == 0);
    return static_cast<std::size_t>(bytes);
  }
  std::vector<std::byte> take() const {
    std::vector<std::byte> bytes(100'000);
    const ssize_t got = ::recv(far.get(), bytes.data(), bytes.size(), MSG_DONTWAIT);
    bytes.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
    return bytes;
  }
};

TEST_CASE_TEMPLATE("a slow subflow is given little that does not go yet, and the rest later", By,
                   by_epoll, by_uring) {
  constexpr std::size_t most = std::size_t{128} << 10;
  lone_subflow one(By::value);
  const auto body = bytes_of(3, std::size_t{16} << 20);
  tcp::packet head{};
  head.what = tcp::packet::kind::stripe;
  head.bytes = static_cast<std::uint32_t>(body.size());
  one.near.begin(head, {iovec{const_cast<std::byte*>(body.data()), body.size()}, iovec{}});
  const auto end = std::chrono::steady_clock::now() + 30s;
  while (one.unsent() < most && std::chrono::steady_clock::now() < end) one.near.push();
  CHECK(one.unsent() >= most);
  // The system takes whole segments, and looks before each.
  for (int i = 0; i < 1000 && one.unsent() < 2 * most; ++i) one.near.push();
  CHECK(one.unsent() < 2 * most);
  CHECK(one.near.is_sending());

  std::vector<std::byte> got;
  while (got.size() < sizeof head + body.size() && std::chrono::steady_clock::now() < end) {
    one.by->look(one);
    if (one.near.is_writable() && one.near.is_sending()) one.near.push();
    const auto more = one.take();
    got.insert(got.end(), more.begin(), more.end());
  }
  CHECK_FALSE(one.near.is_sending());
  REQUIRE(got.size() == sizeof head + body.size());
  CHECK(std::equal(body.begin(), body.end(), got.begin() + sizeof head));
}

}  // namespace
}  // namespace muster::testing
