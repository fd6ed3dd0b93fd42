#include "tools/command/bench/loop.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <barrier>
#include <bit>
#include <chrono>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

#include "tools/command/bench/direct.hpp"
#include "tools/command/bench/uniform_blocks.hpp"

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

  plain_library(meeting& shared, std::size_t rank, fault wrong, datatype type = datatype::float64)
      : shared_(shared), rank_(rank), wrong_(wrong), type_(type) {}

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
  /// Of the elements that a word has.
  double sum(std::size_t ranks, std::size_t at) const {
    return with_element(type_, [&](auto element) {
      std::array<decltype(element), word_bytes / sizeof element> total{};
      for (std::size_t rank = 0; rank < ranks; ++rank) {
        const auto more = std::bit_cast<decltype(total)>(of(rank, at));
        for (std::size_t i = 0; i < total.size(); ++i) {
          total[i] = static_cast<decltype(element)>(total[i] + more[i]);
        }
      }
      return std::bit_cast<double>(total);
    });
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
    if (wrong_ == fault::wrong_element && !recv.empty()) spoil(recv.back());
    if (wrong_ == fault::wrong_block && recv.size() > 1) std::swap(recv.front(), recv.back());
    if (wrong_ == fault::spoiled_send) spoil(const_cast<double&>(send.back()));
    return {};
  }

  /// One bit of one element, whatever a word has.
  static void spoil(double& word) {
    word = std::bit_cast<double>(std::bit_cast<std::uint64_t>(word) ^ 1);
  }

  static finished deliver(const std::vector<double>& result, std::span<double> recv) {
    std::copy(result.begin(), result.end(), recv.begin());
    return {};
  }

  meeting& shared_;
  std::size_t rank_;
  std::size_t faulty_rank_ = 0;
  fault wrong_;
  datatype type_;
};

/// Whose barriers take long.
class slow_barriers : public plain_library {
public:
  using plain_library::plain_library;

  static constexpr auto delay = std::chrono::milliseconds(2);

  template <collective What>
  finished call(call_tag<What> tag, const slot& on) {
    if constexpr (What == collective::barrier) std::this_thread::sleep_for(delay);
    return plain_library::call(tag, on);
  }
};

