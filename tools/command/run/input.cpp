#include "tools/command/run/input.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <iterator>
#include <list>
#include <span>
#include <string>
#include <utility>

#include <muster/base/error.hpp>
#include <muster/base/signals.hpp>

namespace muster::launch {
namespace {

constexpr int a_moment_ms = 10;

/// A terminal stops a process that reads it in the background.
bool may_read_input() noexcept {
  const pid_t foreground = ::tcgetpgrp(STDIN_FILENO);
  return foreground < 0 || foreground == ::getpgrp();
}

}  // namespace

// ---- at the launcher

input_server::input_server(tcp::listener at, std::size_t ranks, const tcp::job_key& key)
    : at_(std::move(at)), ranks_(ranks), key_(key), end_(::eventfd(0, EFD_CLOEXEC)) {
  if (!end_) throw error(errc::resource, "run: no eventfd");
  const all_signals_blocked meanwhile;
  thread_ = std::jthread([this] { run(); });
}

input_server::~input_server() {
  const std::uint64_t one = 1;
  static_cast<void>(::write(end_.get(), &one, sizeof one));
}

void input_server::run() noexcept {
  const descriptor to = let_in();
  at_.socket = descriptor();
  if (!to) return;
  pass_on(to.get());
  ::shutdown(to.get(), SHUT_WR);
}

bool input_server::wait_for(int which, short what) const noexcept {
  std::array all = {pollfd{.fd = end_.get(), .events = POLLIN, .revents = 0},
                    pollfd{.fd = which, .events = what, .revents = 0}};
  do {
    ::poll(all.data(), all.size(), -1);
  } while (all[0].revents == 0 && all[1].revents == 0);
  return all[0].revents == 0;
}

bool input_server::go_on_later() const noexcept {
  pollfd end{.fd = end_.get(), .events = POLLIN, .revents = 0};
  return ::poll(&end, 1, a_moment_ms) == 0;
}

descriptor input_server::let_in() noexcept {
  using state = tcp::admission::state;
  std::list<tcp::admission> coming;
  while (go_on_later()) {
    while (descriptor next = tcp::accept_from(at_)) coming.emplace_back(std::move(next), key_);
    for (auto one = coming.begin(); one != coming.end();) {
      const state now = one->advance();
      if (now == state::named && one->who().from == 0 && one->who().to == ranks_ && one->accept()) {
        return one->release();
      }
      one = now == state::under_way ? std::next(one) : coming.erase(one);
    }
  }
  return {};
}

void input_server::pass_on(int to) noexcept {
  std::array<std::byte, std::size_t{64} << 10> bytes;
  while (wait_for(STDIN_FILENO, POLLIN)) {
    if (!may_read_input()) {
      if (!go_on_later()) return;
      continue;
    }
    const ssize_t got = ::read(STDIN_FILENO, bytes.data(), bytes.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return;
    std::span<const std::byte> left = std::span(bytes).first(static_cast<std::size_t>(got));
    while (!left.empty()) {
      const iovec part{const_cast<std::byte*>(left.data()), left.size()};
      const tcp::moved sent = tcp::send_some(to, {&part, 1});
      if (sent.ended == tcp::moved::how::over) return;  // rank 0 reads no more
      left = left.subspan(sent.bytes);
      if (!left.empty() && !wait_for(to, POLLOUT)) return;
    }
  }
}

// ---- at rank 0's host

descriptor connect_to_input(const cluster::meeting_place& where, std::size_t ranks) {
  using state = tcp::admission::state;
  const auto deadline = std::chrono::steady_clock::now() + where.patience;
  for (const std::string& host : where.hosts) {
    descriptor begun = tcp::begin_connecting(tcp::address::resolve(host, where.port));
    if (!begun) continue;
    tcp::admission with(std::move(begun), where.key,
                        {.from = 0, .to = static_cast<std::uint32_t>(ranks)});
    state now = state::under_way;
    while (now == state::under_way && std::chrono::steady_clock::now() < deadline) {
      ::poll(nullptr, 0, 1);
      now = with.advance();
    }
    if (now != state::accepted) continue;
    descriptor made = with.release();
    ::fcntl(made.get(), F_SETFL, ::fcntl(made.get(), F_GETFL) & ~O_NONBLOCK);
    return made;
  }
  throw error(errc::bootstrap,
              "run: nobody gives rank 0 its input at port " + std::to_string(where.port));
}

}  // namespace muster::launch
