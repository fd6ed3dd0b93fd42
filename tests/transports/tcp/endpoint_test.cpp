// Connections between ranks by sockets: both at once, short and long messages mixed, strangers, and
// what cannot be.

#include "transports/tcp/endpoint.hpp"

#include <doctest/doctest.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <span>
#include <stop_token>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "tools/conformance/random.hpp"
#include "transports/stream/links.hpp"

namespace muster::testing {
namespace {

using purpose = wire::links::purpose;
using namespace std::chrono_literals;

/// Keeps what it reads.
struct diary final : stream::newsreader {
  std::vector<std::uint32_t> kinds;

  void read(std::size_t, const stream::frame& head, std::span<const std::byte>) override {
    kinds.push_back(head.lane);
  }
};

struct fields {
  std::uint32_t from;
  std::uint32_t lane;
  stream::frame::kind what;
  std::uint32_t taken;
  std::uint32_t bytes;
};

/// Of team 0. The kind is not in the braces, where g++ takes fewer bits for a loss.
stream::frame frame_of(const fields& all) {
  stream::frame made{};
  made.from = all.from;
  made.lane = all.lane;
  made.what = all.what;
  made.taken = all.taken & stream::taken_bits;
  made.bytes = all.bytes;
  return made;
}

stream::frame news_of(std::uint32_t kind) {
  return frame_of(
      {.from = 0, .lane = kind, .what = stream::frame::kind::news, .taken = 0, .bytes = 0});
}

struct party {
  tcp::endpoint reach;
  diary heard;
  stream::connections all;
  std::array<std::size_t, 2> members{0, 1};
  stream::links links;

  party(const tcp::endpoint::settings& how, std::vector<tcp::listener> doors,
        std::vector<tcp::paths> peers)
      : reach(how, std::move(doors), std::move(peers)),
        all(2, {&reach}, &heard),
        links(all, 0, members, how.rank, 8) {}
};

std::vector<tcp::listener> only(tcp::listener one) {
  std::vector<tcp::listener> all;
  all.push_back(std::move(one));
  return all;
}

/// Two ranks, driven by one thread.
struct couple {
  tcp::job_key key = tcp::job_key::random();
  tcp::address first_at;
  std::unique_ptr<party> first;
  std::unique_ptr<party> second;

  /// \param subflows of their connection
  couple(std::size_t subflows, tcp::reactor::kind by)
      : couple(subflows, {.window = 4096, .reactor = by}) {}
  couple(std::size_t subflows, tcp::endpoint::settings how) {
    const tcp::address anywhere = tcp::address::resolve("127.0.0.1", 0);
    tcp::listener one = tcp::listen_at(anywhere);
    tcp::listener other = tcp::listen_at(anywhere);
    first_at = one.at;
    const tcp::paths to_first(subflows, {0, one.at});
    const tcp::paths to_second(subflows, {0, other.at});
    how.key = key;
    how.rank = 0;
    first =
        std::make_unique<party>(how, only(std::move(one)), std::vector<tcp::paths>{{}, to_second});
    how.rank = 1;
    second =
        std::make_unique<party>(how, only(std::move(other)), std::vector<tcp::paths>{to_first, {}});
  }

