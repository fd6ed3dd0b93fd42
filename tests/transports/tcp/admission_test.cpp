// Who is let in: those who know the job's key, and nobody else.

#include "transports/tcp/admission.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/socket.h>

#include <array>
#include <utility>
#include <vector>

namespace muster::testing {
namespace {

using state = tcp::admission::state;

std::pair<descriptor, descriptor> both_ends() {
  std::array<int, 2> ends{};
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends.data()) == 0);
  return {descriptor(ends[0]), descriptor(ends[1])};
}

tcp::job_key key_of(unsigned char byte) {
  tcp::job_key key;
  key.bytes.fill(byte);
  return key;
}

struct two_sides {
  tcp::admission connects;
  tcp::admission accepts;

  two_sides(const tcp::job_key& one, const tcp::job_key& other)
      : two_sides(both_ends(), one, other) {}

private:
  two_sides(std::pair<descriptor, descriptor> ends, const tcp::job_key& one,
            const tcp::job_key& other)
      : connects(std::move(ends.first), one, {.from = 3, .to = 5}),
        accepts(std::move(ends.second), other) {}
};

TEST_CASE("both know the key") {
  two_sides two(key_of(7), key_of(7));
  CHECK(two.connects.advance() == state::under_way);
  CHECK(two.accepts.advance() == state::under_way);
  CHECK(two.connects.advance() == state::under_way);
  CHECK(two.accepts.advance() == state::named);
  CHECK(two.accepts.who().from == 3);
  CHECK(two.accepts.who().to == 5);
  CHECK(two.connects.advance() == state::under_way);
  CHECK(two.accepts.accept());
  CHECK(two.connects.advance() == state::accepted);
}

TEST_CASE("the other side's own attempt counts") {
  two_sides two(key_of(7), key_of(7));
  two.connects.advance();
  two.accepts.advance();
  two.connects.advance();
  REQUIRE(two.accepts.advance() == state::named);
  two.accepts.yield();
  CHECK(two.connects.advance() == state::yielded);
}

TEST_CASE("who accepts does not know the key: who connects says nothing more") {
  two_sides two(key_of(7), key_of(8));
  two.connects.advance();
  two.accepts.advance();
  CHECK(two.connects.advance() == state::failed);
  CHECK(two.accepts.advance() == state::under_way);
}

/// What a stranger may send instead of a greeting.
state state_after(const std::vector<unsigned char>& said) {
  auto [stranger, ours] = both_ends();
  tcp::admission accepts(std::move(ours), key_of(7));
  REQUIRE(::send(stranger.get(), said.data(), said.size(), 0) == static_cast<ssize_t>(said.size()));
  return accepts.advance();
}

TEST_CASE("a stranger is refused at the first bytes") {
  CHECK(state_after(std::vector<unsigned char>(40, 'G')) == state::failed);
  CHECK(state_after(std::vector<unsigned char>(39, 'G')) == state::under_way);
}

TEST_CASE("a proof of another connection is refused") {
  two_sides first(key_of(7), key_of(7));
  first.connects.advance();
  first.accepts.advance();
  first.connects.advance();
  // What the first one proved, read from its socket and said again on another.
  std::array<std::byte, 44> proof;
  REQUIRE(::recv(first.accepts.socket(), proof.data(), proof.size(), 0) ==
          static_cast<ssize_t>(proof.size()));
  two_sides second(key_of(9), key_of(7));
  second.connects.advance();
  REQUIRE(second.accepts.advance() == state::under_way);
  REQUIRE(::send(second.connects.socket(), proof.data(), proof.size(), 0) ==
          static_cast<ssize_t>(proof.size()));
  CHECK(second.accepts.advance() == state::failed);
}

TEST_CASE("who connects goes away") {
  auto [stranger, ours] = both_ends();
  tcp::admission accepts(std::move(ours), key_of(7));
  stranger = descriptor();
  CHECK(accepts.advance() == state::failed);
}

}  // namespace
}  // namespace muster::testing
