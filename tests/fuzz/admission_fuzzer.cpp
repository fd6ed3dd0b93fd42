// Connections in the making: a stranger on either side, somebody between two ranks, and a rank that
// says of itself what cannot be. The first byte says which.

#include "transports/tcp/admission.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <list>
#include <span>
#include <utility>
#include <vector>

#include "tests/fuzz/input.hpp"
#include "tests/fuzz/require.hpp"
#include "tests/fuzz/sockets.hpp"
#include "transports/stream/links.hpp"
#include "transports/tcp/endpoint.hpp"

namespace muster::fuzz {
namespace {

using tcp::admission;
using state = admission::state;
using bytes = std::vector<std::byte>;
using view = std::span<const std::byte>;

// Of the messages, in their order.
constexpr std::size_t greeting = 40;
constexpr std::size_t challenge = 64;
constexpr std::size_t proof = 44;

constexpr admission::parties somebody{.from = 1, .to = 0};

tcp::job_key key_of(unsigned char secret) {
  tcp::job_key made;
  made.bytes.fill(secret);
  return made;
}

tcp::job_key the_key() { return key_of(17); }

view first(const bytes& all, std::size_t count) {
  return view(all).first(std::min(count, all.size()));
}

// ---- a stranger

/// What a stranger can get a rank to believe.
void require_unknown(state now) {
  require(now == state::under_way || now == state::failed, "who has no key is not let in");
}

/// Says bytes of the input, or again what it has heard: u8 of which bit 0 says which of both, u8
/// how many, and of what was heard u8 from where.
void say_next(input& in, int socket, view heard) {
  const auto how = in.take<std::uint8_t>();
  const std::size_t count = in.take<std::uint8_t>();
  if (how % 2 == 0) return say(socket, in.take_bytes(count));
  const auto from = heard.subspan(std::min<std::size_t>(in.take<std::uint8_t>(), heard.size()));
  say(socket, from.first(std::min(count, from.size())));
}

void meet_stranger(input& in, bool connects) {
  auto [ours, theirs] = connected_pair();
  admission with = connects ? admission(std::move(ours), the_key(), somebody)
                            : admission(std::move(ours), the_key());
  bytes heard;
  state now = with.advance();
  while (now == state::under_way && !in.empty()) {
    const bytes more = hear(theirs.get());
    heard.insert(heard.end(), more.begin(), more.end());
    say_next(in, theirs.get(), heard);
    now = with.advance();
    require_unknown(now);
  }
  theirs = descriptor();
  if (now == state::under_way) now = with.advance();
  require(now == state::failed, "a connection that has ended has failed");
}

// ---- somebody between two ranks

/// What one side says to the other, and what of it comes there.
struct way {
  int from;
  int to;
  bytes said = {};
  bytes passed = {};
  std::size_t done = 0;  // of what was said

  void listen() {
    const bytes more = hear(from);
    said.insert(said.end(), more.begin(), more.end());
  }
  bool is_idle() const { return done == said.size(); }
  void pass(view some) {
    say(to, some);
    passed.insert(passed.end(), some.begin(), some.end());
  }
  view take(std::size_t count) {
    const view taken = view(said).subspan(done, std::min(count, said.size() - done));
    done += taken.size();
    return taken;
  }
  bool is_true(std::size_t count) const {
    return passed.size() >= count && std::ranges::equal(first(passed, count), first(said, count));
  }
};

/// Two ranks, with one key or two.
class between {
public:
  explicit between(bool one_key)
      : one_key_(one_key),
        connects_(std::move(one_.first), the_key(), somebody),
        accepts_(std::move(other_.first), one_key ? the_key() : key_of(18)) {}

  void run(input& in) {
    while (!in.empty()) {
      advance();
      act(in);
    }
    do {
      advance();
      for (way* each : {&there_, &back_}) each->pass(each->take(each->said.size()));
    } while (advance());
    check();
  }

private:
  /// u8: of which bit 0 says which way, the next two what is done with u8 bytes.
  void act(input& in) {
    const auto how = in.take<std::uint8_t>();
    const std::size_t count = in.take<std::uint8_t>();
    way& by = how % 2 == 0 ? there_ : back_;
    switch (how / 2 % 4) {
      case 0:  // passed on
        return by.pass(by.take(count));
      case 1: {  // the next byte is changed
        const auto changed = by.take(1);
        if (!changed.empty()) by.pass(std::array{changed[0] ^ static_cast<std::byte>(count)});
        return;
      }
      case 2:  // lost
        by.take(count);
        return;
      default:  // made up
        by.pass(in.take_bytes(count));
    }
  }
  /// True where there was something to do.
  bool advance() {
    if (connecting_ == state::under_way) connecting_ = connects_.advance();
    if (accepting_ == state::under_way) {
      accepting_ = accepts_.advance();
      if (accepting_ == state::named) accepts_.accept();
    }
    there_.listen();
    back_.listen();
    return !there_.is_idle() || !back_.is_idle();
  }
  void check() {
    const bool is_known = one_key_ && there_.is_true(greeting + proof) && back_.is_true(challenge);
    require((accepting_ == state::named) == is_known,
            "who proves that it knows the key is named, and nobody else");
    require(connecting_ != state::accepted ||
                (one_key_ && there_.is_true(greeting) && back_.is_true(challenge)),
            "who connects believes nobody who has not proved to know the key");
    if (!is_known) return;
    const auto [from, to, subflow] = accepts_.who();
    require(from == somebody.from && to == somebody.to && subflow == somebody.subflow,
            "who connects is whom it says it is");
    require(
        std::ranges::equal(hear(accepts_.socket()), view(there_.passed).subspan(greeting + proof)),
        "nothing is read beyond the proof");
    if (back_.is_true(challenge + 1)) require(connecting_ == state::accepted, "it learns of it");
  }