  void progress() {
    first->all.progress();
    second->all.progress();
  }
  /// Drives both until that is so; false: it takes too long.
  bool until(const std::function<bool()>& so) {
    const auto end = std::chrono::steady_clock::now() + 10s;
    while (!so()) {
      progress();
      if (std::chrono::steady_clock::now() > end) return false;
    }
    return true;
  }
};

std::vector<std::byte> bytes_of(std::size_t seed, std::size_t count) {
  std::vector<std::byte> bytes(count);
  for (std::size_t i = 0; i < count; ++i) bytes[i] = static_cast<std::byte>(seed * 37 + i * 11);
  return bytes;
}

void send(couple& two, party& from, std::size_t lane, std::size_t to,
          const std::vector<std::byte>& bytes) {
  const wire::open_link out(from.links, lane, to, purpose::send);
  REQUIRE(two.until([&] { return out->has_room(bytes.size()); }));
  out->send({}, bytes);
}

void receive(couple& two, party& at, std::size_t lane, std::size_t from,
             const std::vector<std::byte>& expected) {
  const wire::open_link in(at.links, lane, from, purpose::receive);
  REQUIRE(two.until([&] { return in->holds(expected.size()); }));
  std::vector<std::byte> got(expected.size());
  in->take(got);
  CHECK(got == expected);
}

/// What two ranks are joined by.
template <std::size_t Subflows, tcp::reactor::kind By>
struct joined {
  static constexpr tcp::reactor::kind by = By;
  static couple make(std::size_t zero_copy_from = 0) {
    return couple(Subflows, {.window = 4096, .zero_copy_from = zero_copy_from, .reactor = By});
  }
};
using one = joined<1, tcp::reactor::kind::epoll>;
using three = joined<3, tcp::reactor::kind::epoll>;
using one_by_uring = joined<1, tcp::reactor::kind::io_uring>;
using three_by_uring = joined<3, tcp::reactor::kind::io_uring>;

TEST_CASE_TEMPLATE("whoever speaks first connects, and both speak", Joined, one, three,
                   one_by_uring, three_by_uring) {
  couple two = Joined::make();
  send(two, *two.second, 0, 0, bytes_of(1, 100));
  receive(two, *two.first, 0, 1, bytes_of(1, 100));
  send(two, *two.first, 0, 1, bytes_of(2, 100));
  receive(two, *two.second, 0, 0, bytes_of(2, 100));
}

TEST_CASE_TEMPLATE("both speak first at once", Joined, one, three, one_by_uring, three_by_uring) {
  for (int round = 0; round < 20; ++round) {
    couple two = Joined::make();
    send(two, *two.first, 0, 1, bytes_of(1, 100));
    send(two, *two.second, 0, 0, bytes_of(2, 100));
    receive(two, *two.second, 0, 0, bytes_of(1, 100));
    receive(two, *two.first, 0, 1, bytes_of(2, 100));
  }
}

TEST_CASE_TEMPLATE("lanes in another order, more than fits", Joined, one, three, one_by_uring,
                   three_by_uring) {
  couple two = Joined::make();
  for (int round = 0; round < 50; ++round) {
    for (std::size_t lane = 0; lane < 4; ++lane) {
      send(two, *two.first, lane, 1, bytes_of(lane, 700));
    }
    for (std::size_t lane = 4; lane-- > 0;) {
      receive(two, *two.second, lane, 0, bytes_of(lane, 700));
    }
  }
}

TEST_CASE_TEMPLATE("long messages, and short ones between their pieces", Joined, one, three,
                   one_by_uring, three_by_uring) {
  couple two = Joined::make();
  std::vector<std::byte> place(3'000'000);
  const auto body = bytes_of(5, place.size());
  const auto head = bytes_of(6, 16);
  const wire::open_link out(two.first->links, 0, 1, purpose::send);
  const wire::open_link in(two.second->links, 0, 0, purpose::receive);
  REQUIRE(two.until([&] { return in->can_post(); }));
  in->post(head, place);
  REQUIRE(two.until([&] { return out->is_invited(); }));
  std::array<std::byte, 16> invitation;
  out->take_invitation(invitation);
  REQUIRE(out->can_put());
  out->put(head, body);
  for (std::size_t i = 0; i < 5; ++i) send(two, *two.first, 1, 1, bytes_of(i, 500));
  REQUIRE(two.until([&] { return in->holds(16); }));
  std::array<std::byte, 16> got;
  in->take(got);
  in->begin_taking(place);
  for (std::size_t i = 0; i < 5; ++i) receive(two, *two.second, 1, 0, bytes_of(i, 500));
  REQUIRE(two.until([&] { return in->body() == wire::link::body_state::in_place; }));
  REQUIRE(two.until([&] { return out->has_left(); }));
  CHECK(place == body);
}

/// A long message from the first to the second, which has not begun to take it.
struct putting {
  wire::open_link in;
  wire::open_link out;

