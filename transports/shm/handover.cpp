#include "transports/shm/handover.hpp"

#include <poll.h>
#include <sys/random.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <utility>

namespace muster::shm {
namespace {

using time_point = handover::clock::time_point;

/// The kernel takes no more with one message (SCM_MAX_FD).
constexpr std::size_t most_at_once = 253;

[[noreturn]] void give_up(const std::string& what, std::size_t rank = no_rank) {
  throw error(errc::bootstrap, what + ": " + std::strerror(errno), rank);
}

/// False where the deadline has passed. No socket: waits for a moment.
bool wait(int socket, short events, time_point deadline) {
  using std::chrono::milliseconds;
  const auto left = std::chrono::ceil<milliseconds>(deadline - handover::clock::now());
  if (left <= milliseconds(0)) return false;
  pollfd entry{.fd = socket, .events = events, .revents = 0};
  ::poll(&entry, 1, static_cast<int>(socket < 0 ? 1 : left.count()));
  return true;
}

/// Tries until it succeeds or fails for good, which may be because the deadline has passed.
template <class Attempt>
ssize_t insist(int socket, short events, time_point deadline, Attempt attempt) {
  for (;;) {
    const ssize_t done = attempt();
    if (done >= 0) return done;
    const int why = errno;
    // Of one user so many descriptors may be under way, of all processes together.
    const bool wait_for_others = why == ETOOMANYREFS;
    if (why != EINTR && why != EAGAIN && !wait_for_others) return done;
    if (why != EINTR && !wait(wait_for_others ? -1 : socket, events, deadline)) {
      errno = ETIMEDOUT;
      return done;
    }
  }
}

struct address {
  sockaddr_un name{};
  socklen_t bytes;

  /// Of the abstract kind: a zero comes first.
  explicit address(std::string_view text)
      : bytes(static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size())) {
    name.sun_family = AF_UNIX;
    text.copy(name.sun_path + 1, sizeof name.sun_path - 1);
  }
  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&name); }
};

descriptor make_socket() {
  descriptor made(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  if (!made) give_up("cannot make a socket");
  return made;
}

std::string random_name() {
  std::array<unsigned char, 16> chance{};
  if (::getrandom(chance.data(), chance.size(), 0) != std::ssize(chance)) {
    give_up("cannot get random numbers");
  }
  std::string name = "muster-";
  for (const unsigned char each : chance) {
    name += "0123456789abcdef"[each / 16];
    name += "0123456789abcdef"[each % 16];
  }
  return name;
}

/// What comes with each piece of a row of descriptors.
struct piece {
  std::uint64_t left;  ///< that come after it
};

/// A message of a piece, with room for its descriptors.
struct piece_message {
  piece head{};
  iovec bytes{&head, sizeof head};
  alignas(cmsghdr) std::array<std::byte, CMSG_SPACE(most_at_once * sizeof(int))> room{};
  msghdr message{};

  explicit piece_message(std::size_t descriptors) {
    message.msg_iov = &bytes;
    message.msg_iovlen = 1;
    message.msg_control = room.data();
    message.msg_controllen = CMSG_SPACE(descriptors * sizeof(int));
  }
  piece_message(const piece_message&) = delete;
  piece_message& operator=(const piece_message&) = delete;
};

}  // namespace

handover handover::connect(std::string_view name, std::size_t other, time_point deadline) {
  descriptor socket = make_socket();
  const address at(name);
  // No socket to wait for: it is the other end that has to make room.
  const auto connected =
      insist(-1, 0, deadline, [&] { return ::connect(socket.get(), at.get(), at.bytes); });
  if (connected < 0 && errno == ECONNREFUSED) {
    throw error(errc::rank_left, "does not listen, or no more", other);
  }
  if (connected < 0) give_up("cannot connect to rank " + std::to_string(other));
  return {std::move(socket), other};
}

ucred handover::peer_of(const descriptor& socket) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0) {
    give_up("cannot tell who is at the other end of a socket");
  }
  return peer;
}

void handover::miss_other() const { throw error(errc::rank_left, "has given up", other_); }

