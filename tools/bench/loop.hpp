// The measuring loop: one source, compiled against Muster and against each MPI.
//
// A rank calls its library back to back on rotating buffers whose contents change from call to
// call, and reports the mean. Results are checked afterwards, outside the timed part. Where ranks
// are to come late, each call is timed by itself instead: measure_late.
//
// The loops are coroutines because Muster's collectives are awaited; a blocking library's adapter
// hands back `finished` objects and uses `direct` for its tasks, so that its loop compiles to plain
// calls.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "tools/bench/buffers.hpp"
#include "tools/bench/latecomer.hpp"
#include "tools/bench/operation.hpp"
#include "tools/bench/pattern.hpp"
#include "tools/bench/wire.hpp"

namespace muster::bench {

/// What one rank found.
struct outcome {
  double mean_us = 0;
  double period_us = 0;  ///< from one call to the next
  bool verified = true;
};

/// What the loop needs of a library. Each collective returns something to co_await.
/// `task<T>` is the coroutine type its loop is written in, and `run` drives one to its end.
template <class L>
concept measurable =
    requires(L& library, std::span<double> data, std::span<const double> send, operation what,
             std::size_t bytes, typename L::template task<outcome> loop) {
      { library.rank() } -> std::convertible_to<std::size_t>;
      { library.size() } -> std::convertible_to<std::size_t>;
      { library.version() } -> std::convertible_to<std::string>;
      { library.algorithm(what, bytes) } -> std::convertible_to<std::string>;
      { library.run(std::move(loop)) } -> std::same_as<outcome>;
      library.barrier();
      library.bcast(data);
      library.reduce(send, data);
      library.allreduce(send, data);
      library.allgather(send, data);
      library.alltoall(send, data);
    };

/// One call of the collective on one slot's buffers: what the library gives to co_await.
template <operation What, class L>
[[gnu::always_inline]] inline decltype(auto) begin_call(L& library, const slot& buffers) {
  if constexpr (What == operation::barrier) {
    return library.barrier();
  } else if constexpr (What == operation::bcast) {
    return library.bcast(buffers.send);
  } else if constexpr (What == operation::reduce) {
    return library.reduce(buffers.send, buffers.recv);
  } else if constexpr (What == operation::allreduce) {
    return library.allreduce(buffers.send, buffers.recv);
  } else if constexpr (What == operation::allgather) {
    return library.allgather(buffers.send, buffers.recv);
  } else {
    return library.alltoall(buffers.send, buffers.recv);
  }
}

template <operation What, class L>
auto measure(L& library, buffer_ring& ring, order job) -> typename L::template task<outcome> {
  using clock = std::chrono::steady_clock;

  for (std::size_t i = 0; i < job.warmups; ++i) {
    co_await begin_call<What>(library, ring.next());
  }

  co_await library.barrier();
  const auto start = clock::now();
  for (std::size_t i = 0; i < job.calls; ++i) {
    co_await begin_call<What>(library, ring.next());
  }
  const std::chrono::duration<double, std::micro> spent = clock::now() - start;

  outcome found;
  found.mean_us = job.calls == 0 ? 0 : spent.count() / static_cast<double>(job.calls);
  found.period_us = found.mean_us;
  co_return found;
}

/// Before each call the ranks meet in a barrier and are then as late as the order says; a rank's
/// time is from its own arrival until its own call is done, as in Qian 2010 (6.3.2).
template <operation What, class L>
auto measure_late(L& library, buffer_ring& ring, order job, const latecomer& self) ->
    typename L::template task<outcome> {
  using clock = std::chrono::steady_clock;
  using microseconds = std::chrono::duration<double, std::micro>;

  microseconds spent{0};
  auto start = clock::now();
  for (std::size_t i = 0; i < job.warmups + job.calls; ++i) {
    if (i == job.warmups) start = clock::now();
    const auto delay = self.delay(i);
    const slot buffers = ring.next();
    co_await library.barrier();
    self.spend(delay);
    const auto arrival = clock::now();
    co_await begin_call<What>(library, buffers);
    if (i >= job.warmups) spent += clock::now() - arrival;
  }
  const microseconds all = clock::now() - start;

  outcome found;
  if (job.calls > 0) {
    found.mean_us = spent.count() / static_cast<double>(job.calls);
    found.period_us = all.count() / static_cast<double>(job.calls);
  }
  co_return found;
}

/// Looks at every element of the order's checked calls. Ranks come late to them, too, where there
/// is a `self`.
template <operation What, class L>
auto check(L& library, buffer_ring& ring, order job, const latecomer* self) ->
    typename L::template task<outcome> {
  outcome found;
  for (std::size_t i = 0; i < job.checks; ++i) {
    const checked_call call{What, library.rank(), library.size(), job.bytes / word_bytes, i};
    const slot buffers = ring.slots()[i * 7 % ring.slots().size()];
    prepare(call, buffers.send, buffers.recv);
    if (self != nullptr) {
      co_await library.barrier();
      self->spend(self->delay(i));
    }
    co_await begin_call<What>(library, buffers);
    found.verified = is_right(call, buffers.send, buffers.recv) && found.verified;
  }
  co_return found;
}

template <operation What, class L>
outcome measure_and_check(L& library, buffer_ring& ring, const order& job) {
  std::optional<latecomer> self;
  if (job.late.wanted()) self.emplace(job.late, library.rank(), library.size());
  outcome found = self ? library.run(measure_late<What>(library, ring, job, *self))
                       : library.run(measure<What>(library, ring, job));
  if (job.checks == 0) return found;
  found.verified = library.run(check<What>(library, ring, job, self ? &*self : nullptr)).verified;
  return found;
}

/// Runs the loop that the order asks for. Throws std::invalid_argument when its lateness is wrong.
template <measurable L>
outcome obey(L& library, buffer_ring& ring, const order& job) {
  ring.arrange(shape_of(job.what, job.bytes / word_bytes, library.rank(), library.size()),
               library.size());
  switch (job.what) {
    case operation::barrier:
      return measure_and_check<operation::barrier>(library, ring, job);
    case operation::bcast:
      return measure_and_check<operation::bcast>(library, ring, job);
    case operation::reduce:
      return measure_and_check<operation::reduce>(library, ring, job);
    case operation::allreduce:
      return measure_and_check<operation::allreduce>(library, ring, job);
    case operation::allgather:
      return measure_and_check<operation::allgather>(library, ring, job);
    case operation::alltoall:
      return measure_and_check<operation::alltoall>(library, ring, job);
  }
  return {};
}

}  // namespace muster::bench
