// The measuring loop: one source, compiled against Muster and against each MPI.
//
// A rank calls its library back to back on rotating buffers whose contents change from call to
// call, and reports the mean. Results are checked afterwards, outside the timed part. Where ranks
// are to come late, or to meet before each call, each is timed by itself instead: measure_each.
//
// The loops are coroutines because Muster's collectives are awaited; a blocking library's adapter
// hands back `finished` objects and uses `direct` for its tasks, so that its loop compiles to plain
// calls.
#pragma once

#include <algorithm>
#include <array>
#include <chrono>
#include <concepts>
#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>

#include "tools/command/bench/buffers.hpp"
#include "tools/command/bench/latecomer.hpp"
#include "tools/command/bench/measured.hpp"
#include "tools/command/bench/pattern.hpp"
#include "tools/command/bench/posted.hpp"
#include "tools/command/bench/wire.hpp"

namespace muster::bench {

/// What one rank found.
struct outcome {
  double mean_us = 0;
  double period_us = 0;  ///< from one call to the next
  bool verified = true;
  posted sent;  ///< by its timed calls
};

/// Which collective to call, as a type.
template <collective What>
using call_tag = std::integral_constant<collective, What>;

/// What the loop needs of a library. `call` takes a tag, one for each collective, and a slot, and
/// returns something to co_await. `choose` makes ready for an order and gives the algorithm's name,
/// or throws if it can't be carried out. `task<T>` is the coroutine type its loop is written in,
/// and `run` drives one to its end.
template <class L>
concept measurable = requires(L& library, const slot& buffers, const order& job,
                              typename L::template task<outcome> loop) {
  { library.rank() } -> std::convertible_to<std::size_t>;
  { library.size() } -> std::convertible_to<std::size_t>;
  { library.version() } -> std::convertible_to<std::string>;
  { library.choose(job) } -> std::convertible_to<std::string>;
  { library.run(std::move(loop)) } -> std::same_as<outcome>;
  library.call(call_tag<collective::barrier>(), buffers);
};

/// One call of the collective on one slot's buffers: what the library gives to co_await.
template <collective What, class L>
[[gnu::always_inline]] inline decltype(auto) begin_call(L& library, const slot& buffers) {
  return library.call(call_tag<What>(), buffers);
}

template <class L>
[[gnu::always_inline]] inline decltype(auto) begin_barrier(L& library) {
  return library.call(call_tag<collective::barrier>(), slot());
}

/// What is said where all of a call is hidden behind the computing.
inline constexpr double least_us = 0.001;

template <collective What, class L>
auto measure(L& library, buffer_ring& ring, order job) -> typename L::template task<outcome> {
  using clock = std::chrono::steady_clock;

  for (std::size_t i = 0; i < job.warmups; ++i) {
    co_await begin_call<What>(library, ring.next());
  }

  co_await begin_barrier(library);
  const posted before = posted_so_far();
  const auto start = clock::now();
  for (std::size_t i = 0; i < job.calls; ++i) {
    co_await begin_call<What>(library, ring.next());
  }
  const std::chrono::duration<double, std::micro> spent = clock::now() - start;

  outcome found;
  found.sent = posted_since(before);
  found.period_us = job.calls == 0 ? 0 : spent.count() / static_cast<double>(job.calls);
  found.mean_us = std::max(found.period_us - job.compute_us, least_us);
  co_return found;
}

/// Before each call the ranks meet in a barrier and are then as late as the order says, where there
/// is a `self`; a rank's time is from its own arrival until its own call is done, as in Qian 2010
/// (6.3.2), and as OSU's and Intel's benchmarks measure.
template <collective What, class L>
auto measure_each(L& library, buffer_ring& ring, order job, const latecomer* self) ->
    typename L::template task<outcome> {
  using clock = std::chrono::steady_clock;
  using microseconds = std::chrono::duration<double, std::micro>;

  outcome found;
  microseconds spent{0};
  auto start = clock::now();
  for (std::size_t i = 0; i < job.warmups + job.calls; ++i) {
    if (i == job.warmups) start = clock::now();
    const auto delay = self == nullptr ? std::chrono::nanoseconds(0) : self->delay(i);
    const slot buffers = ring.next();
    co_await begin_barrier(library);
    if (self != nullptr) self->spend(delay);
    const posted before = posted_so_far();
    const auto arrival = clock::now();
    co_await begin_call<What>(library, buffers);
    if (i < job.warmups) continue;
    spent += clock::now() - arrival;
    found.sent += posted_since(before);
  }
  const microseconds all = clock::now() - start;

  found.sent.queue_pairs = posted_so_far().queue_pairs;
  if (job.calls > 0) {
    const auto calls = static_cast<double>(job.calls);
    found.mean_us = std::max(spent.count() / calls - job.compute_us, least_us);
    found.period_us = all.count() / calls;
  }
  co_return found;
}

/// Looks at every element of the order's checked calls. Ranks come late to them, too, where there
/// is a `self`.
template <collective What, class L>
auto check(L& library, buffer_ring& ring, order job, const latecomer* self) ->
    typename L::template task<outcome> {
  outcome found;
  const datatype type = job.how.element_of(What);
  const std::size_t count = job.bytes / size_of(type);
  for (std::size_t i = 0; i < job.checks; ++i) {
    const checked_call call{What, library.rank(), library.size(), count, i, type};
    const slot buffers = ring.slots()[i * 7 % ring.slots().size()];
    prepare(call, buffers.send, buffers.recv);
    if (self != nullptr) {
      co_await begin_barrier(library);
      self->spend(self->delay(i));
    }
    co_await begin_call<What>(library, buffers);
    found.verified = is_right(call, buffers.send, buffers.recv) && found.verified;
  }
  co_return found;
}

template <collective What, class L>
outcome measure_and_check(L& library, buffer_ring& ring, const order& job) {
  std::optional<latecomer> self;
  if (job.late.wanted()) self.emplace(job.late, library.rank(), library.size());
  const latecomer* const late = self ? &*self : nullptr;
  outcome found = self || job.how.between_barriers
                      ? library.run(measure_each<What>(library, ring, job, late))
                      : library.run(measure<What>(library, ring, job));
  if (job.checks == 0) return found;
  found.verified = library.run(check<What>(library, ring, job, late)).verified;
  return found;
}

/// The loops of one library, by collective.
template <measurable L, std::size_t... Each>
constexpr auto loops_of(std::index_sequence<Each...>) {
  using loop = outcome (*)(L&, buffer_ring&, const order&);
  return std::array<loop, sizeof...(Each)>{measure_and_check<static_cast<collective>(Each), L>...};
}

/// Runs the loop that the order asks for. Throws std::invalid_argument when its lateness is wrong.
template <measurable L>
outcome obey(L& library, buffer_ring& ring, const order& job) {
  static constexpr auto loops = loops_of<L>(std::make_index_sequence<collectives_of_all>());
  ring.arrange(shape_of(job.what, job.bytes / word_bytes, library.rank(), library.size()),
               library.size(), job.how);
  return loops.at(static_cast<std::size_t>(job.what))(library, ring, job);
}

}  // namespace muster::bench
