#include "transports/tcp/admission.hpp"

#include <sodium.h>
#include <sys/uio.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include <muster/base/error.hpp>

#include "transports/tcp/socket.hpp"

namespace muster::tcp {
namespace {

constexpr std::uint64_t magic = 0x3230'5245'5453'554d;  // "MUSTER02", as it is in memory
constexpr char connecting = 'c';
constexpr char accepting = 'a';
constexpr std::byte welcome{1};
constexpr std::byte wait_for_mine{2};

static_assert(sizeof(job_key::bytes) == crypto_auth_KEYBYTES);

void prepare() {
  if (::sodium_init() < 0) throw error(errc::resource, "tcp: libsodium cannot be used here");
}

}  // namespace

struct admission::greeting {
  std::uint64_t magic;
  nonce from;
};
struct admission::challenge {
  nonce from;
  mac signature;
};
struct admission::proof {
  parties who;
  mac signature;
};

job_key job_key::random() {
  prepare();
  job_key made;
  randombytes_buf(made.bytes.data(), made.bytes.size());
  return made;
}

job_key job_key::from(std::span<const std::byte> secret) {
  prepare();
  job_key made;
  crypto_generichash(made.bytes.data(), made.bytes.size(),
                     reinterpret_cast<const unsigned char*>(secret.data()), secret.size(), nullptr,
                     0);
  return made;
}

admission::admission(descriptor socket, const job_key& key, const parties& who)
    : socket_(std::move(socket)), key_(key), connects_(true), who_(who) {
  prepare();
  randombytes_buf(mine_.data(), mine_.size());
}

admission::admission(descriptor socket, const job_key& key)
    : socket_(std::move(socket)), key_(key), connects_(false) {
  prepare();
  randombytes_buf(mine_.data(), mine_.size());
}

admission::state admission::advance() noexcept {
  const state now = connects_ ? connect_on() : accept_on();
  return why_ == failure::gone ? state::failed : now;
}

admission::state admission::connect_on() noexcept {
  if (step_ == 0) {
    // What was told of this socket may have been of another, of the same number.
    const auto how = how_connected(socket_.get());
    if (!how) return state::under_way;
    if (*how != 0) {
      if (*how == ECONNREFUSED || *how == ECONNRESET) why_ = failure::gone;
      if (is_unreachable(*how)) why_ = failure::unreachable;
      return state::failed;
    }
    end_connecting(socket_.get());
    if (!send(greeting{magic, mine_})) return state::failed;
    step_ = 1;
  }
  if (step_ == 1) {
    const auto got = receive<challenge>();
    if (!got) return state::under_way;
    other_ = got->from;
    if (!verify(got->signature, accepting)) return state::failed;
    if (!send(proof{who_, sign(connecting)})) return state::failed;
    step_ = 2;
  }
  const auto verdict = receive<std::byte>();
  if (!verdict) return state::under_way;
  if (*verdict == wait_for_mine) return state::yielded;
  return *verdict == welcome ? state::accepted : state::failed;
}

admission::state admission::accept_on() noexcept {
  if (step_ == 0) {
    const auto got = receive<greeting>();
    if (!got) return state::under_way;
    if (got->magic != magic) return state::failed;
    other_ = got->from;
    if (!send(challenge{mine_, sign(accepting)})) return state::failed;
    step_ = 1;
  }
  if (step_ == 1) {
    const auto got = receive<proof>();
    if (!got) return state::under_way;
    who_ = got->who;
    if (!verify(got->signature, connecting)) return state::failed;
    step_ = 2;
  }
  return state::named;
}

bool admission::accept() noexcept { return send(welcome); }
void admission::yield() noexcept { send(wait_for_mine); }

admission::mac admission::sign(char side) const noexcept {
  struct {
    std::array<char, 8> side;
    nonce accepts;
    nonce connects;
    parties who;
  } const text = {
      .side = {side},
      .accepts = connects_ ? other_ : mine_,
      .connects = connects_ ? mine_ : other_,
      .who = side == connecting ? who_ : parties{},
  };
  mac made;
  crypto_auth(made.data(), reinterpret_cast<const unsigned char*>(&text), sizeof text,
              key_.bytes.data());
  return made;
}

bool admission::verify(const mac& got, char side) const noexcept {
  const mac expected = sign(side);
  return sodium_memcmp(got.data(), expected.data(), got.size()) == 0;
}

// Little enough to fit into the buffer of a socket that carried nothing yet.
template <class Message>
bool admission::send(const Message& message) noexcept {
  const iovec all{const_cast<Message*>(&message), sizeof message};
  const moved sent = send_some(socket_.get(), {&all, 1});
  if (sent.bytes != sizeof message) why_ = failure::gone;
  return sent.bytes == sizeof message;
}

template <class Message>
std::optional<Message> admission::receive() noexcept {
  static_assert(sizeof(Message) <= sizeof read_);
  while (bytes_read_ < sizeof(Message)) {
    const iovec rest{read_.data() + bytes_read_, sizeof(Message) - bytes_read_};
    const moved got = receive_some(socket_.get(), {&rest, 1});
    if (got.ended == moved::how::over) why_ = failure::gone;
    if (got.ended != moved::how::some) return std::nullopt;
    bytes_read_ += got.bytes;
  }
  bytes_read_ = 0;
  Message whole;
  std::memcpy(&whole, read_.data(), sizeof whole);
  return whole;
}

}  // namespace muster::tcp
