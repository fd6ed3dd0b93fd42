#include "tools/bench/loop.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <barrier>
#include <chrono>
#include <cstdint>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tools/bench/direct.hpp"
#include "tools/bench/uniform_blocks.hpp"

namespace muster::bench {
namespace {

/// What the ranks of a test have in common: where each one's send buffer is.
struct meeting {
  explicit meeting(std::size_t ranks) : all_here(static_cast<long>(ranks)), sent(ranks) {}
  std::barrier<> all_here;
  std::vector<std::span<const double>> sent;
};

enum class fault { none, wrong_element, wrong_block, lost_call, spoiled_send };

/// Collectives between threads, as simple as can be; with a fault, on one rank.
class plain_library {
public:
  template <class T>
  using task = direct<T>;

  plain_library(meeting& shared, std::size_t rank, fault wrong)
      : shared_(shared), rank_(rank), wrong_(wrong) {}

  std::size_t rank() const { return rank_; }
  std::size_t size() const { return shared_.sent.size(); }
  std::string version() const { return "plain"; }
  std::string choose(const order&) const { return "plain"; }
  outcome run(direct<outcome> loop) { return std::move(loop).result(); }

  template <collective What>
  finished call(call_tag<What>, const slot& on) {
    if constexpr (What == collective::barrier) {
      shared_.all_here.arrive_and_wait();
      return {};
    } else if constexpr (What == collective::bcast) {
      return exchange(on.send, on.send, [&](std::size_t at) { return of(root_rank, at); });
    } else if constexpr (What == collective::scan) {
      return exchange(on.send, on.recv, [&](std::size_t at) { return sum(rank_ + 1, at); });
    } else if constexpr (What == collective::exscan) {
      faulty_rank_ = 1;  // rank 0 gets nothing that could be wrong
      const auto result = rank_ == 0 ? std::span<double>() : on.recv;
      return exchange(on.send, result, [&](std::size_t at) { return sum(rank_, at); });
    } else {
      return call_blocks(call_of(What, 1), on);
    }
  }

private:
  /// Vectors and blocks alike: which ranks give and receive them says the call.
  finished call_blocks(const arguments& call, const slot& on) {
    const std::size_t block = call.receives_blocks() ? on.recv.size() / size() : on.recv.size();
    const auto result = call.receives(rank_) ? on.recv : std::span<double>();
    return exchange(on.send, result, [&](std::size_t at) {
      const std::size_t place = (call.sends_blocks() ? rank_ * block : 0) + at % block;
      if (has_op(call.what)) return sum(size(), place);
      return of(call.is_scatter() ? root_rank : at / block, place);
    });
  }

  double of(std::size_t rank, std::size_t at) const { return shared_.sent[rank][at]; }
  double sum(std::size_t ranks, std::size_t at) const {
    double total = 0;
    for (std::size_t rank = 0; rank < ranks; ++rank) total += of(rank, at);
    return total;
  }

  template <class Value>
  finished exchange(std::span<const double> send, std::span<double> recv, Value value) {
    shared_.sent[rank_] = send;
    shared_.all_here.arrive_and_wait();
    std::vector<double> result(recv.size());
    for (std::size_t at = 0; at < recv.size(); ++at) result[at] = value(at);
    shared_.all_here.arrive_and_wait();
    if (rank_ != faulty_rank_) return deliver(result, recv);
    if (wrong_ == fault::lost_call) return {};
    deliver(result, recv);
    if (wrong_ == fault::wrong_element && !recv.empty()) recv.back() += 1;
    if (wrong_ == fault::wrong_block && recv.size() > 1) std::swap(recv.front(), recv.back());
    if (wrong_ == fault::spoiled_send) const_cast<double&>(send.back()) += 1;
    return {};
  }

  static finished deliver(const std::vector<double>& result, std::span<double> recv) {
    std::copy(result.begin(), result.end(), recv.begin());
    return {};
  }

