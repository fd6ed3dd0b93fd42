// The measuring loop: one source, compiled against Muster and against each MPI.
//
// A rank calls its library back to back on rotating buffers whose contents change from call to
// call, and reports the mean. Results are checked afterwards, outside the timed part. The loop is
// a coroutine because Muster's collectives are awaited; a blocking library's adapter hands back
// `finished` objects and uses `direct` for its tasks, so that its loop compiles to plain calls.
#pragma once

#include <chrono>
#include <concepts>
#include <cstddef>
#include <span>
#include <string>

#include "tools/bench/buffers.hpp"
#include "tools/bench/operation.hpp"
#include "tools/bench/pattern.hpp"
#include "tools/bench/wire.hpp"

namespace muster::bench {

/// What one rank found.
struct outcome {
  double mean_us = 0;
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
  for (std::size_t i = 0; i < job.checks; ++i) {
    const checked_call call{What, library.rank(), library.size(), job.bytes / word_bytes, i};
    const slot buffers = ring.slots()[i * 7 % ring.slots().size()];
    prepare(call, buffers.send, buffers.recv);
    co_await begin_call<What>(library, buffers);
    found.verified = is_right(call, buffers.send, buffers.recv) && found.verified;
  }
  co_return found;
}

/// Runs the loop that the order asks for.
template <measurable L>
outcome obey(L& library, buffer_ring& ring, const order& job) {
  ring.arrange(shape_of(job.what, job.bytes / word_bytes, library.rank(), library.size()),
               library.size());
  switch (job.what) {
    case operation::barrier:
      return library.run(measure<operation::barrier>(library, ring, job));
    case operation::bcast:
      return library.run(measure<operation::bcast>(library, ring, job));
    case operation::reduce:
      return library.run(measure<operation::reduce>(library, ring, job));
    case operation::allreduce:
      return library.run(measure<operation::allreduce>(library, ring, job));
    case operation::allgather:
      return library.run(measure<operation::allgather>(library, ring, job));
    case operation::alltoall:
      return library.run(measure<operation::alltoall>(library, ring, job));
  }
  return {};
}

}  // namespace muster::bench
