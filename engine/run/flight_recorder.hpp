#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include <muster/base/error.hpp>
#include <muster/progress/ticks.hpp>
#include <muster/run/flight_record.hpp>
#include <muster/wire/call_record.hpp>

namespace muster {

/// Keeps a rank's flight record. Always on, and so it does next to nothing: a call is a few stores
/// when it begins, and nothing when it ends, unless it has to wait.
///
/// Belongs to the thread that drives the rank's engine.
class flight_recorder {
public:
  /// Who keeps a record.
  struct rank_identity {
    std::int32_t process;
    std::size_t rank;
    std::size_t ranks;
    std::int64_t clock_ns;  ///< the time of day
    std::string_view host;
  };
  /// \param in zeroed, or another's that is no more; outlives the recorder
  flight_recorder(flight_record& in, const rank_identity& of) noexcept;
  /// The rank has left.
  virtual ~flight_recorder();
  flight_recorder(const flight_recorder&) = delete;
  flight_recorder& operator=(const flight_recorder&) = delete;

  struct team_identity {
    std::uint64_t id;
    std::uint64_t parent;
    std::uint64_t turn;
    std::size_t ranks;
    std::size_t rank;
  };
  /// The rank has this team, too. The job's own stays on record; of others the last ones.
  void add(const team_identity& one) noexcept;

  /// A call begins. Its time is not taken: that would take as long as all the rest.
  flight_entry& begin(const wire::recorded_call& call, std::uint64_t team) noexcept {
    static_assert(flight_record::most_calls == 256, "next wraps around by itself");
    // relaxed: this thread alone changes it.
    const std::uint8_t place = record_.next.load(std::memory_order_relaxed);
    record_.next.store(static_cast<std::uint8_t>(place + 1), std::memory_order_relaxed);
    flight_entry& at = record_.calls[place];
    // As `wire::write`: each release keeps the stores before it before it.
    at.word.store(0, std::memory_order_relaxed);
    at.kind.store(call.kind, std::memory_order_release);
    at.count.store(call.count, std::memory_order_release);
    at.root.store(call.root, std::memory_order_release);
    at.team.store(team, std::memory_order_release);
    at.begun.store(0, std::memory_order_release);
    at.word.store(call.word, std::memory_order_release);
    return at;
  }
  /// Not all that it needs is there, but will be in a moment.
  static void look_on(flight_entry& call) noexcept {
    const std::uint64_t time = count_ticks();
    call.now.store(flight_state::ended | time, std::memory_order_relaxed);
    // release: whoever sees when it began sees nothing that an earlier call has left there.
    call.begun.store(time, std::memory_order_release);
  }
  /// It goes on waiting. For a call that has not been overtaken by as many as there is room for.
  static void last(flight_entry& call) noexcept {
    if (call.begun.load(std::memory_order_relaxed) == 0) look_on(call);
    // relaxed: it is one word, and of nothing else.
    call.now.store(0, std::memory_order_relaxed);
  }
  /// It ends at once after all.
  static void last_no_more(flight_entry& call) noexcept {
    const std::uint64_t begun = call.begun.load(std::memory_order_relaxed);
    // relaxed: as above.
    call.now.store(flight_state::ended | begun, std::memory_order_relaxed);
  }
  /// It waits for `count` ranks of its team, the first of which is `rank`.
  static void wait(flight_entry& call, std::size_t rank, std::size_t count) noexcept {
    // relaxed: it is one word, and of nothing else.
    call.now.store(flight_state::waits(rank, count), std::memory_order_relaxed);
  }
  /// The engine looks why its calls go on waiting.
  void look() noexcept {
    // relaxed: it is one word, and of nothing else.
    record_.looked.store(count_ticks(), std::memory_order_relaxed);
    note_look();
  }
  /// Of a call that lasted, or fails.
  static void end(flight_entry& call, bool failed) noexcept {
    if (call.begun.load(std::memory_order_relaxed) == 0) look_on(call);
    const std::uint64_t how =
        failed ? flight_state::ended | flight_state::failed : flight_state::ended;
    // relaxed: it is one word, and of nothing else.
    call.now.store(how | count_ticks(), std::memory_order_relaxed);
  }

  /// A team of the rank is about to be broken by this rank.
  virtual void note_breakage(const error& why) noexcept { static_cast<void>(why); }

protected:
  /// The engine looks.
  virtual void note_look() noexcept {}

private:
  flight_record& record_;
  std::size_t teams_ = 0;  // ever
};

}  // namespace muster
