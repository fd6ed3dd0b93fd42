#include "tools/command/bench/worker.hpp"

#include <sys/socket.h>
#include <sys/un.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <string>
#include <system_error>

#include <muster/environment/environment.hpp>

namespace muster::bench {
namespace {

template <class Record>
void send_record(int socket, const Record& record) {
  while (::send(socket, &record, sizeof record, MSG_NOSIGNAL) < 0) {
    if (errno != EINTR) throw std::system_error(errno, std::generic_category(), "muster bench");
  }
}

}  // namespace

coordinator_channel coordinator_channel::connect(const hello& handshake) {
  const char* path = environment::read(environment::bench_socket);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path == nullptr || std::strlen(path) >= sizeof address.sun_path) {
    throw std::runtime_error("this program is a rank of `muster bench`, which starts it");
  }
  std::strcpy(address.sun_path, path);

  descriptor socket(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
  if (!socket ||
      ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) < 0) {
    throw std::system_error(errno, std::generic_category(), std::string("connecting to ") + path);
  }
  send_record(socket.get(), handshake);
  return coordinator_channel(std::move(socket));
}

std::optional<order> coordinator_channel::next_order() {
  order job;
  ssize_t got = 0;
  do {
    got = ::recv(socket_.get(), &job, sizeof job, 0);
  } while (got < 0 && errno == EINTR);
  if (got != sizeof job || job.leave) return std::nullopt;
  return job;
}

void coordinator_channel::reply(const answer& result) { send_record(socket_.get(), result); }

}  // namespace muster::bench