  putting(couple& two, std::span<std::byte> place, const std::vector<std::byte>& body)
      : in(two.second->links, 0, 0, purpose::receive), out(two.first->links, 0, 1, purpose::send) {
    const auto head = bytes_of(6, 16);
    REQUIRE(two.until([&] { return in->can_post(); }));
    in->post(head, place);
    REQUIRE(two.until([&] { return out->is_invited(); }));
    out->put(head, body);
  }

  /// What comes goes to `place`.
  void take(const std::stop_token& over, party& at, std::span<std::byte> place) const {
    while (!in->holds(16) && !over.stop_requested()) at.all.progress();
    std::array<std::byte, 16> head;
    if (!in->holds(16)) return;
    in->take(head);
    in->begin_taking(place);
    while (!over.stop_requested()) at.all.progress();
  }
};

TEST_CASE_TEMPLATE("a long message that is taken back does not disturb what comes after", Joined,
                   one, three, one_by_uring, three_by_uring) {
  couple two = Joined::make();
  std::vector<std::byte> place(5'000'000);
  {
    const auto body = bytes_of(5, place.size());
    const putting under_way(two, place, body);
    two.second->links.withdraw();
    two.first->links.withdraw();
  }
  place.clear();
  send(two, *two.first, 1, 1, bytes_of(9, 400));
  receive(two, *two.second, 1, 0, bytes_of(9, 400));
}

TEST_CASE_TEMPLATE("of a long message that is taken back nothing comes that was not sent", Joined,
                   one, three, one_by_uring, three_by_uring) {
  // The first has room in the system's buffers; some of the others fill them within their last
  // piece.
  constexpr std::size_t piece = std::size_t{256} << 10;
  for (std::size_t bytes = piece; bytes < 36 * piece; bytes += piece) {
    if (bytes > piece && !is_tried(bytes / piece)) continue;
    couple two = Joined::make();
    const auto head = bytes_of(6, 16);
    const auto sent = bytes_of(5, bytes);
    std::vector<std::byte> place(bytes);
    const wire::open_link in(two.second->links, 0, 0, purpose::receive);
    {
      auto body = sent;
      const wire::open_link out(two.first->links, 0, 1, purpose::send);
      REQUIRE(two.until([&] { return in->can_post(); }));
      in->post(head, place);
      REQUIRE(two.until([&] { return out->is_invited(); }));
      out->put(head, body);
      two.first->links.withdraw();
      std::ranges::fill(body, std::byte{0xff});
    }
    REQUIRE(two.until([&] { return in->holds(16); }));
    std::array<std::byte, 16> got;
    in->take(got);
    in->begin_taking(place);
    const auto is_whole = [&] { return in->body() == wire::link::body_state::in_place; };
    if (bytes == piece) REQUIRE(two.until(is_whole));
    const auto end = std::chrono::steady_clock::now() + 20ms;
    while (!is_whole() && std::chrono::steady_clock::now() < end) two.progress();
    if (is_whole()) CHECK(place == sent);
  }
}

// ---- the same, of which the system reads what it sends where it is

constexpr std::size_t zero_copy_from = 4096;

/// Longer than what both systems hold of it.
std::vector<std::byte> too_much() { return bytes_of(5, std::size_t{32} << 20); }

TEST_CASE_TEMPLATE("who does not take what is taken back is lost", Joined, one, one_by_uring) {
  couple two = Joined::make(zero_copy_from);
  const auto body = too_much();
  std::vector<std::byte> place(body.size());
  const putting under_way(two, place, body);
  CHECK(two.first->reach.state(1) == wire::liveness::alive);
  const auto begin = std::chrono::steady_clock::now();
  two.first->links.withdraw();
  CHECK(std::chrono::steady_clock::now() - begin >= 99ms);  // there is a look before the first nap
  CHECK(two.first->reach.state(1) == wire::liveness::died);
  CHECK(two.first->reach.how_lost(1).ends_with(
      " it did not take what it was sent before that was taken back"));
  two.second->links.withdraw();
}

TEST_CASE_TEMPLATE("what is taken back is free once the system has read it", Joined, one,
                   one_by_uring) {
  couple two = Joined::make(zero_copy_from);
  const auto sent = too_much();
  auto body = sent;
  std::vector<std::byte> place(body.size());
  {
    const putting under_way(two, place, body);
    const std::jthread peer(
        [&](const std::stop_token& over) { under_way.take(over, *two.second, place); });
    two.first->links.withdraw();
    std::ranges::fill(body, std::byte{0xff});
    for (int i = 0; i < 100; ++i) {
      two.first->all.progress();
      std::this_thread::sleep_for(1ms);
    }
  }
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < place.size(); ++i) {
    if (place[i] != sent[i] && place[i] != std::byte{0}) ++wrong;
  }
  CHECK(wrong == 0);
  WARN(place[1] == sent[1]);  // but where other programs keep the machine busy
}

TEST_CASE_TEMPLATE("who connects late is told what the others were, then that the rank leaves",
                   Joined, one, three, one_by_uring, three_by_uring) {
  couple two = Joined::make();
  two.first->reach.tell_newcomers(news_of(7), {});
  two.first->reach.leave(two.first->all, news_of(9), false);
  send(two, *two.second, 0, 0, bytes_of(1, 100));
  REQUIRE(two.until([&] { return two.second->heard.kinds.size() == 2; }));
  CHECK(two.second->heard.kinds == std::vector<std::uint32_t>{7, 9});
}

// A failure that made it leave may be told by another one in between.
TEST_CASE_TEMPLATE("where nobody listens any more the rank has left, after a while", Joined, one,
                   three, one_by_uring, three_by_uring) {
  couple two = Joined::make();
  two.second.reset();
  const wire::open_link out(two.first->links, 0, 1, purpose::send);
  const auto begin = std::chrono::steady_clock::now();
  const auto so_far = [&] { return std::chrono::steady_clock::now() - begin; };
  out->has_room(1);
  while (two.first->reach.state(1) == wire::liveness::alive && so_far() < 10s) {
    two.first->all.progress();
    out->has_room(1);
  }
  CHECK(two.first->reach.state(1) == wire::liveness::left);
  CHECK(so_far() >= 1s);
}

// ---- no way to a peer, for a while

/// Of the loopback interface of this process's own network: with its address there is a way, and
/// without it none.
bool set_loopback(in_addr_t address) {
  const descriptor any(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  ifreq one{};
  std::strcpy(one.ifr_name, "lo");
  one.ifr_flags = IFF_UP;
  if (::ioctl(any.get(), SIOCSIFFLAGS, &one) != 0) return false;
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_addr.s_addr = htonl(address);
  std::memcpy(&one.ifr_addr, &at, sizeof at);
  return ::ioctl(any.get(), SIOCSIFADDR, &one) == 0;
}

/// In a process of its own: the status with which it ends is 0 where all is right.
template <class Joined>
int talk_while_there_is_no_way() {
  if (::unshare(CLONE_NEWNET) != 0 || !set_loopback(INADDR_LOOPBACK)) return 2;
  couple two = Joined::make();
  if (!set_loopback(INADDR_ANY)) return 3;
  two.first->all.to(1).owe_news(news_of(7), {});
  const auto until = std::chrono::steady_clock::now() + 300ms;
  two.until([&] { return std::chrono::steady_clock::now() > until; });
  if (two.first->reach.state(1) != wire::liveness::alive) return 4;
  if (!two.second->heard.kinds.empty() || !set_loopback(INADDR_LOOPBACK)) return 5;
  // Nobody asks for it meanwhile.
  return two.until([&] { return !two.second->heard.kinds.empty(); }) ? 0 : 6;
}

/// The same.
template <class Joined>
int give_up_where_there_is_no_way() {
  constexpr auto timeout = 200ms;
  if (::unshare(CLONE_NEWNET) != 0 || !set_loopback(INADDR_LOOPBACK)) return 2;
  couple two(
      1,
      {.window = 4096, .timeout = timeout, .reactor = Joined::by, .between_attempts = timeout / 4});
  if (!set_loopback(INADDR_ANY)) return 3;
  const auto begin = std::chrono::steady_clock::now();
  two.first->all.to(1).owe_news(news_of(7), {});
  const auto is_lost = [&] { return two.first->reach.state(1) == wire::liveness::died; };
  if (!two.until(is_lost)) return 4;
  if (std::chrono::steady_clock::now() - begin < timeout) return 5;
  return two.first->reach.how_lost(1).ends_with(" there is no way to it") ? 0 : 6;
}

int status_of_child(int (*what)()) {
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) ::_exit(what());
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFEXITED(status));
  return WEXITSTATUS(status);
}

