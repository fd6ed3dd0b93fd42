#include "transports/tcp/heartbeat.hpp"

#include <poll.h>
#include <sodium.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <utility>

#include <muster/base/error.hpp>
#include <muster/base/signals.hpp>

namespace muster::tcp {
namespace {

/// So many questions go unanswered before a rank is lost.
constexpr unsigned asked_before_lost = 8;

constexpr std::array<char, 8> magic = {'m', 'u', 's', 't', 'e', 'r', ' ', 'h'};

void ring(int bell) noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(bell, &one, sizeof one);
}

}  // namespace

struct heartbeat::message {
  std::array<char, 8> what_for = magic;
  kind what;
  std::uint32_t from;
  std::uint32_t to;
  std::uint32_t unused = 0;
  std::uint64_t number;  ///< an answer has its question's: an old one is of no use
  std::array<unsigned char, crypto_auth_BYTES> proof{};

  std::span<const unsigned char> signed_part() const noexcept {
    return {reinterpret_cast<const unsigned char*>(this), offsetof(message, proof)};
  }
};

heartbeat::heartbeat(const settings& how, std::vector<descriptor> rails,
                     const std::vector<paths>& peers)
    : how_(how),
      rails_(std::move(rails)),
      bell_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
      asked_((std::uint64_t{randombytes_random()} << 32) | randombytes_random()) {
  if (!bell_) throw error(errc::resource, "heartbeat: no eventfd");
  std::map<std::vector<std::uint8_t>, std::size_t> hosts;
  for (const paths& all : peers) {
    peers_.push_back(std::make_unique<peer>());
    if (!all.empty()) {
      const auto name = all.front().to.bytes();
      peers_.back()->host =
          hosts.try_emplace({name.begin(), name.end()}, hosts.size()).first->second;
    }
    paths& ways = peers_.back()->ways;
    for (const path& one : all) {  // of several connections on one rail, one
      if (std::ranges::find(ways, one.rail, &path::rail) == ways.end()) ways.push_back(one);
    }
  }
  suspect_until_.resize(hosts.size());
  const all_signals_blocked meanwhile;  // they are for the program's own threads
  thread_ = std::jthread([this] { run(); });
}

heartbeat::~heartbeat() {
  // relaxed: the bell orders it.
  over_.store(true, std::memory_order_relaxed);
  wake();
}

void heartbeat::wake() const noexcept { ring(bell_.get()); }

// ---- by the engine's thread

void heartbeat::await(std::size_t rank) noexcept {
  constexpr std::uint32_t ticks = 2;
  peer& one = *peers_[rank];
  // seq_cst: either this sees that the thread has stopped asking, or the thread sees this.
  if (one.awaited.exchange(ticks, std::memory_order_seq_cst) != 0) return;
  named_.push_back(rank);
  if (!one.is_asked.load(std::memory_order_seq_cst)) wake();
}

void heartbeat::greet(std::size_t rank) noexcept {
  // relaxed: the bell orders it.
  peers_[rank]->greetings.store(2, std::memory_order_relaxed);
  wake();
}

void heartbeat::note_sleep() noexcept {
  // relaxed: it orders nothing, and a tick more or less does not matter.
  for (const std::size_t rank : named_) peers_[rank]->awaited.store(0, std::memory_order_relaxed);
  named_.clear();
  sleeps_.store(true, std::memory_order_relaxed);
}

void heartbeat::note_awake() noexcept { sleeps_.store(false, std::memory_order_relaxed); }

bool heartbeat::is_lost(std::size_t rank) const noexcept {
  // relaxed: nothing else is read.
  return peers_[rank]->lost.load(std::memory_order_relaxed);
}

// ---- the thread

void heartbeat::run() noexcept {
  const auto interval = std::max(how_.timeout / asked_before_lost, std::chrono::milliseconds(1));
  std::vector<pollfd> all = {{.fd = bell_.get(), .events = POLLIN, .revents = 0}};
  for (const descriptor& each : rails_) {
    all.push_back({.fd = each.get(), .events = POLLIN, .revents = 0});
  }
  clock::time_point next{};
  bool asks = false;
  // relaxed: the bell orders it.
  while (!over_.load(std::memory_order_relaxed)) {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(next - clock::now());
    ::poll(all.data(), all.size(), asks ? static_cast<int>(std::max<long>(left.count(), 0)) : -1);
    std::uint64_t rung = 0;
    const bool is_woken = ::read(bell_.get(), &rung, sizeof rung) == sizeof rung;
    for (std::size_t rail = 0; rail < rails_.size(); ++rail) read_all(rail);
    if (is_woken && !asks) {
      last_tick_ = clock::now();
      next = last_tick_ + interval;
      asks = true;
    }
    if (is_woken) ask_new();
    if (!asks || clock::now() < next) continue;
    asks = tick();
    next = clock::now() + interval;
  }
}

bool heartbeat::is_asked_for(const peer& one) const noexcept {
  // seq_cst: pairs with `await`.
  return !one.ways.empty() && (one.awaited.load(std::memory_order_seq_cst) != 0 ||
                               one.greetings.load(std::memory_order_relaxed) != 0);
}

