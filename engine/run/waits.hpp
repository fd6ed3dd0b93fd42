#pragma once

#include <algorithm>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>

#include <muster/coro/frame_pool.hpp>
#include <muster/progress/waiter.hpp>
#include <muster/progress/waiting.hpp>
#include <muster/team/local_peer_set.hpp>
#include <muster/wire/board.hpp>

/// What the coroutine of a collective waits for.
namespace muster {

class operation_state;

/// Looks on for a moment. The first looks are close together: a peer on its own core is a
/// cache-line trip away.
template <class Look>
bool look_on(unsigned looks, Look is_there) {
  constexpr unsigned close_looks = 16;
  for (unsigned i = 0; i < looks; ++i) {
    if (i >= close_looks) spin_pause();
    if (is_there()) return true;
  }
  return false;
}

/// A wait of a collective: ends with the job's failure, or when a rank it needs is gone, too.
class collective_wait : public waiter {
public:
  bool interrupted(clock_time now, bool thorough) noexcept override;
  void watch() noexcept override;
  bool still_watches() const noexcept override;
  /// Ranks that share this one's core run only when this one yields.
  bool awaits_other_cores_only() const noexcept override;
  std::string describe() const override;

  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> self) noexcept {
    suspend(engine_of(me_), self);
  }

protected:
  explicit collective_wait(operation_state& me) noexcept : me_(me) {}
  ~collective_wait() = default;
  /// The ranks on which what has not happened yet may depend.
  virtual std::span<const std::size_t> candidates() const noexcept = 0;
  /// Whether it does depend on one of them, by its place there.
  virtual bool awaits(std::size_t candidate) const noexcept = 0;
  /// Whether all that are awaited are needed, so that the first of them stands for the others.
  virtual bool needs_all() const noexcept { return false; }
  /// Why it is in vain to wait for `rank`, if it seems to be.
  virtual std::exception_ptr in_vain(std::size_t rank) const noexcept;

  /// Puts on record which ranks are awaited.
  void note_whom() const noexcept;
  /// Whether a candidate other than this rank is awaited.
  bool awaits_other(std::size_t candidate) const noexcept;
  /// The first of these, or how many candidates there are.
  std::size_t first_awaited() const noexcept;
  static muster::engine& engine_of(operation_state& me) noexcept;
  /// Whether the first candidate awaited, other than this rank, is not on its node.
  bool awaits_another_node() const noexcept;
  /// Looks on for a moment before the coroutine suspends, where that is likely to pay.
  bool poll_again() noexcept;

  operation_state& me_;

private:
  /// Hears all that candidates have said who are not there any more.
  void hear_the_gone() const noexcept;

  std::size_t watched_candidate_ = 0;  // where all are needed
};

/// Counts a rank in among those of its node: see `context::count_in`. That waits for nobody, but
/// for the line where time is virtual.
class count_in_wait {
public:
  explicit count_in_wait(operation_state& me) noexcept : me_(me) {}
  bool await_ready() const noexcept;
  void await_suspend(std::coroutine_handle<> self) const noexcept;
  bool await_resume() const;

private:
  wire::counter& count() const noexcept;

  operation_state& me_;
};

/// Waits until a local peer has arrived at this operation, and checks that it is the same one.
class read_wait final : public collective_wait {
public:
  read_wait(operation_state& me, std::size_t local_peer, std::size_t bytes) noexcept
      : collective_wait(me), local_peer_(local_peer), bytes_(bytes) {}

  bool ready() noexcept override;
  bool await_ready() noexcept { return ready() ? found_there() : poll_again(); }
  std::span<const std::byte> await_resume();
  const void* watched() const noexcept override;

private:
  bool found_there() const noexcept;
  std::span<const std::size_t> candidates() const noexcept override;
  bool awaits(std::size_t) const noexcept override { return true; }

  std::size_t local_peer_;
  std::size_t bytes_;
};

class pipeline;

/// A wait for several local peers: for their arrival at the operation, or for a segment of a
/// pipeline.
class local_peers_wait : public collective_wait {
protected:
  local_peers_wait(operation_state& me, pipeline* on, std::size_t segment) noexcept
      : collective_wait(me), pipeline_(on), segment_(segment) {}
  ~local_peers_wait() = default;
  /// Also true for a local peer that turns out to be in another operation: that is to be thrown.
  bool is_here(std::size_t local_peer) const noexcept;
  /// What has to change before a local peer is here that is not; of one that is, what changed last.
  const void* watched_of(std::size_t local_peer) const noexcept;

  pipeline* pipeline_;
  std::size_t segment_;
};

