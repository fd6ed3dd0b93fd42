#include "transports/tcp/socket.hpp"

#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include <muster/base/error.hpp>

#include "transports/tcp/descriptors.hpp"

namespace muster::tcp {
namespace {

constexpr int kind = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

[[noreturn]] void fail(const char* doing, const address& at) {
  throw error(errc::bootstrap,
              std::string("tcp: cannot ") + doing + " " + at.text() + ": " + std::strerror(errno));
}

void set(int socket, int level, int option, int value = 1) noexcept {
  ::setsockopt(socket, level, option, &value, sizeof value);
}

bool is_anybody_at(const listener& door) noexcept {
  const int before = errno;
  pollfd asked{.fd = door.socket.get(), .events = POLLIN, .revents = 0};
  const bool is_one = ::poll(&asked, 1, 0) > 0;
  errno = before;
  return is_one;
}

/// Empty where the port is taken.
descriptor try_datagrams_at(const address& at) {
  descriptor made(::socket(at.storage.ss_family, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!made) fail("take datagrams at", at);
  if (::bind(made.get(), at.get(), at.length) == 0) return made;
  if (errno == EADDRINUSE) return {};
  fail("take datagrams at", at);
}

msghdr message_of(std::span<const iovec> pieces) noexcept {
  msghdr message{};
  message.msg_iov = const_cast<iovec*>(pieces.data());
  message.msg_iovlen = pieces.size();
  return message;
}

moved ending_of(ssize_t got) noexcept {
  if (got > 0) return {moved::how::some, static_cast<std::size_t>(got)};
  const bool later = got < 0 && (errno == EAGAIN || errno == EINTR);
  return {later ? moved::how::nothing_yet : moved::how::over};
}

}  // namespace

std::optional<listener> try_listening_at(const address& at, listening_for what) {
  listener made{.socket = descriptor(::socket(at.storage.ss_family, kind, 0)), .at = at};
  if (!made.socket) fail("listen at", at);
  set(made.socket.get(), SOL_SOCKET, SO_REUSEADDR);
  // All addresses are those of IPv4, too.
  if (at.storage.ss_family == AF_INET6 && at.is_anywhere()) {
    set(made.socket.get(), IPPROTO_IPV6, IPV6_V6ONLY, 0);
  }
  if (::bind(made.socket.get(), at.get(), at.length) != 0 ||
      ::listen(made.socket.get(), SOMAXCONN) != 0) {
    if (errno == EADDRINUSE) return std::nullopt;
    fail("listen at", at);
  }
  socklen_t length = sizeof made.at.storage;
  ::getsockname(made.socket.get(), reinterpret_cast<sockaddr*>(&made.at.storage), &length);
  made.at.length = length;
  if (what == listening_for::connections) return made;
  made.datagrams = try_datagrams_at(made.at);
  return made.datagrams ? std::optional(std::move(made)) : std::nullopt;
}

listener listen_at(const address& at) {
  if (auto made = try_listening_at(at)) return std::move(*made);
  fail("listen at", at);
}

descriptor accept_from(const listener& at) noexcept {
  descriptor made(::accept4(at.socket.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (made) set(made.get(), IPPROTO_TCP, TCP_NODELAY);
  // The system looks for a descriptor before it looks whether anybody has come.
  if (!made && is_out_of_descriptors(errno) && !is_anybody_at(at)) errno = EAGAIN;
  return made;
}

descriptor begin_connecting(const address& to, const address& from,
                            std::chrono::milliseconds patience) noexcept {
  descriptor made(::socket(to.storage.ss_family, kind, 0));
  if (!made) return made;
  set(made.get(), IPPROTO_TCP, TCP_NODELAY);
  if (from.length != 0) {
    set(made.get(), IPPROTO_IP, IP_BIND_ADDRESS_NO_PORT);
    address any_port = from;
    any_port.set_port(0);
    if (::bind(made.get(), any_port.get(), any_port.length) != 0) return {};
  }
  set(made.get(), IPPROTO_TCP, TCP_USER_TIMEOUT, static_cast<int>(patience.count()));
  const bool begun = ::connect(made.get(), to.get(), to.length) == 0 || errno == EINPROGRESS;
  return begun ? std::move(made) : descriptor();
}

// The same limit would end a connection whose other side reads nothing for so long.
void end_connecting(int socket) noexcept { set(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, 0); }

void keep_alive(int socket, std::chrono::milliseconds idle) noexcept {
  if (idle.count() == 0) return;
  const int seconds =
      static_cast<int>(std::max<long>(std::chrono::ceil<std::chrono::seconds>(idle).count(), 1));
  set(socket, IPPROTO_TCP, TCP_KEEPIDLE, seconds);
  set(socket, IPPROTO_TCP, TCP_KEEPINTVL, (seconds + 1) / 2);
  set(socket, SOL_SOCKET, SO_KEEPALIVE);
}

void limit_unsent(int socket, std::size_t bytes) noexcept {
  set(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, static_cast<int>(bytes));
}

bool is_unreachable(int why) noexcept {
  return why == ENETUNREACH || why == EHOSTUNREACH || why == ENETDOWN || why == EHOSTDOWN ||
         why == ETIMEDOUT || why == EADDRNOTAVAIL;
}

std::optional<int> how_connected(int socket) noexcept {
  pollfd one{.fd = socket, .events = POLLOUT, .revents = 0};
  if (::poll(&one, 1, 0) != 1) return std::nullopt;
  int why = 0;
  socklen_t length = sizeof why;
  ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &why, &length);
  return why;
}

bool has_delivered(int socket) noexcept {
  int left = 0;
  return ::ioctl(socket, SIOCOUTQ, &left) != 0 || left == 0;
}

delivery delivery_of(int socket) noexcept {
  if (has_delivered(socket)) return delivery::complete;
  constexpr unsigned patience = 500;  // ms: several times what the system waits at least
  tcp_info how{};
  socklen_t length = sizeof how;
  if (::getsockopt(socket, IPPROTO_TCP, TCP_INFO, &how, &length) != 0) return delivery::under_way;
  // Probes ask a receiver without room whether it has some, and are answered by one that is there.
  const bool repeats = (how.tcpi_unacked != 0 && how.tcpi_retransmits > 1) || how.tcpi_probes > 1;
  const bool is_stalled =
      repeats && how.tcpi_last_ack_recv > patience && how.tcpi_last_data_recv > patience;
  return is_stalled ? delivery::stalled : delivery::under_way;
}

address local_address_of(int socket) noexcept {
  address found;
  socklen_t length = sizeof found.storage;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&found.storage), &length);
  found.length = length;
  const std::span<const std::uint8_t> bytes = found.bytes();
  const auto* const of_both_kinds = reinterpret_cast<const sockaddr_in6*>(&found.storage);
  if (found.storage.ss_family == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&of_both_kinds->sin6_addr)) {
    return address::of_bytes(bytes.last(4), 0);
  }
  found.set_port(0);
  return found;
}

moved send_some(int socket, std::span<const iovec> from, more_to_send more) noexcept {
  const msghdr message = message_of(from);
  const int flags = MSG_NOSIGNAL | MSG_DONTWAIT | (more == more_to_send::yes ? MSG_MORE : 0);
  return ending_of(::sendmsg(socket, &message, flags));
}

void tell_from(int socket, std::size_t bytes) noexcept {
  const int least = static_cast<int>(bytes);
  // Where it cannot be set it tells of everything.
  ::setsockopt(socket, SOL_SOCKET, SO_RCVLOWAT, &least, sizeof least);
}

moved receive_some(int socket, std::span<const iovec> to) noexcept {
  msghdr message = message_of(to);
  return ending_of(::recvmsg(socket, &message, MSG_DONTWAIT));
}

}  // namespace muster::tcp
