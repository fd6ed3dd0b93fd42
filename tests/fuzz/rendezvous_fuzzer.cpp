// What comes while a job begins, and beside its connections: what ranks say at a rendezvous, what
// they are told there, what they say of themselves, to others and on one machine, datagrams, and
// text of the environment. The first byte says which.

#include "transports/cluster/rendezvous.hpp"

#include <poll.h>
#include <sched.h>
#include <sodium.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include <muster/base/error.hpp>
#include <muster/team/groups.hpp>
#include <muster/team/shape.hpp>

#include "tests/fuzz/guarded_place.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/fuzz/require.hpp"
#include "tests/fuzz/sockets.hpp"
#include "transports/cluster/bootstrap.hpp"
#include "transports/shm/handshake.hpp"
#include "transports/tcp/heartbeat.hpp"
#include "transports/tcp/interfaces.hpp"

namespace muster::fuzz {
namespace {

using namespace std::chrono_literals;
using tcp::admission;
using bytes = std::vector<std::byte>;

/// Longer than anything takes.
constexpr std::chrono::milliseconds patience = 20s;

tcp::job_key the_key() {
  tcp::job_key made;
  made.bytes.fill(17);
  return made;
}

tcp::address loopback(std::uint16_t port) {
  constexpr std::array<std::uint8_t, 4> host = {127, 0, 0, 1};
  return tcp::address::of_bytes(host, port);
}

/// A fuzzer has a timer, whose signal interrupts.
bool await(int socket, short what) {
  pollfd one{.fd = socket, .events = what, .revents = 0};
  int ready = -1;
  do {
    ready = ::poll(&one, 1, static_cast<int>(patience.count()));
  } while (ready < 0 && errno == EINTR);
  return ready == 1;
}

admission::state come_in(admission& with) {
  auto now = with.advance();
  while (now == admission::state::under_way && await(with.socket(), POLLIN)) now = with.advance();
  return now;
}

/// Whether an error of Muster's own is all that it throws.
template <class Deed>
bool succeeds(Deed deed) {
  try {
    deed();
    return true;
  } catch (const error&) {
    return false;
  }
}

// ---- whoever serves a rendezvous

/// What goes before each answer.
struct answer {
  std::uint32_t error;  ///< 0, or an `errc`
  std::uint32_t bytes;
};

void require_answers(std::span<const std::byte> heard) {
  while (!heard.empty()) {
    answer head{};
    require(heard.size() >= sizeof head, "an answer is whole");
    std::memcpy(&head, heard.data(), sizeof head);
    heard = heard.subspan(sizeof head);
    const bool is_known =
        head.error == 0 || head.error == static_cast<std::uint32_t>(errc::bootstrap);
    require(is_known && head.bytes <= heard.size(), "an answer has its bytes");
    heard = heard.subspan(head.bytes);
  }
}

/// All that is said until the other side ends.
bytes hear_all(int socket) {
  bytes heard;
  std::array<std::byte, 4096> part;
  while (await(socket, POLLIN)) {
    const ssize_t got = ::recv(socket, part.data(), part.size(), 0);
    if (got <= 0) return heard;
    heard.insert(heard.end(), part.begin(), part.begin() + got);
  }
  require(false, "whoever serves ends");
  return heard;
}

/// Two come: u8 rank and u8 ranks of each. Then u8 which of them, u8 how many, bytes.
void come_to_rendezvous(input& in) {
  constexpr std::size_t ranks = 2;
  tcp::listener door = tcp::listen_at(loopback(0));
  const tcp::address at = door.at;
  std::optional<cluster::rendezvous_server> server;
  server.emplace(std::move(door), ranks, the_key(), patience);
  std::vector<std::unique_ptr<admission>> came;
  std::set<std::size_t> seats;
  bool is_sane = true;  // who comes after one that is not is told why, and not heard
  while (is_sane && came.size() < ranks) {
    const admission::parties who{.from = in.take<std::uint8_t>(), .to = in.take<std::uint8_t>()};
    descriptor socket = tcp::begin_connecting(at);
    if (!socket || !await(socket.get(), POLLOUT)) return;
    came.push_back(std::make_unique<admission>(std::move(socket), the_key(), who));
    require(come_in(*came.back()) == admission::state::accepted, "who has the key is answered");
    is_sane = who.to == ranks && who.from < ranks && seats.insert(who.from).second;
  }
  while (!in.empty()) {
    const std::size_t who = in.take<std::uint8_t>() % came.size();
    say(came[who]->socket(), in.take_bytes(in.take<std::uint8_t>()));
  }
  for (const auto& each : came) ::shutdown(each->socket(), SHUT_WR);
  server.reset();
  for (const auto& each : came) require_answers(hear_all(each->socket()));
}

// ---- who comes to one

/// Serves one rank, which it lets in.
class made_up_server {
public:
  made_up_server() : door_(tcp::listen_at(loopback(0))) {}

