#pragma once

#include <chrono>
#include <concepts>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include <muster/base/error.hpp>
#include <muster/coro/stop.hpp>
#include <muster/coro/task.hpp>
#include <muster/progress/future.hpp>
#include <muster/progress/waiter.hpp>
#include <muster/progress/within.hpp>
#include <muster/run/mailbox.hpp>
#include <muster/run/team.hpp>

namespace muster {

struct sequencer_options {
  std::size_t leader = 0;  ///< the rank whose order is everybody's; the same on all ranks
  /// From when a call is made until it completes, at most; 0: no limit.
  clock_time deadline = std::chrono::seconds(10);
};

/// Puts calls that ranks make in different orders into one: that of one rank, the leader.
///
/// All ranks of a team have to begin its operations in one order, and in a server, whose handlers
/// begin as requests come, they do not. Here each call has a key, by which it is known on every
/// rank: of a request, for example. The leader's calls begin at once, and their keys go to the
/// others, as many together as there are; there a call begins when it is its key's turn.
///
///     muster::sequencer order(team);
///     co_await order.run(request.id, [&] { return muster::allreduce(team, mine, total, sum); });
///
/// **Keys.** Every rank calls every key, once for each time that others do; a key may come again.
/// Other calls on the team, beside its sequencer, are in no order with these. A coroutine that
/// awaits one key before it calls the next needs the leader to have them in that order, too.
///
/// **Errors.** A key that the leader does not call ends on the others after the deadline with
/// `errc::deadline_exceeded`, and the team stays whole. One that the leader calls and another rank
/// does not breaks the team after the deadline. Errors name the key.
///
/// **Cancellation.** A stop or deadline takes a call back as long as it waits for its turn, and
/// breaks nothing; the others have to be taken back, too: a key that the leader has called holds up
/// those behind it. `close` takes back all that wait. Once a call has its turn it is as without a
/// sequencer.
///
/// It belongs to the thread that drives the team's engine. All ranks make the sequencers of a team
/// in one order; nothing is sent for that. Keys go by messages of a rank's own, see `team::send`.
class sequencer {
public:
  /// \param on outlives this
  /// \throws error `errc::invalid_argument` where the team has no such leader
  explicit sequencer(muster::team& on, sequencer_options how = {});
  /// Keys that the leader has called go to the others all the same.
  ~sequencer();
  sequencer(const sequencer&) = delete;
  sequencer& operator=(const sequencer&) = delete;

  muster::team& team() const noexcept { return on_; }
  muster::engine& engine() const noexcept { return on_.engine(); }
  /// Ends the calls that wait for their turn, and all that are made later, with `errc::stopped`.
  void close() noexcept;
  /// Calls that wait for their turn.
  std::size_t waiting() const noexcept { return waiting_count_; }

  /// Calls `call()`, which returns the task of one collective on the team, when it is the turn of
  /// `key`, and runs that. The call is made when the task is awaited or started.
  template <std::invocable Call>
  std::invoke_result_t<Call> run(std::uint64_t key, Call call) {
    return run_in_turn(*this, key, std::move(call));
  }

private:
  class turn;

  template <class Call>
  static std::invoke_result_t<Call> run_in_turn(sequencer& in, std::uint64_t key, Call call) {
    const coroutine_place place = co_await this_coroutine{};
    stop_scope limited(place.scope);
    if (in.how_.deadline != clock_time(0)) limited.expire_at(in.engine().now() + in.how_.deadline);
    co_await detail::enter_scope{&limited};
    co_await in.turn_of(key, place.scope);
    in.pass_on();
    try {
      auto work = call();
      // It takes its place before anything else runs.
      co_return co_await std::move(work);
    } catch (const error& why) {
      throw with_key(key, why);
    }
  }
  static error with_key(std::uint64_t key, const error& why);

  /// \param around of whoever called
  task<> turn_of(std::uint64_t key, const stop_scope* around);
  void pass_on() noexcept { order_.pop_front(); }

  bool leads() const noexcept { return on_.rank() == how_.leader; }
  void call(std::uint64_t key);
  bool is_ordered(std::uint64_t key, std::size_t times = 1) const noexcept;
  void add(turn& one);
  void remove(turn& one) noexcept;
  std::exception_ptr miss(std::uint64_t key) noexcept;

  mailbox::label label() const noexcept;
  /// Of the leader: keys that the others have not heard of.
  struct telling {
    std::deque<std::uint64_t> keys;
    bool is_under_way = false;
    std::exception_ptr failure;
  };
  void pump();
  static task<> tell_keys(muster::team& on, mailbox::label label, std::shared_ptr<telling> what);
  task<> hear_keys();
  bool awaits_more() const;

  muster::team& on_;
  sequencer_options how_;
  std::uint64_t number_;             // among those of the team
  std::deque<std::uint64_t> order_;  // keys that are to begin here, as the leader has them
  std::map<std::uint64_t, std::deque<turn*>> waiting_;
  std::size_t waiting_count_ = 0;
  std::exception_ptr failure_;  // why no more keys go
  std::shared_ptr<telling> untold_;
  bool hears_ = false;
  future<> pumping_;  // last: it uses all
};

}  // namespace muster
