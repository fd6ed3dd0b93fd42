#include "tools/study/validate/predict.hpp"

#include <algorithm>
#include <cstddef>
#include <exception>
#include <vector>

#include <muster/api/collectives.hpp>

#include "algos/catalog.hpp"
#include "tools/command/bench/buffers.hpp"
#include "tools/command/measure/stopwatch.hpp"
#include "tools/command/sim/buffers.hpp"
#include "transports/sim/simulation.hpp"

namespace muster::validate {
namespace {

constexpr std::size_t word_bytes = bench::word_bytes;

std::size_t buffers_in_turn(const bench::point& at) {
  const auto shape = bench::shape_of(at.what, at.bytes / word_bytes, 0, at.ranks);
  return bench::buffer_ring::slot_count((shape.send_words + shape.recv_words) * word_bytes,
                                        at.ranks);
}

}  // namespace

double predict_us(const sim::model& machine, const bench::point& at, double preparing_ns) {
  sim::options how;
  how.payload = false;
  how.node_of.assign(at.ranks, 0);
  how.buffers_in_turn = buffers_in_turn(at);
  sim::simulation ranks(machine, algos::catalog(), std::move(how));
  // Some ranks run far ahead of others: only many calls show how fast all get on.
  const int warmups = 100;
  const int calls = at.bytes * at.ranks <= 64 * 1024 ? 1000 : 60;
  const simulator::call_buffers buffers({at.what, at.bytes, {}}, at.ranks, false);
  const clock_time preparing{static_cast<std::int64_t>(preparing_ns)};
  std::vector<double> means(at.ranks);
  ranks.run([&](sim::rank& self) -> task<> {
    const arguments call = buffers.call_of(self.number());
    for (int i = 0; i < warmups; ++i) co_await perform(self.team(), call);
    co_await self.meet();
    const clock_time start = self.now();
    for (int i = 0; i < calls; ++i) {
      co_await self.compute(preparing);
      co_await perform(self.team(), call);
    }
    means[self.number()] = static_cast<double>((self.now() - start).count()) / calls / 1000;
  });
  for (std::size_t i = 0; i < at.ranks; ++i) {
    if (const auto failure = ranks.rank_at(i).failure()) std::rethrow_exception(failure);
  }
  return *std::ranges::max_element(means);
}

double preparing_ns(const bench::point& at) {
  bench::buffer_ring ring;
  ring.arrange(bench::shape_of(at.what, at.bytes / word_bytes, 0, at.ranks), at.ranks);
  return measure::median_ns(9, 200, [&ring] {
    const bench::slot next = ring.next();
    asm volatile("" : : "r"(next.send.data()) : "memory");
  });
}

}  // namespace muster::validate