/// Some local peers: all of the node, or those in a list, which outlives whoever looks at them.
class local_peer_list {
public:
  explicit local_peer_list(std::size_t all) noexcept : size_(all) {}
  explicit local_peer_list(std::span<const std::size_t> chosen) noexcept
      : chosen_(chosen.data()), size_(chosen.size()) {}

  std::size_t size() const noexcept { return size_; }
  std::size_t operator[](std::size_t i) const noexcept {
    return chosen_ == nullptr ? i : chosen_[i];
  }
  /// Where in the list a local peer is; `size()` if nowhere.
  std::size_t find(std::size_t local_peer) const noexcept {
    if (chosen_ == nullptr) return local_peer;
    return static_cast<std::size_t>(std::find(chosen_, chosen_ + size_, local_peer) - chosen_);
  }

private:
  const std::size_t* chosen_ = nullptr;
  std::size_t size_;
};

/// Waits until all local peers, or all of some, are there, and checks that they are in the same
/// operation. This rank may be among them: it is not waited for.
class everybody final : public local_peers_wait {
public:
  everybody(operation_state& me, const local_peer_list& among, pipeline* on = nullptr,
            std::size_t segment = 0) noexcept
      : local_peers_wait(me, on, segment), among_(among) {}
  bool ready() noexcept override;
  bool await_ready() noexcept { return ready() ? found_there() : poll_again(); }
  void await_resume();
  const void* watched() const noexcept override;

private:
  bool found_there() const noexcept;
  std::span<const std::size_t> candidates() const noexcept override;
  bool awaits(std::size_t candidate) const noexcept override;
  bool needs_all() const noexcept override { return true; }

  local_peer_list among_;
  std::size_t next_ = 0;  // all before it are here
};

/// Local peers in the order in which their data arrives:
/// `while (auto from = co_await here.next()) …`
///
/// Each is given once; the sequence ends when all were. Of those that are there it gives first the
/// one after this rank, so that ranks that find everything there do not all read from the same.
class local_peer_arrivals final : public local_peers_wait {
public:
  /// Arrivals at the operation itself, of all local peers but this rank, or of some.
  explicit local_peer_arrivals(operation_state& me) noexcept;
  local_peer_arrivals(operation_state& me, std::span<const std::size_t> local_peers) noexcept;
  /// Arrivals of segment `segment` of a pipeline; lenders, whose segments all come at once, only
  /// for segment 0.
  local_peer_arrivals(operation_state& me, pipeline& on, std::size_t segment) noexcept;

  /// An awaiter of its own: g++ 12 copies one that is an lvalue.
  struct next_arrival {
    local_peer_arrivals& among;
    bool await_ready() const noexcept {
      return among.found_count_ != 0 || among.pending_count_ == 0 || among.ready() ||
             among.poll_again();
    }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> self) const noexcept {
      among.await_suspend(self);
    }
    std::optional<std::size_t> await_resume() const { return among.take_arrival(); }
  };
  next_arrival next() noexcept { return {*this}; }

  /// How many have been seen to be there and not been given: the next so many need no waiting.
  std::size_t seen() const noexcept { return found_count_; }

  bool ready() noexcept override;

private:
  std::span<const std::size_t> candidates() const noexcept override;
  bool awaits(std::size_t candidate) const noexcept override;
  std::optional<std::size_t> take_arrival();

  // Local peers not seen yet, and those seen but not given; all of them are looked at in one go,
  // so that their lines travel at the same time.
  local_peer_set pending_;
  local_peer_set found_;
  std::size_t pending_count_;
  std::size_t found_count_ = 0;
  std::size_t cursor_;
  bool looked_ = false;
};

/// Waits for the last users of an operation's lane and stage. Of a team's operations of one kind,
/// thousands of which may be under way, each waits behind the one before it in the team's order.
class turn_wait final : public collective_wait {
public:
  explicit turn_wait(operation_state& me) noexcept : collective_wait(me) {}
  ~turn_wait();
  bool ready() noexcept override;
  /// Looks on where that is likely to pay.
  bool await_ready() noexcept;
  void await_suspend(const coroutine_place& place, std::coroutine_handle<> self) noexcept;
  void await_resume() { rethrow_interruption(); }

private:
  std::span<const std::size_t> candidates() const noexcept override;
  bool awaits(std::size_t candidate) const noexcept override;
  bool needs_all() const noexcept override { return true; }
  /// Looks on, but far apart.
  bool poll_later() noexcept;
  /// The last one of this kind.
  turn_wait*& last() const noexcept;

  turn_wait* ahead_ = nullptr;
  turn_wait* behind_ = nullptr;
};

}  // namespace muster