  bool one_key_;
  std::pair<descriptor, descriptor> one_ = connected_pair();
  std::pair<descriptor, descriptor> other_ = connected_pair();
  admission connects_;
  admission accepts_;
  state connecting_ = state::under_way;
  state accepting_ = state::under_way;
  way there_{one_.second.get(), other_.second.get()};
  way back_{other_.second.get(), one_.second.get()};
};

// ---- a rank that says of itself what cannot be

/// Rank 0 of three, which listens: rank 1 is reached in one way, rank 2 in two.
class doorkeeper {
public:
  doorkeeper() : doorkeeper(tcp::listen_at(loopback(0))) {}

  /// Each that comes: u32 from, u32 to, u32 subflow, then u8 bytes that it says.
  void run(input& in) {
    constexpr std::size_t most = 8;
    while (!in.empty() && came_.size() < most) {
      const admission::parties who{.from = in.take<std::uint32_t>(),
                                   .to = in.take<std::uint32_t>(),
                                   .subflow = in.take<std::uint32_t>()};
      descriptor socket = tcp::begin_connecting(at_);
      if (!socket) return;
      const bool is_first = is_sane(who) && !reach_.is_open_to(who.from) &&
                            reach_.state(who.from) == wire::liveness::alive;
      came_.emplace_back(std::move(socket), the_key(), who);
      const state now = join(came_.back());
      require(now != state::accepted || is_sane(who), "who cannot be is not let in");
      require(now == state::accepted || !is_first, "who comes first is let in");
      say(came_.back().socket(), in.take_bytes(in.take<std::uint8_t>()));
      for (int i = 0; i < 10; ++i) all_.progress();
    }
  }

private:
  static tcp::address loopback(std::uint16_t port) {
    constexpr std::array<std::uint8_t, 4> host = {127, 0, 0, 1};
    return tcp::address::of_bytes(host, port);
  }
  static std::vector<tcp::listener> only(tcp::listener one) {
    std::vector<tcp::listener> all;
    all.push_back(std::move(one));
    return all;
  }
  static std::vector<tcp::paths> ways() {
    const tcp::path nowhere{0, loopback(1)};
    return {{}, {nowhere}, {nowhere, nowhere}};
  }
  static bool is_sane(const admission::parties& who) {
    return who.to == 0 && (who.from == 1 || who.from == 2) && who.subflow < who.from;
  }
  explicit doorkeeper(tcp::listener door)
      : at_(door.at),
        reach_({.rank = 0, .key = the_key(), .window = 4096}, only(std::move(door)), ways()) {}

  state join(admission& one) {
    using clock = std::chrono::steady_clock;
    const auto end = clock::now() + std::chrono::seconds(10);
    state now = state::under_way;
    while (now == state::under_way && clock::now() < end) {
      all_.progress();
      now = one.advance();
    }
    require(now != state::under_way, "who comes is answered");
    return now;
  }

  tcp::address at_;
  tcp::endpoint reach_;
  stream::connections all_{3, {&reach_}};
  std::array<std::size_t, 3> members_{0, 1, 2};
  stream::links links_{all_, 0, members_, 0, 4};
  std::list<admission> came_;
};

void run(input& in) {
  constexpr std::uint8_t ways = 5;
  switch (in.take<std::uint8_t>() % ways) {
    case 0:
      return meet_stranger(in, false);
    case 1:
      return meet_stranger(in, true);
    case 2:
      return between(true).run(in);
    case 3:
      return between(false).run(in);
    default:
      return doorkeeper().run(in);
  }
}

}  // namespace
}  // namespace muster::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  muster::fuzz::input in(data, size);
  muster::fuzz::run(in);
  return 0;
}
