#include "transports/tcp/endpoint.hpp"

#include <poll.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <sstream>
#include <string>
#include <utility>

#include <muster/base/error.hpp>

#include "transports/tcp/descriptors.hpp"
#include "transports/tcp/footprint.hpp"
#include "transports/tcp/multipath_connection.hpp"
#include "transports/tcp/socket_connection.hpp"

namespace muster::tcp {
namespace {

using clock = std::chrono::steady_clock;

/// What an event is about: a subflow, by its peer and number, or another descriptor.
constexpr std::uint64_t of_connection = std::uint64_t{1} << 63;
constexpr unsigned subflow_from_bit = 32;

constexpr std::uint64_t name_of(std::size_t peer, std::size_t subflow) {
  return of_connection | subflow << subflow_from_bit | peer;
}

/// So many are made at once at most; strangers have to wait.
constexpr std::size_t most_attempts = 4096;

/// How often subflows are looked after.
constexpr std::chrono::milliseconds tending(100);

/// Of a rank that nobody listens for any more: before it has simply left. It may have left because
/// of a failure, of which another rank of its machine is about to tell.
constexpr std::chrono::seconds doubt(1);

/// For whatever else a process opens.
constexpr std::size_t others_descriptors = 64;

}  // namespace

endpoint::endpoint(const settings& how, std::vector<listener> doors, std::vector<paths> peers,
                   std::unique_ptr<tcp::carrier> by)
    : how_(how),
      carrier_(std::move(by)),
      doors_(std::move(doors)),
      peers_(std::move(peers)),
      reactor_(make_reactor(how.reactor)),
      made_(peers_.size()),
      states_(peers_.size(), wire::liveness::alive),
      losses_(peers_.size()) {
  allow_descriptors(most_descriptors() + others_descriptors);
  for (const listener& each : doors_) watches_on_.push_back(watch_others(each.socket.get()));
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) times_.emplace_back(subflows_to(rank));
  timer_ = muster::descriptor(::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK));
  if (!timer_) throw error(errc::resource, "tcp: no timer");
  watches_on_.push_back(watch_others(timer_.get()));
  is_tended_ = carrier_ != nullptr ||
               std::ranges::any_of(peers_, [](const paths& each) { return each.size() > 1; });
  if (carrier_ != nullptr) {
    for (const int each : carrier_->descriptors()) watches_on_.push_back(watch_others(each));
  }
  const bool takes_datagrams = std::ranges::all_of(
      doors_, [](const listener& each) { return static_cast<bool>(each.datagrams); });
  if (how_.timeout.count() == 0 || !takes_datagrams) return;
  std::vector<muster::descriptor> datagrams;
  for (listener& each : doors_) datagrams.push_back(std::move(each.datagrams));
  heartbeat_ = std::make_unique<heartbeat>(
      heartbeat::settings{
          .rank = how_.rank, .key = how_.key, .timeout = how_.timeout, .bell = how_.bell},
      std::move(datagrams), peers_);
}

endpoint::~endpoint() = default;

registration endpoint::watch_others(int one) noexcept {
  return {*reactor_, one, static_cast<std::uint64_t>(one), reactor::interest::incoming};
}

registration endpoint::watch(int socket, std::size_t peer, std::size_t subflow) noexcept {
  return {*reactor_, socket, name_of(peer, subflow), reactor::interest::messages};
}

std::unique_ptr<stream::connection> endpoint::connect(stream::connections& of, std::size_t rank) {
  std::unique_ptr<peer_connection> made;
  if (is_carried(rank)) {
    made = carrier_->connect(of, rank, *this);
  } else if (const std::size_t subflows = peers_[rank].size(); subflows == 1) {
    made = std::make_unique<socket_connection>(of, rank, *this, how_.window);
  } else {
    made = std::make_unique<multipath_connection>(of, rank, *this, how_.window, subflows);
  }
  made_[rank] = made.get();
  return made;
}

// ---- what comes