  meeting& shared_;
  std::size_t rank_;
  std::size_t faulty_rank_ = 0;
  fault wrong_;
};

/// What each rank finds.
std::vector<outcome> outcomes(std::size_t ranks, const order& job, fault wrong) {
  meeting shared(ranks);
  std::vector<outcome> found(ranks);
  {
    std::vector<std::jthread> threads;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      threads.emplace_back([&, rank] {
        plain_library library(shared, rank, wrong);
        buffer_ring ring;
        found[rank] = obey(library, ring, job);
      });
    }
  }
  return found;
}

/// Whether all ranks found the results of `job` right.
bool all_right(std::size_t ranks, const order& job, fault wrong) {
  const auto found = outcomes(ranks, job, wrong);
  return std::all_of(found.begin(), found.end(), [](const outcome& one) {
    return one.verified && one.mean_us > 0 && one.period_us >= one.mean_us;
  });
}

order job_for(collective what, std::size_t bytes) {
  order job;
  job.what = what;
  job.bytes = bytes;
  job.warmups = 1;
  job.calls = 3;
  job.checks = 2;
  return job;
}

/// The same order where ranks come late.
order late(order job, std::string_view pattern) {
  job.late.pattern = pattern;
  job.late.message_time_ns = 100;
  job.late.yields = true;  // the tests' ranks may share cores
  return job;
}

TEST_CASE("loop: where ranks come late results are looked at, too") {
  for (const collective what : all_collectives) {
    for (const char* pattern : {"none", "random:mif=30", "late:share=25%,mif=30"}) {
      CAPTURE(name(what));
      CAPTURE(pattern);
      CHECK(all_right(3, late(job_for(what, 64), pattern), fault::none));
      if (!has_sizes(what)) continue;
      CHECK_FALSE(all_right(3, late(job_for(what, 64), pattern), fault::wrong_element));
    }
  }
}

TEST_CASE("loop: a late rank's time begins when it arrives, the others' time before") {
  const order job = late(job_for(collective::allreduce, 8), "late:share=50%,mif=400000");
  constexpr double delay_us = 40'000;
  double all_us = 0;
  for (const outcome& one : outcomes(2, job, fault::none)) {
    CHECK(one.period_us > 0.9 * delay_us);
    CHECK(one.mean_us < one.period_us);
    all_us += one.mean_us;
  }
  // One rank waits for the other at each call; were delays part of the time it would be twice that.
  CHECK(all_us > 0.5 * delay_us);
  CHECK(all_us < 1.7 * delay_us);
}

TEST_CASE("loop: an order with a wrong pattern of arrivals is refused") {
  meeting shared(1);
  plain_library library(shared, 0, fault::none);
  buffer_ring ring;
  const order job = late(job_for(collective::bcast, 8), "late");
  CHECK_THROWS_AS(obey(library, ring, job), std::invalid_argument);
}

TEST_CASE("latecomer: the delays of an order's calls") {
  lateness plan;
  plan.pattern = std::string_view("random:mif=1000");
  plan.seed = 5;
  plan.message_time_ns = 70;
  plan.first_call = 40;
  const latecomer self(plan, 2, 4);
  const auto pattern = arrivals::parse("random:mif=1000");
  const arrivals::setting around{5, 4, std::chrono::nanoseconds(70)};
  for (std::uint64_t call = 0; call < 10; ++call) {
    CHECK(self.delay(call) == arrivals::delay(pattern, around, 2, 40 + call));
  }
}

TEST_CASE("latecomer: a delay is spent in full") {
  using clock = std::chrono::steady_clock;
  for (const bool yields : {false, true}) {
    lateness plan;
    plan.pattern = std::string_view("none");
    plan.yields = yields;
    const auto start = clock::now();
    latecomer(plan, 0, 1).spend(std::chrono::milliseconds(2));
    CHECK(clock::now() - start >= std::chrono::milliseconds(2));
  }
}

TEST_CASE("loop: right results are found right") {
  for (const collective what : all_collectives) {
    for (const std::size_t ranks : {1, 2, 3, 5}) {
      for (const std::size_t bytes : {std::size_t{8}, std::size_t{64}, std::size_t{5000 * 8}}) {
        CAPTURE(name(what));
        CAPTURE(ranks);
        CAPTURE(bytes);
        CHECK(all_right(ranks, job_for(what, bytes), fault::none));
      }
    }
  }
}

TEST_CASE("loop: one wrong element anywhere is noticed") {
  for (const collective what : all_collectives) {
    if (!has_sizes(what)) continue;
    for (const fault wrong : {fault::wrong_element, fault::wrong_block, fault::spoiled_send}) {
      CAPTURE(name(what));
      CAPTURE(static_cast<int>(wrong));
      CHECK_FALSE(all_right(3, job_for(what, 64), wrong));
    }
  }
}

TEST_CASE("loop: a call that did nothing is noticed") {
  // The root of a bcast has its data already.
  for (const collective what : all_collectives) {
    if (!has_sizes(what) || what == collective::bcast) continue;
    CAPTURE(name(what));
    CHECK_FALSE(all_right(3, job_for(what, 64), fault::lost_call));
  }
}

TEST_CASE("pattern: depends on everything and is small enough to sum exactly") {
  CHECK(pattern(0, 0, 0, 0) != pattern(1, 0, 0, 0));
  CHECK(pattern(0, 1, 5, 0) != pattern(0, 2, 5, 0));
  CHECK(pattern(0, 0, 1, 0) != pattern(0, 0, 2, 0));
  CHECK(pattern(0, 0, 1, 1) != pattern(0, 0, 1, 2));
  for (std::size_t at = 0; at < 1000; ++at) {
    const double value = pattern(3, 4, at, 5);
    CHECK(value >= 0);
    CHECK(value < 1 << 20);
    CHECK(value == static_cast<double>(static_cast<long>(value)));
  }
}

TEST_CASE("buffers: slots are apart, aligned, rotate, and change from turn to turn") {
  buffer_ring ring;
  ring.arrange(shape_of(collective::allreduce, 100, 1, 4), 4);
  const std::size_t count = ring.slots().size();
  CHECK(count >= 2);
  for (const slot& one : ring.slots()) {
    CHECK(one.send.size() == 100);
    CHECK(one.recv.size() == 100);
    CHECK(one.send.data() + 100 <= one.recv.data());
    CHECK(reinterpret_cast<std::uintptr_t>(one.send.data()) % 64 == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(one.recv.data()) % 64 == 0);
  }
  const slot first = ring.next();
  const double before = first.send[0];
  CHECK(ring.next().send.data() != first.send.data());
  for (std::size_t i = 2; i < count; ++i) ring.next();
  CHECK(ring.next().send.data() == first.send.data());
  CHECK(first.send[0] != before);
}

TEST_CASE("buffers: bounded memory, beyond the caches where messages are large") {
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  CHECK(buffer_ring::slot_count(128, 8) == 64);
  CHECK(buffer_ring::slot_count(2 * mebibyte, 2) * 2 * mebibyte == 64 * mebibyte);
  CHECK(buffer_ring::slot_count(32 * mebibyte, 16) == 2);
  CHECK(buffer_ring::slot_count(0, 2) == 1);
  for (const std::size_t ranks : {1, 2, 8, 16, 256}) {
    CHECK(ring_budget_bytes(ranks) <= 64 * mebibyte);
    CHECK(ring_budget_bytes(ranks) >= 4 * mebibyte);
  }
}

TEST_CASE("blocks: counts and displacements follow the size") {
  uniform_blocks<int> blocks;
  for (const int words : {5, 5, 2}) {
    blocks.arrange(words, 3);
    for (std::size_t i = 0; i < 3; ++i) {
      CHECK(blocks.counts()[i] == words);
      CHECK(blocks.displacements()[i] == static_cast<int>(i) * words);
    }
  }
}

TEST_CASE("buffers: what each rank holds") {
  CHECK(shape_of(collective::barrier, 0, 0, 4).send_words == 0);
  CHECK(shape_of(collective::bcast, 8, 0, 4).stamps);
  CHECK_FALSE(shape_of(collective::bcast, 8, 1, 4).stamps);
  CHECK(shape_of(collective::allgather, 8, 1, 4).recv_words == 32);
  CHECK(shape_of(collective::alltoall, 8, 1, 4).send_words == 32);
  CHECK(shape_of(collective::reduce_scatter_block, 8, 1, 4).send_words == 32);
  CHECK(shape_of(collective::reduce_scatter_block, 8, 1, 4).recv_words == 8);
  CHECK(shape_of(collective::scatter, 8, 0, 4).send_words == 32);
  CHECK(shape_of(collective::scatterv, 8, 1, 4).send_words == 0);
  CHECK(shape_of(collective::gather, 8, 0, 4).recv_words == 32);
  CHECK(shape_of(collective::gatherv, 8, 1, 4).recv_words == 0);
  CHECK(shape_of(collective::exscan, 8, 0, 4).recv_words == 8);
}

}  // namespace
}  // namespace muster::bench
