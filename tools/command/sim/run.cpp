#include "tools/command/sim/run.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <exception>

#include <muster/api/collectives.hpp>
#include <muster/base/error.hpp>

#include "tools/command/sim/buffers.hpp"
#include "tools/report/statistics.hpp"
#include "transports/sim/simulation.hpp"

namespace muster::simulator {
namespace {

constexpr std::size_t warm_ups = 1;

/// What the ranks of a call found together.
struct call_times {
  sim::picoseconds slowest = 0;
  sim::picoseconds sum = 0;
};

constexpr std::array all_figures{&work::sends,       &work::sent_bytes,     &work::node_sends,
                                 &work::node_bytes,  &work::shared_written, &work::shared_read,
                                 &work::connections, &work::memory};

/// A rank's share, from its counters at the end and after the warm-up.
work work_of(const sim::counters& now, const sim::counters& before, std::size_t calls) {
  const auto a_call = [calls](std::uint64_t last, std::uint64_t first) {
    return static_cast<double>(last - first) / static_cast<double>(calls);
  };
  work done;
  done.sends = a_call(now.sends, before.sends);
  done.sent_bytes = a_call(now.sent_bytes, before.sent_bytes);
  done.node_sends = a_call(now.node_sends, before.node_sends);
  done.node_bytes = a_call(now.node_bytes, before.node_bytes);
  done.shared_written = a_call(now.shared_written, before.shared_written);
  done.shared_read = a_call(now.shared_read, before.shared_read);
  done.connections = static_cast<double>(now.connections);
  done.memory = static_cast<double>(now.stage_memory + now.channel_memory);
  return done;
}

sim::options options_for(const job& how, bool payload, sim::trace& trace,
                         const std::function<void(std::uint64_t)>& progress) {
  sim::options options;
  for (std::size_t node = 0; node < how.nodes; ++node) {
    options.node_of.insert(options.node_of.end(), how.ranks_a_node, node);
  }
  options.seed = how.seed;
  options.payload = payload;
  options.look_on = how.look_on;
  if (how.traced) options.trace = &trace;
  options.progress = progress;
  return options;
}

bool with_payload(const job& how, const point& at) {
  return how.payload && call_buffers::bytes(at, how.ranks()) <= most_payload_bytes;
}

class point_run {
public:
  point_run(const job& how, const point& at, const std::function<void(std::uint64_t)>& progress)
      : how_(how),
        payload_(with_payload(how, at)),
        buffers_(at, how.ranks(), payload_),
        around_{how.seed, how.ranks(), how.message_time.value_or(message_time(how, at.bytes))},
        after_warm_up_(how.ranks()),
        times_(how.calls),
        simulation_(how.model, how.rows, options_for(how, payload_, trace_, progress)) {
    found_.at = at;
    found_.payload = payload_;
    found_.verified = payload_;
    if (how.late) found_.message_time_ns = around_.message_time.count();
  }

  result run() {
    if (!choose()) return found_;
    try {
      simulation_.run([this](sim::rank& self) { return program(self); });
      note_failures();
    } catch (const sim::deadlock& why) {
      // Ranks that fail leave others waiting.
      note_failures();
      found_.deadlock = found_.failure.empty();
      if (found_.deadlock) found_.failure = why.what();
    }
    if (how_.traced) found_.trace = trace_.to_json(simulation_.shape());
    if (found_.failure.empty()) collect();
    return found_;
  }

private:
  /// Whether the algorithm can run this.
  bool choose() {
    const collective what = found_.at.what;
    for (std::size_t i = 0; i < simulation_.size(); ++i) {
      team& each = simulation_.rank_at(i).team();
      if (found_.at.asked != automatic) {
        each.choose(what, found_.at.asked);
      } else if (how_.table != nullptr) {
        each.select_by(how_.table);
      }
    }
    try {
      found_.algorithm = chosen_algorithm(simulation_.rank_at(0).team(), buffers_.call_of(0));
    } catch (const error&) {
      found_.suits = false;
    }
    return found_.suits;
  }

  task<> program(sim::rank& self) {
    const std::size_t rank = self.number();
    for (std::size_t call = 0; call < warm_ups + how_.calls; ++call) {
      if (call == warm_ups) after_warm_up_[rank] = self.counted();
      buffers_.prepare(rank, call);
      co_await self.meet();
      if (how_.late) {
        const auto delay = arrivals::delay(*how_.late, around_, rank, call);
        if (delay.count() > 0) co_await self.rest(delay);
      }
      const sim::picoseconds arrival = self.local_time();
      co_await perform(self.team(), buffers_.call_of(rank));
      if (call >= warm_ups) note_time(times_[call - warm_ups], self.local_time() - arrival);
      found_.verified = buffers_.is_right(rank, call) && found_.verified;
    }
  }

  static void note_time(call_times& of, sim::picoseconds spent) {
    of.slowest = std::max(of.slowest, spent);
    of.sum += spent;
  }

  void note_failures() {
    for (std::size_t i = 0; i < simulation_.size(); ++i) {
      if (!simulation_.rank_at(i).failure()) continue;
      try {
        std::rethrow_exception(simulation_.rank_at(i).failure());
      } catch (const error& why) {
        found_.failure = "rank " + std::to_string(i) + ": " + why.text();
      } catch (const std::exception& why) {
        found_.failure = "rank " + std::to_string(i) + ": " + why.what();
      }
      return;
    }
  }

  void collect() {
    collect_times();
    collect_work();
    found_.virtual_time = simulation_.now();
    found_.events = simulation_.events();
  }

  void collect_times() {
    constexpr double ps_in_us = 1e6;
    const auto ranks = static_cast<double>(simulation_.size());
    for (const call_times& one : times_) {
      const double ps =
          how_.late ? static_cast<double>(one.sum) / ranks : static_cast<double>(one.slowest);
      found_.times_us.push_back(ps / ps_in_us);
    }
    found_.median_us = bench::median(found_.times_us);
  }

  void collect_work() {
    constexpr double ps_in_us = 1e6;
    const auto calls = static_cast<double>(how_.calls);
    std::vector<work> of_node(how_.nodes);
    for (std::size_t i = 0; i < simulation_.size(); ++i) {
      const sim::counters& now = simulation_.rank_at(i).counted();
      const work done = work_of(now, after_warm_up_[i], how_.calls);
      for (const auto figure : all_figures) {
        of_node[simulation_.shape().node_of(i)].*figure += done.*figure;
      }
      const sim::picoseconds waited = now.waiting - after_warm_up_[i].waiting;
      found_.waiting_us.push_back(static_cast<double>(waited) / ps_in_us / calls);
    }
    for (const work& one : of_node) {
      for (const auto figure : all_figures) {
        found_.all.*figure += one.*figure;
        found_.busiest_node.*figure = std::max(found_.busiest_node.*figure, one.*figure);
      }
    }
  }

  const job& how_;
  bool payload_;
  call_buffers buffers_;
  arrivals::setting around_;
  sim::trace trace_;
  std::vector<sim::counters> after_warm_up_;  // a rank each
  std::vector<call_times> times_;
  result found_;
  sim::simulation simulation_;  // last: its programs write the others
};

}  // namespace

result run_point(const job& how, const point& at,
                 const std::function<void(std::uint64_t)>& progress) {
  const auto start = std::chrono::steady_clock::now();
  result found = point_run(how, at, progress).run();
  found.host_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return found;
}

}  // namespace muster::simulator