bool endpoint::progress(stream::connections& of) noexcept {
  look(of);
  bool any = false;
  for (std::size_t i = 0; i < active_.size();) {
    any |= active_[i]->advance();
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

/// What the reactor tells.
class endpoint::told final : public reactor::handler {
public:
  told(endpoint& by, stream::connections& of) noexcept : by_(by), of_(of) {}

  void note(std::uint64_t what, bool readable, bool writable, bool ends) noexcept override {
    if ((what & of_connection) == 0) return by_.note(static_cast<int>(what), of_);
    if (peer_connection* const one = find(what)) {
      one->note(subflow_of(what), readable, writable, ends);
      by_.list(*one);
    }
  }
  void bring(std::uint64_t what, std::span<const std::byte> bytes) noexcept override {
    if (peer_connection* const one = find(what)) {
      one->bring(subflow_of(what), bytes);
      by_.list(*one);
    }
  }
  void stop_bringing(std::uint64_t what, bool ends) noexcept override {
    if (peer_connection* const one = find(what)) {
      one->stop_bringing(subflow_of(what), ends);
      by_.list(*one);
    }
  }

private:
  static std::size_t subflow_of(std::uint64_t what) noexcept {
    return (what & ~of_connection) >> subflow_from_bit;
  }
  peer_connection* find(std::uint64_t what) const noexcept {
    peer_connection* const one = by_.made_[what & 0xffff'ffff];
    return one->is_open(subflow_of(what)) ? one : nullptr;
  }

  endpoint& by_;
  stream::connections& of_;
};

void endpoint::look(stream::connections& of) noexcept {
  told who(*this, of);
  reactor_->look(who);
  if (carrier_ != nullptr) carrier_->look();
  // Looks are some ten nanoseconds apart, or a yield; asking for the time takes longer than one.
  constexpr unsigned between = 64;
  if ((is_tended_ || !unreached_.empty()) && ++looks_ % between == 0) tend_all();
}

void endpoint::note(int descriptor, stream::connections& of) noexcept {
  const auto door =
      std::ranges::find(doors_, descriptor, [](const listener& each) { return each.socket.get(); });
  if (door != doors_.end()) {
    accept_all(*door);
  } else if (descriptor == timer_.get()) {
    std::uint64_t expired = 0;
    [[maybe_unused]] const ssize_t read = ::read(descriptor, &expired, sizeof expired);
  } else if (is_of_carrier(descriptor)) {
    carrier_->note(descriptor);
  } else {
    advance(descriptor, of);
  }
}

bool endpoint::is_of_carrier(int descriptor) const noexcept {
  if (carrier_ == nullptr) return false;
  const auto all = carrier_->descriptors();
  return std::ranges::find(all, descriptor) != all.end();
}

void endpoint::list(peer_connection& one) noexcept {
  if (one.set_listed(true)) active_.push_back(&one);
}

void endpoint::tend_all() noexcept {
  const auto now = clock::now();
  if (now < next_tending_) return;
  next_tending_ = now + tending;
  watches_ = false;
  for (peer_connection* const each : made_) {
    if (each == nullptr || each->is_closed()) continue;
    watches_ = each->tend() || watches_;
    if (!unreached_.contains(each->peer())) continue;
    for (std::size_t i = 0; i < subflows_to(each->peer()); ++i) begin_connecting(*each, i);
  }
  std::vector<std::pair<std::size_t, std::size_t>> late;
  for (const attempt& each : attempts_) {
    const bool is_late = each.is_mine && each.began + how_.longest_attempt < now;
    if (is_late && is_open_to(each.peer)) late.emplace_back(each.peer, each.subflow);
  }
  for (const auto& [peer, subflow] : late) {
    // The peer's attempt may succeed.
    times_[peer][subflow].retry = now + 2 * how_.between_attempts;
    attempts_.erase(find_own(peer, subflow));
  }
}

// ---- connections in the making

void endpoint::begin_connecting(const peer_connection& to, std::size_t subflow) noexcept {
  const std::size_t peer = to.peer();
  const auto now = clock::now();
  if (now < times_[peer][subflow].retry || find_own(peer, subflow) != attempts_.end()) return;
  const path& by = peers_[peer][subflow];
  // Where there are several rails, each has to go by its own.
  const auto open = [&] {
    return tcp::begin_connecting(by.to, doors_.size() > 1 ? doors_[by.rail].at : address{},
                                 how_.timeout);
  };
  muster::descriptor socket = open();
  if (!socket && is_out_of_descriptors(errno) && drop_oldest_stranger()) socket = open();
  if (!socket && is_out_of_descriptors(errno) && !is_open_to(peer)) {
    run_short(errno);
    return made_[peer]->close();
  }
  if (!socket) {
    using enum admission::failure;
    return miss(peer, subflow, is_unreachable(errno) ? unreachable : wrong, now);
  }
  const admission::parties who{.from = static_cast<std::uint32_t>(how_.rank),
                               .to = static_cast<std::uint32_t>(peer),
                               .subflow = static_cast<std::uint32_t>(subflow)};
  add({.with = admission(std::move(socket), how_.key, who),
       .watch = {},
       .peer = peer,
       .subflow = subflow,
       .is_mine = true,
       .began = now});
}

void endpoint::accept_all(const listener& at) noexcept {
  if (attempts_.size() >= most_attempts) drop_old_attempts();
  int why = 0;
  do {
    errno = 0;
    while (muster::descriptor socket = accept_from(at)) {
      if (attempts_.size() >= most_attempts) continue;
      add({.with = admission(std::move(socket), how_.key),
           .watch = {},
           .peer = how_.rank,
           .subflow = 0,
           .is_mine = false,
           .began = clock::now()});
    }
    why = errno;
  } while (is_out_of_descriptors(why) && drop_oldest_stranger());
  if (is_out_of_descriptors(why)) run_short(why);
}

// A rank whose turn has come proves what it is within some trips; whoever says nothing is older.
bool endpoint::drop_oldest_stranger() noexcept {
  const auto oldest = std::ranges::find(attempts_, false, &attempt::is_mine);
  if (oldest == attempts_.end()) return false;
  attempts_.erase(oldest);
  return true;
}

void endpoint::drop_old_attempts() noexcept {
  constexpr std::chrono::seconds patience(10);
  attempts_.remove_if([oldest = clock::now() - patience](const attempt& one) {
    return !one.is_mine && one.began < oldest;
  });
}

void endpoint::add(attempt&& one) noexcept {
  const int socket = one.with.socket();
  one.watch = {*reactor_, socket, static_cast<std::uint64_t>(socket),
               reactor::interest::everything};
  attempts_.push_back(std::move(one));
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
      times_[at->peer][at->subflow].retry = clock::now() + 2 * how_.between_attempts;
      attempts_.erase(at);
      return;
    case admission::state::failed:
      break;
  }
  const std::size_t peer = at->peer;
  const std::size_t subflow = at->subflow;
  const bool was_mine = at->is_mine;
  const admission::failure why = at->with.why();
  const moment began = at->began;
  attempts_.erase(at);
  if (was_mine) {
    miss(peer, subflow, why, began);
  } else if (why != admission::failure::gone) {
    std::fputs("muster: refused a connection of somebody who is not of this job\n", stderr);
  }
}

void endpoint::admit(attempts::iterator one, stream::connections& of) noexcept {
  const auto [from, to, subflow] = one->with.who();
  const bool is_sane = to == how_.rank && from < peers_.size() && subflow < subflows_to(from);
  if (!is_sane || states_[from] != wire::liveness::alive) {
    attempts_.erase(one);
    return;
  }
  const auto mine = find_own(from, subflow);
  const bool is_there = made_[from] != nullptr && made_[from]->is_open(subflow);
  if ((is_there && !is_replaced(from, subflow)) || (mine != attempts_.end() && how_.rank < from)) {
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
  one->subflow = subflow;
  open(one, of);
}

// Who makes a subflow anew has found that the old one carries nothing. What both sides began at
// once is over by then.
bool endpoint::is_replaced(std::size_t peer, std::size_t subflow) const noexcept {
  return subflows_to(peer) > 1 &&
         times_[peer][subflow].opened + how_.between_attempts < clock::now();
}

void endpoint::open(attempts::iterator one, stream::connections& of) noexcept {
  const std::size_t peer = one->peer;
  const std::size_t subflow = one->subflow;
  one->watch = {};
  muster::descriptor socket = one->with.release();
  attempts_.erase(one);
  try {
    of.to(peer);
  } catch (const error& why) {
    if (how_.give_up) how_.give_up("rank " + std::to_string(how_.rank) + ": " + why.what());
    return;
  }
  if (made_[peer]->is_closed()) return;  // it was given up meanwhile
  registration watching = watch(socket.get(), peer, subflow);
  keep_alive(socket.get(), how_.timeout);
  if (heartbeat_) heartbeat_->greet(peer);
  const auto now = clock::now();
  times_[peer][subflow] = {.retry = now + how_.between_attempts, .opened = now};
  unreached_.erase(peer);
  peer_connection& made = *made_[peer];
  const bool is_first = !made.is_open();
  made.open(subflow, std::move(socket), std::move(watching));
  list(made);
  if (!is_first) return;
  for (const news& each : for_newcomers_) made.owe_news(each.head, each.bytes);
  if (farewell_) made.owe_news(*farewell_, {});
}

// ---- the end

// Others may wait for a connection that this rank cannot take.
void endpoint::run_short(int why) noexcept {
  if (!how_.give_up) return;
  how_.give_up("rank " + std::to_string(how_.rank) + " can make no more connections: " +
               describe_shortage(why, "at least " + std::to_string(most_descriptors()) +
                                          " for sockets to all ranks of other machines, and some "
                                          "for the program"));
}

// Where nobody listens any more, nobody is missed: a rank that died has local peers that know.
void endpoint::miss(std::size_t peer, std::size_t subflow, admission::failure why,
                    moment began) noexcept {
  using enum admission::failure;
  times_[peer][subflow].retry = clock::now() + how_.between_attempts;
  const auto is_another = [peer](const attempt& one) { return one.is_mine && one.peer == peer; };
  const auto is_untried = [](const times& one) { return one.retry == moment{}; };
  if (std::ranges::any_of(times_[peer], is_untried)) return;  // it is their turn now
  if (is_open_to(peer) || find_attempt(is_another) != attempts_.end()) return;
  if (why == unreachable && may_be_back(peer, began)) return;
  if (why == unreachable) return lose(*made_[peer], "there is no way to it");
  if (why == wrong) return lose(*made_[peer], "it does not answer as a rank of this job");
  unreached_.erase(peer);
  gone_.emplace(peer, clock::now() + doubt);
  made_[peer]->close();
}

// As long as one may be silent that was reached before.
bool endpoint::may_be_back(std::size_t peer, moment began) noexcept {
  const auto since = unreached_.try_emplace(peer, began).first->second;
  return how_.timeout.count() == 0 || clock::now() < since + how_.timeout;
}

void endpoint::decide_on_gone() noexcept {
  std::erase_if(gone_, [this, now = clock::now()](const auto& one) {
    if (one.second > now) return false;
    if (states_[one.first] == wire::liveness::alive) states_[one.first] = wire::liveness::left;
    return true;
  });
}

void endpoint::lose(peer_connection& from, const std::string& why) noexcept {
  note_loss(from.peer(), why);
  from.close();
}

void endpoint::note_loss(std::size_t peer, const std::string& why) noexcept {
  unreached_.erase(peer);
  if (states_[peer] != wire::liveness::alive) return;
  states_[peer] = wire::liveness::died;
  losses_[peer] = "at " + peers_[peer].front().to.text() + " " + why;
  std::fprintf(stderr, "muster: rank %zu lost rank %zu: %s\n", how_.rank, peer,
               losses_[peer].c_str());
}

wire::liveness endpoint::state(std::size_t rank) noexcept {
  if (!gone_.empty()) decide_on_gone();
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
  if (is_tended_ || !unreached_.empty()) {
    next_tending_ = {};
    tend_all();
  }
  if (watches_ || !gone_.empty() || !unreached_.empty()) set_timer();
  if (heartbeat_) heartbeat_->note_sleep();
  if (carrier_ != nullptr) carrier_->arm();
  reactor_->arm();
}

void endpoint::set_timer() noexcept {
  const std::chrono::nanoseconds from_now = tending;
  const itimerspec when{.it_interval = {}, .it_value = {.tv_sec = 0, .tv_nsec = from_now.count()}};
  ::timerfd_settime(timer_.get(), 0, &when, nullptr);
}

void endpoint::disarm() noexcept {
  reactor_->disarm();
  if (carrier_ != nullptr) carrier_->disarm();
  if (heartbeat_) heartbeat_->note_awake();
}

void endpoint::leave(stream::connections& of, const stream::frame& farewell, bool broken) noexcept {
  farewell_ = farewell;
  for (peer_connection* const each : made_) {
    if (each != nullptr && each->is_open()) each->owe_news(farewell, {});
  }
  const auto deadline = clock::now() + std::chrono::seconds(5);
  while (has_unsent() && (!broken || clock::now() < deadline)) {
    look(of);
    progress(of);
    for (peer_connection* const each : made_) {
      if (each != nullptr && is_unsent(*each)) state(each->peer());  // it may be lost
    }
    ::poll(nullptr, 0, 1);
  }
}

// What has not come to the other side's system yet is lost where a socket is closed before all was
// read of it.
bool endpoint::is_unsent(peer_connection& one) noexcept {
  // Who has left wants nothing more.
  if (one.is_closed() || states_[one.peer()] != wire::liveness::alive) return false;
  if (!one.is_open()) one.pull();  // it may be time to connect again
  return one.owes() || !one.flush() || !one.has_delivered();
}

bool endpoint::has_unsent() noexcept {
  return std::ranges::any_of(
      made_, [this](peer_connection* each) { return each != nullptr && is_unsent(*each); });
}

std::size_t endpoint::most_bytes() const noexcept {
  std::size_t bytes = 0;
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
    if (peers_[rank].empty()) continue;
    bytes += is_carried(rank) ? carrier_->connection_bytes()
                              : connection_bytes(how_.window, peers_[rank].size());
  }
  return bytes;
}

std::size_t endpoint::most_descriptors() const noexcept {
  std::size_t sockets = 0;
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) sockets += subflows_to(rank);
  return sockets + idle_descriptors(doors_.size());
}

}  // namespace muster::tcp