TEST_CASE_TEMPLATE("a peer to which there is no way at first is reached when there is one", Joined,
                   one, one_by_uring) {
  CHECK(status_of_child(talk_while_there_is_no_way<Joined>) == 0);
}

TEST_CASE_TEMPLATE("a peer to which there is no way is lost in the end", Joined, one,
                   one_by_uring) {
  CHECK(status_of_child(give_up_where_there_is_no_way<Joined>) == 0);
}

/// A port of this machine that leaves attempts to connect without an answer: as many as may wait
/// there wait already.
class silent_port {
public:
  silent_port() : socket_(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    at_ = tcp::address::resolve("127.0.0.1", 0);
    REQUIRE(::bind(socket_.get(), at_.get(), at_.length) == 0);
    REQUIRE(::listen(socket_.get(), 0) == 0);
    at_ = tcp::address::resolve("127.0.0.1", port());
    waits_ = tcp::begin_connecting(at_);
    while (!tcp::how_connected(waits_.get())) std::this_thread::sleep_for(1ms);
  }
  const tcp::address& at() const noexcept { return at_; }

private:
  std::uint16_t port() const {
    sockaddr_in bound{};
    socklen_t length = sizeof bound;
    REQUIRE(::getsockname(socket_.get(), reinterpret_cast<sockaddr*>(&bound), &length) == 0);
    return ntohs(bound.sin_port);
  }

