#pragma once

#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <string_view>

#include <muster/coro/frame_pool.hpp>
#include <muster/coro/task.hpp>
#include <muster/run/arrival_log.hpp>
#include <muster/run/context.hpp>
#include <muster/run/waits.hpp>

namespace muster {

/// One rank's part of a collective from its place in the team's order to its end, which is good, or
/// breaks the team (unless it is broken already). It lives as long as its coroutine, or as the plan
/// that keeps it.
class operation : public bracket, public context {
public:
  operation(muster::team& on, const arguments& call)
      : bracket(on.engine()), context(on, call, on.prepare_call(call)), at_once_(quick_form()) {}
  virtual ~operation() { end_if_running(); }

  /// The task that stands for it.
  task<> run() noexcept {
    ended_at_once_ = false;
    out_ = true;
    return task<>(*this);
  }

  /// Begins it here, without a task. Where it has ended, and well, it may run again, and what is
  /// returned is empty. Else it is the task for the rest, which is done where it has failed.
  task<> run_here() noexcept {
    out_ = true;
    const std::coroutine_handle<> rest = attempt();
    if (rest || failure_ != nullptr) [[unlikely]] {
      return rest ? task<>::of_begun(rest) : task<>(*this);
    }
    out_ = false;
    return {};
  }

  /// Who keeps it, when its task goes, to run it again.
  enum class keeper : std::uint8_t { nobody, plan, team };
  void keep(keeper who) noexcept { keeper_ = who; }
  keeper kept_by() const noexcept { return keeper_; }
  /// Its team does not.
  void leave_team() noexcept;
  /// By whoever keeps one, in its end: deletes it; where it runs it goes with its task.
  static void drop(operation* kept) noexcept;
  struct dropping {
    void operator()(operation* kept) const noexcept { drop(kept); }
  };
  /// Whether a task of it is there.
  bool is_out() const noexcept { return out_; }

  /// Before it begins: to other buffers, null where these are.
  void move_to(const std::byte* send, std::byte* receive) noexcept {
    send_from(send);
    receive_into(receive);
  }
  void send_from(const std::byte* buffer) noexcept { call_.send = buffer; }
  void receive_into(std::byte* buffer) noexcept { call_.receive = buffer; }
  /// Runs what `text` chooses, whatever the team would; see `team::choose`. Before it begins.
  void choose(std::string_view text);

  /// What it runs.
  const algorithm& chosen() const noexcept { return *prepared_.chosen; }

  /// Takes its place in the team's order before it begins, or ends without beginning.
  void reserve() noexcept;
  /// \param why not null
  void give_up(const std::exception_ptr& why) noexcept { end(why); }

  static void* operator new(std::size_t bytes) { return frame_pool::allocate(bytes); }
  static void operator delete(void* memory) noexcept { frame_pool::release(memory); }

private:
  // ---- bracket
  std::coroutine_handle<> attempt() noexcept final;
  bool begin(const coroutine_place& place, std::coroutine_handle<> self) noexcept override;
  void enter() override;
  void end(const std::exception_ptr& failure) noexcept override;
  void release() noexcept override;

  using quick_function = bool (*)(context&, const arguments&);

  // Inlined: the short path goes through all of them, once each.
  /// Begins; whether it has also ended.
  [[gnu::always_inline]] bool ends_at_once();
  [[gnu::always_inline]] bool runs_at_once();
  /// \returns whether its lane is free
  [[gnu::always_inline]] bool take_place() noexcept;
  [[gnu::always_inline]] wire::recorded_call recorded() const noexcept;
  /// Of one whose lane is free, where it is not there yet: what this rank called in that lane
  /// before, others may have had to ask for.
  void write_record() noexcept;
  [[gnu::always_inline]] void complete() noexcept;

  /// What does it without a coroutine, if all are there; null where nothing does.
  quick_function quick_form() const noexcept;
  /// After a first attempt in vain: further ones, as many as are likely to pay.
  [[gnu::noinline]] bool looks_on();
  /// The algorithm's coroutine, with this operation around it.
  std::coroutine_handle<> coroutine();
  /// What else there is to do in the beginning of one that is long, or logged, or where time is
  /// virtual.
  [[gnu::noinline]] void begin_other_than_short() noexcept;
  [[gnu::cold]] void log_end(bool failed) const noexcept;
  /// Of an operation that ends well, where verbs are checked or time is virtual: what else is to be
  /// done. Where it did not arrive once it is abandoned, and this is false.
  [[gnu::cold]] bool check_end() noexcept;
  void abandon(const error& why) noexcept;
  [[gnu::cold]] void abandon(const std::exception_ptr& failure) noexcept;
  [[gnu::cold]] void abandon_destroyed() noexcept;
  [[gnu::cold]] void refuse();
  /// One that is still under way ends here.
  void end_if_running() noexcept {
    if (turn_ || running_ || failure_ != nullptr) [[unlikely]] {
      clean_up();
    }
  }
  [[gnu::cold]] void clean_up() noexcept;

  bool running_ = false;
  keeper keeper_ = keeper::nobody;
  bool out_ = false;
  quick_function at_once_;
  arrival_log::begun logged_;      // where the team has a log
  std::optional<turn_wait> turn_;  // while it waits for its turn
};

/// The operation that a collective's task runs, and that no plan keeps; its team no longer does.
/// \param who asks, for the message
/// \throws error `errc::invalid_argument` of any other task
operation& operation_of(const task<>& collective, std::string_view who);

}  // namespace muster
