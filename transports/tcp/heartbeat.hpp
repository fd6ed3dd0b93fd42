#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <thread>
#include <vector>

#include <muster/base/descriptor.hpp>

#include "transports/tcp/admission.hpp"
#include "transports/tcp/rails.hpp"

namespace muster::tcp {

/// Tells a rank that waits whether those of other machines that it waits for still run. A thread of
/// each process, which sleeps otherwise, answers at once whatever the program does: a rank that
/// computes is there, one that is stopped or cut off is not. Only a rank that waits asks; where one
/// of a host is silent, all of that host are asked, as it may be gone: so who waits for one after
/// the other loses them together.
///
/// Questions and answers are datagrams, each proved by the job's key, between the ports at which
/// the ranks listen, on all rails: an answer on one is enough. A rank that has never answered is
/// not judged: a network may carry no datagrams.
class heartbeat {
public:
  struct settings {
    std::size_t rank = 0;
    job_key key;
    std::chrono::milliseconds timeout{0};  ///< so long a silence is an end
    int bell = -1;                         ///< rung when a rank is lost; see `doorbell`
  };
  /// \param rails datagram sockets, one at each of this rank's rails
  /// \param peers how each rank is reached; who is reached in no way is not asked
  /// \throws error `errc::resource`
  heartbeat(const settings& how, std::vector<descriptor> rails, const std::vector<paths>& peers);
  ~heartbeat();
  heartbeat(const heartbeat&) = delete;
  heartbeat& operator=(const heartbeat&) = delete;

  // ---- by the thread that drives the engine

  /// This rank waits for that one. Expires unless it is said again, or the engine sleeps.
  void await(std::size_t rank) noexcept;
  /// A connection to it was made: it is asked once or twice, so that it has answered.
  void greet(std::size_t rank) noexcept;
  /// The engine is about to sleep: what it waits for is said after this, and holds until it wakes.
  void note_sleep() noexcept;
  void note_awake() noexcept;
  /// Whether that rank has been silent for too long, though it was asked.
  bool is_lost(std::size_t rank) const noexcept;

private:
  using clock = std::chrono::steady_clock;
  enum class kind : std::uint32_t { question, answer };
  struct message;
  /// What is known of another rank. All but the atomics is the thread's own.
  struct peer {
    paths ways;                                ///< one for each rail
    std::atomic<std::uint32_t> awaited = 0;    ///< ticks until it is not any more
    std::atomic<std::uint32_t> greetings = 0;  ///< questions to ask whether it is awaited or not
    std::atomic<bool> is_asked = false;  ///< at every tick: it need not be told of who awaits it
    std::atomic<bool> lost = false;
    std::size_t host = 0;  ///< among those of all peers
    bool has_answered = false;
    clock::time_point heard{};  ///< or when it was first asked
  };

  void run() noexcept;
  /// Asks those that are awaited; false where nobody is.
  bool tick() noexcept;
  bool was_away(clock::time_point now) const noexcept;
  /// Asks those that were not asked yet, without waiting for the next tick, and judges suspects who
  /// are awaited now.
  void ask_new() noexcept;
  bool is_asked_for(const peer& one) const noexcept;
  /// The same; where it is not, whoever says that it is from now on wakes the thread.
  bool stays_asked_for(peer& one) noexcept;
  /// Another rank of its host is silent.
  bool is_suspect(const peer& one) const noexcept;
  void suspect_hosts(clock::time_point now) noexcept;
  void judge(peer& one) noexcept;
  void read_all(std::size_t rail) noexcept;
  void ask(std::size_t rank) noexcept;
  void send(kind what, std::size_t to, const path& by, std::uint64_t number) noexcept;
  void wake() const noexcept;

  settings how_;
  std::vector<descriptor> rails_;
  descriptor bell_;  // this thread's own
  std::vector<std::unique_ptr<peer>> peers_;
  std::vector<clock::time_point> suspect_until_;  // by host
  std::vector<std::size_t> named_;  // as awaited, by the engine's thread, since it last slept
  std::atomic<bool> sleeps_ = false;
  std::atomic<bool> over_ = false;
  std::uint64_t asked_;  // the number of the last questions
  clock::time_point last_tick_{};
  std::jthread thread_;
};

}  // namespace muster::tcp