  cluster::meeting_place place() const {
    return {
        .hosts = {"127.0.0.1"}, .port = door_.at.port(), .key = the_key(), .patience = patience};
  }
  /// In a thread of its own, until `then` returns.
  template <class Then>
  std::jthread serve(Then then) {
    return std::jthread([this, then] {
      await(door_.socket.get(), POLLIN);
      admission with(tcp::accept_from(door_), the_key());
      if (come_in(with) == admission::state::named && with.accept()) then(with.socket());
    });
  }

private:
  tcp::listener door_;
};

/// The bytes are what a rank is told.
void be_told(input& in) {
  made_up_server server;
  const auto said = in.take_rest();
  constexpr std::size_t block = 8;
  constexpr std::size_t ranks = 2;
  const std::jthread serves = server.serve([said](int socket) {
    await(socket, POLLIN);
    hear(socket);
    say(socket, said);
    ::shutdown(socket, SHUT_WR);
    hear_all(socket);
  });
  guarded_place all(ranks * block);
  const bool is_told = succeeds([&] {
    cluster::rendezvous among(server.place(), 0, ranks);
    among.allgather(bytes(block), all.place());
  });
  require(all.is_intact(), "nothing is written beside what all say");
  if (!is_told) return;
  constexpr answer expected{.error = 0, .bytes = ranks * block};
  require(std::ranges::equal(said.first(sizeof expected), std::as_bytes(std::span(&expected, 1))) &&
              std::ranges::equal(said.subspan(sizeof expected, ranks * block), all.place()),
          "what is told is what was said");
}

// ---- what another rank says of itself

/// What goes before a rank's block.
struct question {
  std::uint32_t bytes;
  std::uint32_t first;
  std::uint32_t ranks;
};

bool read_whole(int socket, std::span<std::byte> into) {
  while (!into.empty()) {
    if (!await(socket, POLLIN)) return false;
    const ssize_t got = ::recv(socket, into.data(), into.size(), 0);
    if (got <= 0) return false;
    into = into.subspan(static_cast<std::size_t>(got));
  }
  return true;
}

/// u8 how many bytes, then of each u16 where, from the end, and u8 what is there.
void change(std::span<std::byte> block, input& by) {
  for (std::size_t left = by.take<std::uint8_t>(); left != 0; --left) {
    const std::size_t where = by.take<std::uint16_t>();
    const auto what = by.take<std::byte>();
    if (where < block.size()) block[block.size() - 1 - where] = what;
  }
}

/// Says what rank 0 says, as rank 1 of another machine, but for what the input changes.
class echo {
public:
  explicit echo(const input& changes) : changes_(changes) {}

  void operator()(int socket) const {
    input left = changes_;
    question asked{};
    while (read_whole(socket, std::as_writable_bytes(std::span(&asked, 1)))) {
      bytes block(asked.bytes);
      if (!read_whole(socket, block)) return;
      const answer head{.error = 0, .bytes = asked.ranks * asked.bytes};
      say(socket, std::as_bytes(std::span(&head, 1)));
      say(socket, block);
      if (asked.ranks == 1) continue;
      move_away(block);
      change(block, left);
      say(socket, block);
    }
  }

private:
  static void move_away(bytes& block) {
    const shm::handshake mine = shm::describe_this_process();
    const auto id = std::as_bytes(std::span(mine.machine.view()));
    const auto found = std::ranges::search(block, id);
    if (!id.empty() && !found.empty()) found.front() ^= std::byte{1};
  }
  input changes_;
};

void make_job(input& in) {
  constexpr std::size_t most_ways = tcp::reach::most_rails * tcp::reach::most_connections;
  made_up_server server;
  const std::jthread serves = server.serve(echo(in));
  succeeds([&] {
    cluster::rendezvous among(server.place(), 0, 2);
    const auto made = cluster::make_job(among, the_key());
    require(made.by.peers.size() == 2 && made.by.peers[1].size() <= most_ways,
            "there are no more ways than there can be");
  });
}

// ---- what ranks of one machine say of themselves

/// All that they say is well, or one is blamed; and wherever they say that they are, each is of one
/// group of each kind.
void greet_on_a_machine(input& in) {
  constexpr std::size_t most_ranks = 8;
  std::vector<shm::handshake> all(1 + in.take<std::uint8_t>() % most_ranks,
                                  shm::describe_this_process());
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    all[rank].process = static_cast<std::int32_t>(1 + rank);
  }
  change(std::as_writable_bytes(std::span(all)), in);
  try {
    shm::check_handshakes(all);
  } catch (const error& why) {
    require(why.code() == errc::bootstrap && why.rank() < all.size(), "one of them is blamed");
  }
  require(shm::processors_of(all) <= CPU_SETSIZE, "there are no more processors than can be");
  std::vector<place> places;
  for (const shm::handshake& each : all) places.push_back(each.where);
  const shape made(places);
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    const std::size_t node = made.node_of(rank);
    const std::size_t index = made.index_of(rank);
    require(made.ranks_of(node)[index] == rank, "each rank is where it is");
    for (const groups* each : {&made.near_groups(node), &made.rank_groups(node)}) {
      require(std::ranges::count(each->members_with(index), index) == 1, "each rank is of a group");
    }
  }
}

