#include "transports/tcp/endpoint.hpp"

#include <linux/sockios.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <sstream>
#include <utility>

#include <muster/base/error.hpp>
#include <muster/progress/ticks.hpp>

namespace muster::tcp {
namespace {

using clock = std::chrono::steady_clock;

/// What an event is about: a connection, by its peer, or a socket on its way to become one.
constexpr std::uint64_t of_connection = std::uint64_t{1} << 32;

constexpr std::uint32_t all_changes = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;

/// So many are made at once at most; strangers have to wait.
constexpr std::size_t most_attempts = 4096;

/// Whether all that a socket was given has come to the other side's system.
bool has_delivered(int socket) noexcept {
  int left = 0;
  return ::ioctl(socket, SIOCOUTQ, &left) != 0 || left == 0;
}

}  // namespace

endpoint::endpoint(const settings& how, listener at, std::vector<address> peers)
    : how_(how),
      listener_(std::move(at)),
      peers_(std::move(peers)),
      events_(::epoll_create1(EPOLL_CLOEXEC)),
      made_(peers_.size()),
      retries_(peers_.size()),
      states_(peers_.size(), wire::liveness::alive),
      losses_(peers_.size()) {
  if (!events_) throw error(errc::resource, "tcp: no epoll descriptor");
  watch(listener_.socket.get(), listener_.socket.get(), EPOLLIN);
  if (how_.timeout.count() == 0 || !listener_.datagrams) return;
  heartbeat_ = std::make_unique<heartbeat>(
      heartbeat::settings{
          .rank = how_.rank, .key = how_.key, .timeout = how_.timeout, .bell = how_.bell},
      std::move(listener_.datagrams), peers_);
}

endpoint::~endpoint() = default;

void endpoint::watch(int socket, std::uint64_t what, std::uint32_t changes) noexcept {
  epoll_event event{};
  event.events = changes;
  event.data.u64 = what;
  if (::epoll_ctl(events_.get(), EPOLL_CTL_ADD, socket, &event) == 0) return;
  ::epoll_ctl(events_.get(), EPOLL_CTL_MOD, socket, &event);
}

std::unique_ptr<stream::connection> endpoint::connect(stream::connections& of, std::size_t rank) {
  auto made = std::make_unique<socket_connection>(of, rank, *this, how_.window);
  made_[rank] = made.get();
  return made;
}

// ---- what comes

bool endpoint::progress(stream::connections& of) noexcept {
  if (is_due()) look(of);
  bool any = false;
  for (std::size_t i = 0; i < active_.size();) {
    any |= active_[i]->pull();
    if (active_[i]->is_over()) lose(*active_[i], "its connection ended");
    if (active_[i]->is_active()) {
      ++i;
    } else {
      active_[i]->set_listed(false);
      active_[i] = active_.back();
      active_.pop_back();
    }
  }
  return any;
}

// Asking the system takes longer than all else in a poll. Where nothing has come for long it is
// asked by the time, for polls may be some ten nanoseconds apart, or a yield.
bool endpoint::is_due() noexcept {
  constexpr unsigned often = 256;
  constexpr std::uint64_t apart = 1000;  // ticks: less than half a microsecond
  const std::uint64_t now = count_ticks();
  if (++polls_ >= often && now - last_look_ < apart) return false;
  last_look_ = now;
  return true;
}

void endpoint::look(stream::connections& of) noexcept {
  std::array<epoll_event, 64> events;
  const int count = ::epoll_wait(events_.get(), events.data(), events.size(), 0);
  for (int i = 0; i < count; ++i) {
    polls_ = 0;
    const std::uint64_t what = events[static_cast<std::size_t>(i)].data.u64;
    const std::uint32_t changes = events[static_cast<std::size_t>(i)].events;
    if ((what & of_connection) != 0) {
      note(*made_[what & ~of_connection], changes);
    } else if (static_cast<int>(what) == listener_.socket.get()) {
      accept_all();
    } else {
      advance(static_cast<int>(what), of);
    }
  }
}

void endpoint::note(socket_connection& one, std::uint32_t changes) noexcept {
  if (!one.is_open()) return;
  one.note((changes & ~std::uint32_t{EPOLLOUT}) != 0, (changes & EPOLLOUT) != 0,
           (changes & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0);
  list(one);
}

void endpoint::list(socket_connection& one) noexcept {
  if (one.set_listed(true)) active_.push_back(&one);
}

// ---- connections in the making

void endpoint::begin_connecting(const socket_connection& to) noexcept {
  const std::size_t peer = to.peer();
  const auto is_this = [peer](const attempt& one) { return one.is_mine && one.peer == peer; };
  if (clock::now() < retries_[peer] || find_attempt(is_this) != attempts_.end()) return;
  muster::descriptor socket = tcp::begin_connecting(peers_[peer]);
  if (!socket) return miss(peer, false);
  const auto from = static_cast<std::uint32_t>(how_.rank);
  add({.with = admission(std::move(socket), how_.key, {from, static_cast<std::uint32_t>(peer)}),
       .peer = peer,
       .is_mine = true,
       .began = clock::now()});
}

void endpoint::accept_all() noexcept {
  if (attempts_.size() >= most_attempts) drop_old_attempts();
  while (muster::descriptor socket = accept_from(listener_)) {
    if (attempts_.size() >= most_attempts) continue;
    add({.with = admission(std::move(socket), how_.key),
         .peer = how_.rank,
         .is_mine = false,
         .began = clock::now()});
  }
}

void endpoint::drop_old_attempts() noexcept {
  constexpr std::chrono::seconds patience(10);
  attempts_.remove_if([oldest = clock::now() - patience](const attempt& one) {
    return !one.is_mine && one.began < oldest;
  });
}

void endpoint::add(attempt&& one) noexcept {
  const int socket = one.with.socket();
  attempts_.push_back(std::move(one));
  watch(socket, static_cast<std::uint64_t>(socket), all_changes);
}

void endpoint::advance(int socket, stream::connections& of) noexcept {
  const auto at =
      find_attempt([socket](const attempt& one) { return one.with.socket() == socket; });
  if (at == attempts_.end()) return;
  switch (at->with.advance()) {
    case admission::state::under_way:
      return;
    case admission::state::named:
      return admit(at, of);
    case admission::state::accepted:
      return open(at, of);
    case admission::state::yielded:
      // Its own attempt counts, and is under way; if that fails, it is this one's turn again.
      retries_[at->peer] = clock::now() + std::chrono::seconds(2);
      attempts_.erase(at);
      return;
    case admission::state::failed:
      break;
  }
  const std::size_t peer = at->peer;
  const bool was_mine = at->is_mine;
  const bool has_ended = at->with.has_ended();
  attempts_.erase(at);
  if (was_mine) {
    miss(peer, has_ended);
  } else if (!has_ended) {
    std::fputs("muster: refused a connection of somebody who is not of this job\n", stderr);
  }
}

void endpoint::admit(attempts::iterator one, stream::connections& of) noexcept {
  const auto [from, to] = one->with.who();
  const bool is_sane = to == how_.rank && from < peers_.size() && reaches(from);
  if (!is_sane || states_[from] != wire::liveness::alive) {
    attempts_.erase(one);
    return;
  }
  const auto mine = find_attempt(
      [peer = from](const attempt& other) { return other.is_mine && other.peer == peer; });
  if (is_open_to(from) || (mine != attempts_.end() && how_.rank < from)) {
    one->with.yield();
    attempts_.erase(one);
    return;
  }
  if (!one->with.accept()) {
    attempts_.erase(one);
    return;
  }
  if (mine != attempts_.end()) attempts_.erase(mine);
  one->peer = from;
  open(one, of);
}

void endpoint::open(attempts::iterator one, stream::connections& of) noexcept {
  const std::size_t peer = one->peer;
  muster::descriptor socket = one->with.release();
  attempts_.erase(one);
  of.to(peer);
  watch(socket.get(), of_connection | peer, all_changes);
  keep_alive(socket.get(), how_.timeout);
  if (heartbeat_) heartbeat_->greet(peer);
  made_[peer]->open(std::move(socket));
  list(*made_[peer]);
  if (farewell_) made_[peer]->owe_news(*farewell_, {});
}

// ---- the end

// Where nobody listens any more, nobody is missed: a rank that died has local peers that know.
void endpoint::miss(std::size_t peer, bool is_gone) noexcept {
  if (is_open_to(peer)) return;
  if (is_gone && states_[peer] == wire::liveness::alive) states_[peer] = wire::liveness::left;
  lose(*made_[peer], "it does not answer as a rank of this job");
}

void endpoint::lose(socket_connection& from, const std::string& why) noexcept {
  note_loss(from.peer(), why);
  from.close();
}

void endpoint::note_loss(std::size_t peer, const std::string& why) noexcept {
  if (states_[peer] != wire::liveness::alive) return;
  states_[peer] = wire::liveness::died;
  losses_[peer] = "at " + peers_[peer].text() + " " + why;
  std::fprintf(stderr, "muster: rank %zu lost rank %zu: %s\n", how_.rank, peer,
               losses_[peer].c_str());
}

wire::liveness endpoint::state(std::size_t rank) noexcept {
  if (!heartbeat_ || states_[rank] != wire::liveness::alive) return states_[rank];
  heartbeat_->await(rank);
  if (heartbeat_->is_lost(rank)) {
    const std::chrono::duration<double> silence = how_.timeout;
    std::ostringstream why;
    why << "it did not answer for " << silence.count() << " s";
    note_loss(rank, why.str());
    if (made_[rank] != nullptr) made_[rank]->close();
  }
  return states_[rank];
}

void endpoint::arm() noexcept {
  if (heartbeat_) heartbeat_->note_sleep();
}

void endpoint::disarm() noexcept {
  polls_ = 0;
  if (heartbeat_) heartbeat_->note_awake();
}

void endpoint::leave(stream::connections& of, const stream::frame& farewell, bool broken) noexcept {
  farewell_ = farewell;
  for (socket_connection* const each : made_) {
    if (each != nullptr && each->is_open()) each->owe_news(farewell, {});
  }
  const auto deadline = clock::now() + std::chrono::seconds(5);
  while (has_unsent() && (!broken || clock::now() < deadline)) {
    look(of);
    progress(of);
    for (socket_connection* const each : made_) {
      if (each != nullptr && is_unsent(*each)) state(each->peer());  // it may be lost
    }
    ::poll(nullptr, 0, 1);
  }
}

// What has not come to the other side's system yet is lost where a socket is closed before all was
// read of it.
bool endpoint::is_unsent(socket_connection& one) noexcept {
  if (one.is_closed()) return false;
  if (!one.is_open()) one.pull();  // it may be time to connect again
  return one.owes() || !one.flush() || (one.is_open() && !has_delivered(one.socket()));
}

bool endpoint::has_unsent() noexcept {
  return std::ranges::any_of(
      made_, [](socket_connection* each) { return each != nullptr && is_unsent(*each); });
}

std::size_t endpoint::most_bytes() const noexcept {
  const auto peers = std::ranges::count_if(peers_, [](const address& one) { return one.length; });
  return static_cast<std::size_t>(peers) * 4 * how_.window;
}

}  // namespace muster::tcp
