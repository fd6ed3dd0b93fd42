#pragma once

#include <coroutine>
#include <cstddef>
#include <string>
#include <utility>

#include <muster/progress/waiter.hpp>
#include <muster/run/team.hpp>

namespace muster {

/// What makes a wait vain, beside a stop or a deadline.
enum class vain_without : unsigned char {
  nothing,  ///< the condition itself says when
  team,     ///< the team is broken
  peer,     ///< the same, or the peer is gone
};

/// A peer that is gone has not said what makes `is_so()` true; what it said last is heard first.
template <class Condition>
bool is_lost(const team& of, std::size_t peer, const Condition& is_so) noexcept {
  if (of.members().state(peer) == wire::liveness::alive) return false;
  of.members().all_heard(peer);
  return !is_so();
}

/// Outside the team's operations: waits until `is_so()`, which depends on a peer.
template <class Condition>
class peer_condition final : public waiter {
public:
  peer_condition(team& of, std::size_t peer, Condition is_so,
                 vain_without what = vain_without::peer) noexcept
      : of_(of), peer_(peer), is_so_(std::move(is_so)), what_(what) {}

  bool ready() noexcept override { return is_so_(); }
  bool interrupted(clock_time now, bool thorough) noexcept override {
    if (interrupted_by_scope(now, [this] { return describe() + ": "; }, of_.rank())) return true;
    if (what_ != vain_without::nothing && of_.members().broken()) {
      if (const auto why = of_.failure()) {
        interrupt(std::make_exception_ptr(*why));
        return true;
      }
    }
    if (!thorough || what_ != vain_without::peer || !is_lost(of_, peer_, is_so_)) return false;
    interrupt(std::make_exception_ptr(loss()));
    return true;
  }
  void watch() noexcept override {
    if (peer_ != of_.rank()) of_.members().watch(peer_);
  }
  std::string describe() const override {
    return "a message waits for rank " + std::to_string(peer_);
  }

  bool await_ready() noexcept { return ready(); }
  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> self) noexcept {
    suspend(of_.engine(), self);
  }
  void await_resume() { rethrow_interruption(); }

private:
  error loss() const {
    const bool died = of_.members().state(peer_) == wire::liveness::died;
    const std::string how = died ? of_.members().how_lost(peer_) : std::string();
    return {died ? errc::rank_died : errc::rank_left,
            "rank " + std::to_string(peer_) + (died ? " died" : " left") +
                " while a message waits for it" + (how.empty() ? "" : ": " + how),
            peer_};
  }

  team& of_;
  std::size_t peer_;
  Condition is_so_;
  vain_without what_;
};

}  // namespace muster