// ---- datagrams

/// As it is sent: see heartbeat.cpp.
struct beat {
  std::array<char, 8> what_for = {'m', 'u', 's', 't', 'e', 'r', ' ', 'h'};
  std::uint32_t what = 0;
  std::uint32_t from = 1;
  std::uint32_t to = 0;
  std::uint32_t unused = 0;
  std::uint64_t number = 0;
  std::array<unsigned char, crypto_auth_BYTES> proof{};

  void sign() {
    crypto_auth(proof.data(), reinterpret_cast<const unsigned char*>(this), offsetof(beat, proof),
                the_key().bytes.data());
  }
  bool is_signed() const {
    return crypto_auth_verify(proof.data(), reinterpret_cast<const unsigned char*>(this),
                              offsetof(beat, proof), the_key().bytes.data()) == 0;
  }
  bool is_question() const {
    return is_signed() && what_for == beat{}.what_for && what == 0 && from == 1 && to == 0;
  }
};

/// Rank 0, which answers, and rank 1, which says what the input tells it to.
class questioner {
public:
  // Nobody else is heard: a port may have been another's.
  questioner() { ::connect(mine_.datagrams.get(), theirs_.at.get(), theirs_.at.length); }
  /// u8 of which bit 0 says whether it is signed, u8 bytes, which are put over a question.
  void run(input& in) {
    constexpr int most = 64;
    for (int i = 0; i < most && !in.empty(); ++i) {
      const auto how = in.take<std::uint8_t>();
      const auto said = in.take_bytes(in.take<std::uint8_t>());
      if (how % 2 == 0) {
        send(said);
      } else {
        beat one;
        std::memcpy(&one, said.data(), std::min(said.size(), sizeof one));
        one.sign();
        send(std::as_bytes(std::span(&one, 1)));
      }
    }
    require(ask_last(), "a question is answered, whatever came before it");
    require(answers_ == questions_, "all questions are answered that prove something");
    require(!answers_to_.is_lost(1), "nobody is lost whom nobody waits for");
  }

private:
  static tcp::listener door() {
    auto made = tcp::try_listening_at(loopback(0), tcp::listening_for::datagrams_too);
    while (!made) made = tcp::try_listening_at(loopback(0), tcp::listening_for::datagrams_too);
    return std::move(*made);
  }
  static std::vector<descriptor> only(descriptor one) {
    std::vector<descriptor> all;
    all.push_back(std::move(one));
    return all;
  }
  void send(std::span<const std::byte> said) {
    ::send(mine_.datagrams.get(), said.data(), said.size(), MSG_NOSIGNAL);
    beat one;
    if (said.size() != sizeof one) return;
    std::memcpy(&one, said.data(), sizeof one);
    if (one.is_question()) ++questions_;
  }
  /// Datagrams on one machine come in their order: what came before was read.
  bool ask_last() {
    beat last;
    last.number = 0x1a57'1a57'1a57'1a57;
    last.sign();
    send(std::as_bytes(std::span(&last, 1)));
    beat got;
    do {
      if (!await(mine_.datagrams.get(), POLLIN)) return false;
      const ssize_t count = ::recv(mine_.datagrams.get(), &got, sizeof got, MSG_TRUNC);
      require(count == sizeof got && got.is_signed() && got.what == 1, "answers are answers");
      ++answers_;
    } while (got.number != last.number);
    return true;
  }

  tcp::listener mine_ = door();
  tcp::listener theirs_ = door();
  tcp::heartbeat answers_to_{{.rank = 0, .key = the_key(), .timeout = 1000s},
                             only(std::move(theirs_.datagrams)),
                             {{}, {{0, mine_.at}}}};
  std::size_t questions_ = 0;
  std::size_t answers_ = 0;
};

// ---- text

std::string_view text_of(input& in) {
  const auto all = in.take_rest();
  return {reinterpret_cast<const char*>(all.data()), all.size()};
}

void parse_ports(std::string_view text) {
  tcp::port_range ports;
  if (!succeeds([&] { ports = tcp::parse_ports(text); })) return;
  require(ports.first != 0 && ports.first <= ports.last, "ports are ports");
}

void name_addresses(std::string_view text) {
  succeeds([text] { require(!tcp::addresses_named(text).empty(), "what is named is there"); });
}

void run(input& in) {
  constexpr std::uint8_t ways = 7;
  switch (in.take<std::uint8_t>() % ways) {
    case 0:
      return come_to_rendezvous(in);
    case 1:
      return be_told(in);
    case 2:
      return make_job(in);
    case 3:
      return questioner().run(in);
    case 4:
      return parse_ports(text_of(in));
    case 5:
      return name_addresses(text_of(in));
    default:
      return greet_on_a_machine(in);
  }
}

}  // namespace
}  // namespace muster::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  muster::fuzz::input in(data, size);
  muster::fuzz::run(in);
  return 0;
}
