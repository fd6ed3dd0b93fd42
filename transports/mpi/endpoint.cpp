#include "transports/mpi/endpoint.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <utility>

namespace muster::mpi {
namespace {

/// Receives for packets and for controls at once: what comes beyond is copied by the MPI once more.
constexpr std::size_t packet_receives = 16;
constexpr std::size_t control_receives = 2;

}  // namespace

endpoint::endpoint(const settings& how, messenger& by, std::vector<bool> remote)
    : how_(how),
      by_(by),
      remote_(std::move(remote)),
      packets_(by, packet_tag, packet_receives, connection::longest_packet(how.window)),
      controls_(by, control_tag, control_receives, sizeof(control)),
      made_(remote_.size()),
      states_(remote_.size(), wire::liveness::alive),
      leaving_(remote_.size()),
      losses_(remote_.size()) {}

endpoint::~endpoint() = default;

std::unique_ptr<stream::connection> endpoint::connect(stream::connections& of, std::size_t rank) {
  auto made = std::make_unique<connection>(of, rank, *this, how_.window);
  made_[rank] = made.get();
  for (const news& each : for_newcomers_) made->owe_news(each.head, each.bytes);
  return made;
}

void endpoint::forget(const connection& one) noexcept {
  made_[one.peer()] = nullptr;
  std::erase(listed_, &one);
  for (connection*& each : owners_) {
    if (each == &one) disown(each);
  }
}

messenger::request endpoint::send(connection& to, std::uint32_t tag,
                                  std::span<const std::byte> bytes) {
  return owned(by_.send(to.peer(), tag, bytes), to);
}

messenger::request endpoint::put(connection& to, std::uint32_t tag,
                                 std::span<const std::byte> bytes) {
  return owned(by_.put(to.peer(), tag, bytes), to);
}

bool endpoint::take_back(messenger::request receive) noexcept {
  if (!by_.take_back(receive)) return false;
  disown(owners_[receive]);
  return true;
}

messenger::request endpoint::receive(connection& from, std::uint32_t tag, std::span<std::byte> to) {
  return owned(by_.receive(from.peer(), tag, to), from);
}

messenger::request endpoint::owned(messenger::request one, connection& by) {
  if (one == messenger::over) return one;
  if (owners_.size() <= one) owners_.resize(one + 1);
  owners_[one] = &by;
  ++owned_;
  return one;
}

connection* endpoint::disown(connection*& by) noexcept {
  if (by != nullptr) --owned_;
  return std::exchange(by, nullptr);
}

void endpoint::say(std::size_t to, const control& what) {
  auto kept = std::make_unique<control>(what);
  const auto bytes = std::as_bytes(std::span(kept.get(), 1));
  const messenger::request request = by_.send(to, control_tag, bytes);
  if (request != messenger::over) said_.push_back({std::move(kept), request});
}

// ---- what has come

bool endpoint::progress(stream::connections& of) noexcept {
  constexpr unsigned polls_between = 32;
  if (!is_awaited() && ++idle_polls_ % polls_between != 0) return false;
  return progress_now(of);
}

// What others may want of a rank that awaits nothing can wait for a moment.
clock_time endpoint::most_sleep() const noexcept {
  return is_awaited() ? clock_time(0) : std::chrono::milliseconds(1);
}

bool endpoint::progress_now(stream::connections& of) noexcept {
  bool any = look(of);
  any = take_packets(of) || any;
  for (connection* const each : std::exchange(listed_, {})) each->advance();
  return any;
}

bool endpoint::look(stream::connections& of) noexcept {
  bool any = false;
  for (const messenger::ended& one : by_.look()) {
    any = true;
    note(one);
  }
  obey_all(of);
  return any;
}

void endpoint::note(const messenger::ended& one) noexcept {
  if (one.which < owners_.size() && owners_[one.which] != nullptr) {
    return disown(owners_[one.which])->note(one);
  }
  if (packets_.note(one) || controls_.note(one)) return;
  if (std::erase_if(said_, [&](const said& each) { return each.request == one.which; }) != 0)
    return;
  if (one.which == barrier_) all_leave_ = true;
}

// One may overtake the first packet of its sender.
void endpoint::obey_all(stream::connections& of) noexcept {
  while (controls_.next() != nullptr) {
    arrived_message come = controls_.take();
    of.to(come.from);
    connection& from = *made_[come.from];
    control what{};
    if (come.length != sizeof what) {
      lose(from, "it sent a message of another length than it may have");
    } else {
      std::memcpy(&what, come.bytes.get(), sizeof what);
      from.obey(what);
    }
    controls_.give_back(std::move(come.bytes));
  }
}

bool endpoint::take_packets(stream::connections& of) noexcept {
  bool any = false;
  while (const arrived_message* const next = packets_.next()) {
    of.to(next->from);
    connection& to = *made_[next->from];
    if (!to.takes_packets()) {
      to.advance();  // what is not wanted yet makes room
      if (!to.takes_packets()) break;
    }
    any = true;
    arrived_message come = packets_.take();
    if (!to.is_closed()) to.bring(std::move(come));
  }
  return any;
}

// ---- the end

// It says so when all that was under way between the two is being received. Of that some may not
// have ended here; all of it will.
void endpoint::note_leaving(std::size_t rank) noexcept {
  leaving_[rank] = true;
  if (made_[rank] != nullptr) made_[rank]->expect_no_more();
}

wire::liveness endpoint::state(std::size_t rank) noexcept {
  const bool is_alive = states_[rank] == wire::liveness::alive;
  if (is_alive && leaving_[rank] && (made_[rank] == nullptr || !made_[rank]->is_busy())) {
    states_[rank] = wire::liveness::left;
  }
  return states_[rank];
}

void endpoint::lose(connection& from, const std::string& why) noexcept {
  const std::size_t peer = from.peer();
  from.close();
  if (states_[peer] != wire::liveness::alive) return;
  states_[peer] = wire::liveness::died;
  losses_[peer] = why;
  std::fprintf(stderr, "muster: rank %zu lost rank %zu: %s\n", how_.rank, peer, why.c_str());
}

bool endpoint::has_unsent() const noexcept {
  return !said_.empty() || std::ranges::any_of(made_, [](const connection* each) {
    return each != nullptr && !each->is_closed() && (each->has_unsent() || each->owes());
  });
}

// A message that was sent has to be received by somebody: all ranks look until all have sent what
// they had to say.
void endpoint::leave(stream::connections& of, const stream::frame& farewell, bool broken) noexcept {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(5);
  const auto may_wait = [&] { return !broken || std::chrono::steady_clock::now() < deadline; };
  while (has_unsent() && may_wait()) {
    if (!progress_now(of)) rest();
  }
  for (connection* const each : made_) {
    if (each != nullptr && !each->is_closed()) each->owe_news(farewell, {});
  }
  // In the second round comes what somebody was asked in the first.
  for (int round = 0; round < 2; ++round) {
    while (has_unsent() && may_wait()) {
      if (!progress_now(of)) rest();
    }
    barrier_ = by_.begin_barrier();
    all_leave_ = barrier_ == messenger::over;
    while (!all_leave_ && may_wait()) {
      if (!progress_now(of)) rest();
    }
    // What was sent before: more than there are receives for, perhaps.
    constexpr int quiet_looks = 16;
    for (int quiet = 0; quiet < quiet_looks;) quiet = progress_now(of) ? 0 : quiet + 1;
  }
  packets_.close();
  controls_.close();
}

void endpoint::rest() noexcept { ::sched_yield(); }

std::size_t endpoint::most_bytes() const noexcept {
  const auto peers = static_cast<std::size_t>(std::ranges::count(remote_, true));
  return peers * (how_.window + connection::longest_packet(how_.window)) +
         packet_receives * connection::longest_packet(how_.window);
}

}  // namespace muster::mpi
