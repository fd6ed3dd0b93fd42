#include <muster/run/agreement.hpp>

#include <algorithm>
#include <coroutine>
#include <string>

#include <muster/progress/waiter.hpp>
#include <muster/wire/link.hpp>

namespace muster {
namespace {

using purpose = wire::links::purpose;

wire::open_link link_to(const team& of, std::size_t peer, purpose what) {
  return {of.links(), of.memory().board().extent().agreement_lane(), peer, what};
}

/// Waits until a link gets on, or the peer at its other end is gone.
class peer_wait final : public waiter {
public:
  enum class until { has_room, holds };
  peer_wait(team& of, const wire::link& on, until what, std::size_t bytes,
            std::size_t peer) noexcept
      : of_(of), link_(on), what_(what), bytes_(bytes), peer_(peer) {}

  bool ready() noexcept override {
    if (gets_on()) return true;
    if (of_.members().state(peer_) == wire::liveness::alive) return false;
    // What it said last may lie behind what nobody has taken yet.
    of_.members().all_heard(peer_);
    is_gone_ = !gets_on();
    return true;
  }
  bool interrupted(clock_time now, bool) noexcept override {
    return interrupted_by_scope(now, [this] { return describe() + ": "; }, of_.rank());
  }
  void watch() noexcept override { of_.members().watch(peer_); }
  std::string describe() const override {
    return "the agreement on who is left waits for rank " + std::to_string(peer_);
  }

  bool await_ready() noexcept { return ready(); }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> self) noexcept {
    suspend(of_.engine(), self);
  }
  /// Whether the link got on.
  bool await_resume() {
    rethrow_interruption();
    return !is_gone_;
  }

private:
  bool gets_on() const noexcept {
    return what_ == until::has_room ? link_.has_room(bytes_) : link_.holds(bytes_);
  }

  team& of_;
  const wire::link& link_;
  until what_;
  std::size_t bytes_;
  std::size_t peer_;
  bool is_gone_ = false;
};

}  // namespace

task<> agreement::exchange(std::span<const std::byte> mine, std::span<std::byte> all) {
  std::ranges::copy(mine, all.subspan(of_.rank() * mine.size()).begin());
  for (std::size_t distance = 1; distance < of_.size(); ++distance) {
    const std::size_t to = (of_.rank() + distance) % of_.size();
    if (!gone_[to]) co_await send(to, mine);
  }
  for (std::size_t distance = 1; distance < of_.size(); ++distance) {
    const std::size_t from = (of_.rank() + of_.size() - distance) % of_.size();
    if (!gone_[from]) co_await receive(from, all.subspan(from * mine.size(), mine.size()));
  }
}

task<> agreement::send(std::size_t to, std::span<const std::byte> bytes) {
  const wire::open_link out = link_to(of_, to, purpose::send);
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), of_.machine().message_piece));
    const bool has_room =
        co_await peer_wait(of_, *out, peer_wait::until::has_room, piece.size(), to);
    if (!has_room) {
      gone_[to] = true;
      co_return;
    }
    out->send({}, piece);
    co_await wire::work_wait(of_.time());
    bytes = bytes.subspan(piece.size());
  }
}

task<> agreement::receive(std::size_t from, std::span<std::byte> bytes) {
  const wire::open_link in = link_to(of_, from, purpose::receive);
  while (!bytes.empty()) {
    const auto piece = bytes.first(std::min(bytes.size(), of_.machine().message_piece));
    const bool has_come = co_await peer_wait(of_, *in, peer_wait::until::holds, piece.size(), from);
    if (!has_come) {
      gone_[from] = true;
      co_return;
    }
    in->take(piece);
    co_await wire::work_wait(of_.time());
    bytes = bytes.subspan(piece.size());
  }
}

}  // namespace muster