  descriptor socket_;
  descriptor waits_;
  tcp::address at_;
};

TEST_CASE_TEMPLATE("a peer that answers no attempt to connect is lost in time", Joined, one,
                   one_by_uring) {
  const silent_port nobody;
  const tcp::endpoint::settings how{
      .rank = 0, .key = tcp::job_key::random(), .timeout = 200ms, .reactor = Joined::by};
  party alone(how, only(tcp::listen_at(tcp::address::resolve("127.0.0.1", 0))),
              {{}, tcp::paths(1, {0, nobody.at()})});
  alone.all.to(1).owe_news(news_of(7), {});
  // The system itself goes on trying for some two minutes.
  const auto end = std::chrono::steady_clock::now() + 20s;
  while (alone.reach.state(1) == wire::liveness::alive && std::chrono::steady_clock::now() < end)
    alone.all.progress();
  CHECK(alone.reach.state(1) == wire::liveness::died);
  CHECK(alone.reach.how_lost(1).ends_with(" there is no way to it"));
}

/// What is written to the error stream, while it lives.
class heard_errors {
public:
  heard_errors() : before_(::dup(STDERR_FILENO)), text_(::memfd_create("errors", MFD_CLOEXEC)) {
    ::dup2(text_.get(), STDERR_FILENO);
  }
  ~heard_errors() { ::dup2(before_.get(), STDERR_FILENO); }
  heard_errors(const heard_errors&) = delete;
  heard_errors& operator=(const heard_errors&) = delete;

