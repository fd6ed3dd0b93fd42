// What messages between hosts take: 8 bytes one way and 1 MiB, beside a bare TCP connection of the
// same two processes in the same run, and alltoall among all ranks. Medians, in microseconds.
//
//   muster run --hosts-made 4 -n 4 benchmark [ROUNDS]

#include <fcntl.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <span>
#include <stdexcept>
#include <vector>

#include <muster/muster.hpp>

#include "tools/report/statistics.hpp"
#include "transports/tcp/interfaces.hpp"
#include "transports/tcp/socket.hpp"

namespace muster {
namespace {

using clock = std::chrono::steady_clock;

/// Of one call, in microseconds.
double time_of(int rounds, const std::function<void()>& call) {
  for (int i = 0; i < rounds / 10 + 1; ++i) call();
  std::vector<double> samples;
  for (int i = 0; i < rounds; ++i) {
    const auto begin = clock::now();
    call();
    samples.push_back(std::chrono::duration<double, std::micro>(clock::now() - begin).count());
  }
  return bench::median(samples);
}

// ---- a bare connection, which blocks

class bare_connection {
public:
  /// Of ranks 0 and 1.
  explicit bare_connection(team& of) {
    tcp::address at;
    tcp::listener door;
    if (of.rank() == 1) {
      door = tcp::listen_at(tcp::first_address_beyond_loopback());
      at = door.at;
    }
    start(bcast(of, std::span(&at, 1), 1)).wait();
    socket_ = of.rank() == 1 ? accept(door) : tcp::begin_connecting(at);
    pollfd ready{.fd = socket_.get(), .events = POLLOUT, .revents = 0};
    ::poll(&ready, 1, -1);
    ::fcntl(socket_.get(), F_SETFL, 0);
  }

  void send(std::span<const std::byte> bytes) const {
    while (!bytes.empty())
      bytes = bytes.subspan(moved(::send(socket_.get(), bytes.data(), bytes.size(), 0)));
  }
  void receive(std::span<std::byte> bytes) const {
    while (!bytes.empty())
      bytes = bytes.subspan(moved(::recv(socket_.get(), bytes.data(), bytes.size(), 0)));
  }

private:
  static std::size_t moved(ssize_t got) {
    if (got <= 0) throw std::runtime_error("the bare connection ended");
    return static_cast<std::size_t>(got);
  }
  static descriptor accept(const tcp::listener& door) {
    pollfd ready{.fd = door.socket.get(), .events = POLLIN, .revents = 0};
    ::poll(&ready, 1, -1);
    return tcp::accept_from(door);
  }

  descriptor socket_;
};

double bare_trip(const bare_connection& with, std::size_t rank, std::size_t bytes, int rounds) {
  std::vector<std::byte> memory(bytes);
  return time_of(rounds,
                 [&] {
                   if (rank == 0) with.send(memory);
                   with.receive(memory);
                   if (rank == 1) with.send(memory);
                 }) /
         2;
}

// ---- Muster

/// There and back.
double trip(team& of, std::size_t bytes, int rounds) {
  std::vector<std::byte> memory(bytes);
  return time_of(rounds,
                 [&] {
                   start(bcast(of, memory, 0)).wait();
                   start(bcast(of, memory, 1)).wait();
                 }) /
         2;
}

double alltoall_time(team& of, std::size_t bytes, int rounds) {
  std::vector<std::byte> sent(bytes * of.size());
  std::vector<std::byte> received(sent.size());
  for (std::size_t i = 0; i < sent.size(); ++i) sent[i] = static_cast<std::byte>(of.rank() + i);
  const double took = time_of(rounds, [&] { start(alltoall(of, sent, received)).wait(); });
  for (std::size_t from = 0; from < of.size(); ++from) {
    const std::size_t at = of.rank() * bytes;
    if (received[from * bytes] != static_cast<std::byte>(from + at)) {
      throw std::runtime_error("alltoall brought wrong data");
    }
  }
  return took;
}

void run(team& of, int rounds) {
  const auto pair =
      start(split(of, of.rank() == 0 || of.rank() == of.size() - 1 ? 0 : 1, 0)).wait();
  const bool is_first = of.rank() == 0;
  if (of.rank() == 0 || of.rank() == of.size() - 1) {
    const bare_connection bare(*pair);
    for (const std::size_t bytes : {std::size_t{8}, std::size_t{1} << 20}) {
      const int times = bytes == 8 ? rounds : rounds / 10 + 1;
      const double plain = bare_trip(bare, pair->rank(), bytes, times);
      const double ours = trip(*pair, bytes, times);
      if (is_first) {
        std::printf("one way, %8zu bytes: %10.1f   bare TCP %10.1f   ratio %.2f\n", bytes, ours,
                    plain, ours / plain);
      }
    }
  }
  start(barrier(of)).wait();
  for (const std::size_t bytes : {8, 4096, 65536}) {
    const double took = alltoall_time(of, bytes, bytes == 8 ? rounds : rounds / 10 + 1);
    if (is_first) std::printf("alltoall, %7zu bytes: %10.1f\n", bytes, took);
  }
}

}  // namespace
}  // namespace muster

int main(int count, char** arguments) {
  const int rounds = count > 1 ? std::atoi(arguments[1]) : 2000;
  muster::world world;
  if (world.team().size() < 2 || rounds < 1) {
    std::fprintf(stderr, "usage: muster run --hosts-made 2 -n 2 benchmark [ROUNDS]\n");
    return 2;
  }
  muster::run(world.team(), rounds);
}