bool heartbeat::stays_asked_for(peer& one) noexcept {
  if (is_asked_for(one)) return true;
  // seq_cst: pairs with `await`.
  one.is_asked.store(false, std::memory_order_seq_cst);
  return is_asked_for(one);
}

bool heartbeat::is_suspect(const peer& one) const noexcept {
  return !one.ways.empty() && clock::now() < suspect_until_[one.host];
}

// For as long as it takes to see whether the rest of the host is silent, and who waits comes to
// them.
void heartbeat::suspect_hosts(clock::time_point now) noexcept {
  for (const auto& each : peers_) {
    const bool is_silent =
        each->heard != clock::time_point{} && now - each->heard > how_.timeout / 4;
    // relaxed: a tick more or less does not matter.
    if (!is_silent || each->awaited.load(std::memory_order_relaxed) == 0) continue;
    suspect_until_[each->host] = now + 2 * how_.timeout;
  }
}

// A thread that was stopped itself has not listened meanwhile.
bool heartbeat::was_away(clock::time_point now) const noexcept {
  return now - last_tick_ > how_.timeout / 2;
}

void heartbeat::ask_new() noexcept {
  const bool may_judge = !was_away(clock::now());
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
    peer& one = *peers_[rank];
    if (!is_asked_for(one)) continue;
    if (one.heard != clock::time_point{}) {  // a suspect, or greeted
      // relaxed: as below.
      if (may_judge && one.awaited.load(std::memory_order_relaxed) != 0) judge(one);
      continue;
    }
    one.heard = clock::now();
    one.is_asked.store(true, std::memory_order_relaxed);
    ask(rank);
  }
}

bool heartbeat::tick() noexcept {
  const auto now = clock::now();
  const bool has_missed = was_away(now);
  last_tick_ = now;
  ++asked_;
  const bool sleeps = sleeps_.load(std::memory_order_relaxed);
  if (!has_missed) suspect_hosts(now);
  bool any = false;
  for (std::size_t rank = 0; rank < peers_.size(); ++rank) {
    peer& one = *peers_[rank];
    const bool is_meant = stays_asked_for(one);
    if (!is_meant && !is_suspect(one)) {
      one.heard = {};
      continue;
    }
    if (is_meant) one.is_asked.store(true, std::memory_order_relaxed);
    any = true;
    if (one.heard == clock::time_point{} || has_missed) one.heard = now;
    std::uint32_t awaited = one.awaited.load(std::memory_order_relaxed);
    if (awaited != 0) judge(one);
    ask(rank);
    std::uint32_t greetings = one.greetings.load(std::memory_order_relaxed);
    if (greetings != 0) one.greetings.compare_exchange_strong(greetings, greetings - 1);
    // Where it was said again meanwhile, that counts.
    if (awaited != 0 && !sleeps) one.awaited.compare_exchange_strong(awaited, awaited - 1);
  }
  return any;
}

void heartbeat::judge(peer& one) noexcept {
  if (!one.has_answered || clock::now() - one.heard <= how_.timeout) return;
  if (one.lost.exchange(true, std::memory_order_relaxed)) return;
  ring(how_.bell);
}

void heartbeat::read_all(std::size_t rail) noexcept {
  while (true) {
    message got;
    const ssize_t bytes = ::recv(rails_[rail].get(), &got, sizeof got, MSG_DONTWAIT | MSG_TRUNC);
    if (bytes < 0) return;
    if (bytes != sizeof got || got.what_for != magic || got.to != how_.rank ||
        got.from >= peers_.size()) {
      continue;
    }
    const auto text = got.signed_part();
    if (crypto_auth_verify(got.proof.data(), text.data(), text.size(), how_.key.bytes.data()) !=
        0) {
      continue;
    }
    peer& from = *peers_[got.from];
    if (got.what == kind::question) {
      const auto way = std::ranges::find(from.ways, rail, &path::rail);
      if (way != from.ways.end()) send(kind::answer, got.from, *way, got.number);
    } else if (asked_ - got.number < asked_before_lost) {
      from.has_answered = true;
      from.heard = clock::now();
      // It was away while nobody has acted on that. relaxed: as for all of these.
      from.lost.store(false, std::memory_order_relaxed);
    }
  }
}

void heartbeat::ask(std::size_t rank) noexcept {
  for (const path& each : peers_[rank]->ways) send(kind::question, rank, each, asked_);
}

void heartbeat::send(kind what, std::size_t to, const path& by, std::uint64_t number) noexcept {
  message text{.what = what,
               .from = static_cast<std::uint32_t>(how_.rank),
               .to = static_cast<std::uint32_t>(to),
               .number = number};
  const auto part = text.signed_part();
  crypto_auth(text.proof.data(), part.data(), part.size(), how_.key.bytes.data());
  // One that is lost on its way is asked again.
  ::sendto(rails_[by.rail].get(), &text, sizeof text, MSG_DONTWAIT | MSG_NOSIGNAL, by.to.get(),
           by.to.length);
}

}  // namespace muster::tcp
