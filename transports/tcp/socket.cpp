#include "transports/tcp/socket.hpp"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>

#include <cerrno>
#include <cstring>
#include <string>

#include <muster/base/error.hpp>

namespace muster::tcp {
namespace {

constexpr int kind = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;

[[noreturn]] void fail(const char* doing, const address& at) {
  throw error(errc::bootstrap,
              std::string("tcp: cannot ") + doing + " " + at.text() + ": " + std::strerror(errno));
}

void set(int socket, int level, int option) noexcept {
  const int on = 1;
  ::setsockopt(socket, level, option, &on, sizeof on);
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

std::optional<listener> try_listening_at(const address& at) {
  listener made{descriptor(::socket(at.storage.ss_family, kind, 0)), at};
  if (!made.socket) fail("listen at", at);
  set(made.socket.get(), SOL_SOCKET, SO_REUSEADDR);
  if (::bind(made.socket.get(), at.get(), at.length) != 0 ||
      ::listen(made.socket.get(), SOMAXCONN) != 0) {
    if (errno == EADDRINUSE) return std::nullopt;
    fail("listen at", at);
  }
  socklen_t length = sizeof made.at.storage;
  ::getsockname(made.socket.get(), reinterpret_cast<sockaddr*>(&made.at.storage), &length);
  made.at.length = length;
  return made;
}

listener listen_at(const address& at) {
  if (auto made = try_listening_at(at)) return std::move(*made);
  fail("listen at", at);
}

descriptor accept_from(const listener& at) noexcept {
  descriptor made(::accept4(at.socket.get(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (made) set(made.get(), IPPROTO_TCP, TCP_NODELAY);
  return made;
}

descriptor begin_connecting(const address& to) noexcept {
  descriptor made(::socket(to.storage.ss_family, kind, 0));
  if (!made) return made;
  set(made.get(), IPPROTO_TCP, TCP_NODELAY);
  const bool begun = ::connect(made.get(), to.get(), to.length) == 0 || errno == EINPROGRESS;
  return begun ? std::move(made) : descriptor();
}

std::optional<int> how_connected(int socket) noexcept {
  pollfd one{.fd = socket, .events = POLLOUT, .revents = 0};
  if (::poll(&one, 1, 0) != 1) return std::nullopt;
  int why = 0;
  socklen_t length = sizeof why;
  ::getsockopt(socket, SOL_SOCKET, SO_ERROR, &why, &length);
  return why;
}

address local_address_of(int socket) noexcept {
  address found;
  socklen_t length = sizeof found.storage;
  ::getsockname(socket, reinterpret_cast<sockaddr*>(&found.storage), &length);
  found.length = length;
  found.set_port(0);
  return found;
}

moved send_some(int socket, std::span<const iovec> from) noexcept {
  const msghdr message = message_of(from);
  return ending_of(::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT));
}

moved receive_some(int socket, std::span<const iovec> to) noexcept {
  msghdr message = message_of(to);
  return ending_of(::recvmsg(socket, &message, MSG_DONTWAIT));
}

}  // namespace muster::tcp