/// What each rank finds.
std::vector<outcome> outcomes(std::size_t ranks, const order& job, fault wrong) {
  meeting shared(ranks);
  std::vector<outcome> found(ranks);
  {
    std::vector<std::jthread> threads;
    for (std::size_t rank = 0; rank < ranks; ++rank) {
      threads.emplace_back([&, rank] {
        plain_library library(shared, rank, wrong, job.how.type);
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

/// Whose elements are of the type.
order typed(order job, datatype type) {
  job.how.type = type;
  return job;
}

TEST_CASE("loop: elements of reductions of any type are looked at") {
  for (const collective what : all_collectives) {
    if (!has_op(what)) continue;
    for (const element_kind& kind : element_kinds) {
      CAPTURE(name(what));
      CAPTURE(kind.name);
      const order job = typed(job_for(what, 640), kind.type);
      CHECK(all_right(3, job, fault::none));
      for (const fault wrong :
           {fault::wrong_element, fault::wrong_block, fault::lost_call, fault::spoiled_send}) {
        CHECK_FALSE(all_right(3, job, wrong));
      }
    }
  }
}

TEST_CASE("loop: between barriers the call alone is timed, and results are looked at") {
  meeting shared(1);
  slow_barriers library(shared, 0, fault::none);
  buffer_ring ring;
  order job = job_for(collective::allreduce, 64);
  job.how.between_barriers = true;
  constexpr double delay_us =
      std::chrono::duration<double, std::micro>(slow_barriers::delay).count();
  const outcome found = obey(library, ring, job);
  CHECK(found.verified);
  CHECK(found.mean_us < delay_us / 2);
  CHECK(found.period_us >= delay_us);
  job.how.between_barriers = false;
  CHECK(obey(library, ring, job).period_us < delay_us / 2);

  job.how.between_barriers = true;
  CHECK(all_right(3, job, fault::none));
  CHECK_FALSE(all_right(3, job, fault::wrong_element));
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

TEST_CASE("buffers: the same for all calls, unchanged, if asked for") {
  buffer_ring ring;
  const call_shape shape = shape_of(collective::allreduce, 100, 1, 4);
  ring.arrange(shape, 4);
  ring.arrange(shape, 4, {.same_buffers = true});
  CHECK(ring.slots().size() == 1);
  const slot first = ring.next();
  const std::vector<double> before(first.send.begin(), first.send.end());
  const slot second = ring.next();
  CHECK(second.send.data() == first.send.data());
  CHECK(std::equal(before.begin(), before.end(), second.send.begin()));
  ring.arrange(shape, 4);
  CHECK(ring.slots().size() > 1);
}

TEST_CASE("buffers: begin as far into a line, or a page, as asked for, and do not overlap") {
  for (const std::size_t words : {1UL, 100UL, 20'000UL, 200'000UL}) {
    CAPTURE(words);
    const std::size_t unit = words * word_bytes >= 128 << 10 ? 4096 : 64;
    buffer_ring ring;
    ring.arrange(shape_of(collective::allreduce, words, 1, 4), 4, {.offset = 16});
    const double* end = nullptr;
    for (const slot& one : ring.slots()) {
      for (const std::span<double> buffer : {one.send, one.recv}) {
        CHECK(reinterpret_cast<std::uintptr_t>(buffer.data()) % unit == 16);
        CHECK(buffer.data() >= end);
        std::ranges::fill(buffer, 1.0);  // in memory of the ring's own, as sanitizers see
        end = buffer.data() + buffer.size();
      }
    }
    ring.arrange(shape_of(collective::allreduce, words, 1, 4), 4);
    CHECK(reinterpret_cast<std::uintptr_t>(ring.slots()[0].send.data()) % 64 == 0);
  }
}

TEST_CASE("buffers: what changes is made of elements of the type") {
  for (const element_kind& kind : element_kinds) {
    CAPTURE(kind.name);
    buffer_ring ring;
    ring.arrange(shape_of(collective::allreduce, 8, 1, 4), 4, {.type = kind.type});
    const double word = ring.next().send[0];
    with_element(kind.type, [&](auto element) {
      std::array<decltype(element), word_bytes / sizeof element> ones;
      ones.fill(1);
      CHECK(std::bit_cast<decltype(ones)>(word) == ones);
    });
  }
}

TEST_CASE("pattern: sums over any number of ranks stay exact, and are not all alike") {
  for (const element_kind& kind : element_kinds) {
    for (const std::size_t ranks : {1, 2, 16, 128, 1000, 4096}) {
      CAPTURE(kind.name);
      CAPTURE(ranks);
      with_element(kind.type, [&](auto element) {
        using type = decltype(element);
        const checked_call call{collective::allreduce, 0, ranks, 64, 0, kind.type};
        double least = std::numeric_limits<double>::max();
        double most = 0;
        for (std::size_t at = 0; at < 64; ++at) {
          double sum = 0;
          for (std::size_t from = 0; from < ranks; ++from) {
            sum += static_cast<double>(sent_at<type>(call, from, at));
          }
          CHECK(sum <= static_cast<double>(exact_up_to<type>()));
          CHECK(static_cast<double>(expected_sum<type>(call, ranks, at)) == sum);
          least = std::min(least, sum);
          most = std::max(most, sum);
        }
        CHECK(least < most);
      });
    }
  }
}

TEST_CASE("buffers: bounded memory, beyond the caches where messages are large") {
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  CHECK(buffer_ring::slot_count(128, 8) == 64);
  CHECK(buffer_ring::slot_count(2 * mebibyte, 2) * 2 * mebibyte == 64 * mebibyte);
  CHECK(buffer_ring::slot_count(32 * mebibyte, 16) == 2);
  CHECK(buffer_ring::slot_count(0, 2) == 1);
  CHECK(buffer_ring::slot_count(64 * mebibyte, 2) == 1);
  CHECK(call_bytes(collective::alltoall, 64 * mebibyte, 4) == 2048 * mebibyte);
  CHECK(call_bytes(collective::gather, mebibyte, 4) == 8 * mebibyte);
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