void handover::send(msghdr& message, time_point deadline) const {
  const auto sent = insist(socket_.get(), POLLOUT, deadline,
                           [&] { return ::sendmsg(socket_.get(), &message, MSG_NOSIGNAL); });
  if (sent < 0 && (errno == EPIPE || errno == ECONNRESET)) miss_other();
  if (sent < 0) give_up("takes nothing", other_);
}

std::size_t handover::receive(msghdr& message, time_point deadline) const {
  const auto got = insist(socket_.get(), POLLIN, deadline,
                          [&] { return ::recvmsg(socket_.get(), &message, MSG_CMSG_CLOEXEC); });
  if (got == 0 || (got < 0 && errno == ECONNRESET)) miss_other();
  if (got < 0) give_up("sends nothing", other_);
  return static_cast<std::size_t>(got);
}

void handover::send(std::span<const std::byte> message, time_point deadline) const {
  iovec bytes{const_cast<std::byte*>(message.data()), message.size()};
  msghdr whole{};
  whole.msg_iov = &bytes;
  whole.msg_iovlen = 1;
  send(whole, deadline);
}

void handover::receive(std::span<std::byte> message, time_point deadline) const {
  iovec bytes{message.data(), message.size()};
  msghdr whole{};
  whole.msg_iov = &bytes;
  whole.msg_iovlen = 1;
  if (receive(whole, deadline) != message.size()) {
    throw error(errc::bootstrap, "sends less than it should", other_);
  }
}

void handover::send_descriptors(std::span<const int> all, time_point deadline) const {
  while (!all.empty()) {
    const auto some = all.first(std::min(all.size(), most_at_once));
    all = all.subspan(some.size());
    piece_message next(some.size());
    next.head.left = all.size();
    cmsghdr* const control = CMSG_FIRSTHDR(&next.message);
    control->cmsg_level = SOL_SOCKET;
    control->cmsg_type = SCM_RIGHTS;
    control->cmsg_len = CMSG_LEN(some.size_bytes());
    std::memcpy(CMSG_DATA(control), some.data(), some.size_bytes());
    send(next.message, deadline);
  }
}

std::vector<descriptor> handover::receive_descriptors(time_point deadline) const {
  std::vector<descriptor> all;
  for (std::uint64_t left = 1; left != 0;) {
    piece_message next(most_at_once);
    const std::size_t bytes = receive(next.message, deadline);
    for (cmsghdr* control = CMSG_FIRSTHDR(&next.message); control != nullptr;
         control = CMSG_NXTHDR(&next.message, control)) {
      if (control->cmsg_level != SOL_SOCKET || control->cmsg_type != SCM_RIGHTS) continue;
      const std::size_t count = (control->cmsg_len - CMSG_LEN(0)) / sizeof(int);
      std::vector<int> numbers(count);
      std::memcpy(numbers.data(), CMSG_DATA(control), count * sizeof(int));
      for (const int number : numbers) all.emplace_back(number);
    }
    if ((next.message.msg_flags & MSG_CTRUNC) != 0) {
      throw error(errc::bootstrap, "cannot have so many descriptors open (see `ulimit -n`)");
    }
    if (bytes != sizeof(piece)) throw error(errc::bootstrap, "sends what it should not", other_);
    left = next.head.left;
  }
  return all;
}

listener::listener(std::size_t most) : socket_(make_socket()), name_(random_name()) {
  const address at(name_);
  if (::bind(socket_.get(), at.get(), at.bytes) != 0 ||
      ::listen(socket_.get(), static_cast<int>(most)) != 0) {
    give_up("cannot listen on a socket");
  }
}

std::optional<descriptor> listener::next(time_point deadline) const {
  const auto socket = insist(socket_.get(), POLLIN, deadline, [&]() -> ssize_t {
    return ::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK);
  });
  if (socket >= 0) return descriptor(static_cast<int>(socket));
  if (errno != ETIMEDOUT) give_up("cannot accept a connection");
  return std::nullopt;
}

}  // namespace muster::shm