  std::string so_far() const {
    std::string text(4096, ' ');
    const ssize_t bytes = ::pread(text_.get(), text.data(), text.size(), 0);
    text.resize(bytes < 0 ? 0 : static_cast<std::size_t>(bytes));
    return text;
  }

private:
  descriptor before_;
  descriptor text_;
};

TEST_CASE_TEMPLATE("a stranger's connection ends, and the ranks go on", Joined, one, one_by_uring) {
  couple two = Joined::make();
  const heard_errors errors;
  const descriptor stranger = tcp::begin_connecting(two.first_at);
  REQUIRE(stranger);
  for (int i = 0; i < 100; ++i) two.first->all.progress();
  const std::vector<char> noise(200, 'x');
  ::send(stranger.get(), noise.data(), noise.size(), MSG_NOSIGNAL);
  std::array<char, 8> answer;
  CHECK(two.until([&] {
    return ::recv(stranger.get(), answer.data(), answer.size(), MSG_DONTWAIT) == 0 ||
           errno == ECONNRESET;
  }));
  CHECK(errors.so_far() == "muster: refused a connection of somebody who is not of this job\n");
  send(two, *two.second, 0, 0, bytes_of(1, 100));
  receive(two, *two.first, 0, 1, bytes_of(1, 100));
}

/// Says to rank 0 what a rank 1 of the job would not.
void check_refused(couple two, const stream::frame& said, std::size_t bytes) {
  two.second.reset();
  tcp::admission with(tcp::begin_connecting(two.first_at), two.key, {.from = 1, .to = 0});
  auto now = tcp::admission::state::under_way;
  for (int i = 0; i < 10'000 && now != tcp::admission::state::accepted; ++i) {
    two.first->all.progress();
    now = with.advance();
  }
  REQUIRE(now == tcp::admission::state::accepted);
  const std::vector<std::byte> rest(bytes);
  ::send(with.socket(), &said, sizeof said, MSG_NOSIGNAL);
  ::send(with.socket(), rest.data(), rest.size(), MSG_NOSIGNAL);
  for (int i = 0; i < 100'000 && two.first->reach.state(1) == wire::liveness::alive; ++i) {
    two.first->all.progress();
  }
  CHECK(two.first->reach.state(1) == wire::liveness::died);
}

TEST_CASE_TEMPLATE("what a rank cannot have sent ends its connection", Joined, one, one_by_uring) {
  using kind = stream::frame::kind;
  // Too long, of no kind, of no lane, as another rank, an acknowledgement that brings something,
  // one of what was never sent, news that are too long.
  check_refused(
      Joined::make(),
      frame_of({.from = 1, .lane = 0, .what = kind::message, .taken = 0, .bytes = 1 << 30}), 100);
  check_refused(
      Joined::make(),
      frame_of({.from = 1, .lane = 0, .what = static_cast<kind>(77), .taken = 0, .bytes = 0}), 0);
  check_refused(Joined::make(),
                frame_of({.from = 1, .lane = 8, .what = kind::message, .taken = 0, .bytes = 10}),
                10);
  check_refused(Joined::make(),
                frame_of({.from = 0, .lane = 0, .what = kind::message, .taken = 0, .bytes = 10}),
                10);
  check_refused(Joined::make(),
                frame_of({.from = 1, .lane = 0, .what = kind::consumed, .taken = 0, .bytes = 3}),
                3);
  check_refused(Joined::make(),
                frame_of({.from = 1, .lane = 0, .what = kind::consumed, .taken = 1, .bytes = 0}),
                0);
  check_refused(Joined::make(),
                frame_of({.from = 1, .lane = 0, .what = kind::news, .taken = 0, .bytes = 5000}),
                5000);
}

}  // namespace
}  // namespace muster::testing
