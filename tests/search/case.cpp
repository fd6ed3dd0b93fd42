#include "tests/search/case.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <sstream>
#include <stdexcept>

#include "algos/catalog.hpp"
#include "tools/conformance/random.hpp"
#include "transports/sim/trace.hpp"

namespace muster::testing {
namespace {

/// Between the two, as likely in each order of magnitude.
double between(random_stream& random, double least, double most) {
  const double where = static_cast<double>(random.next() >> 11) * 0x1p-53;
  return least * std::pow(most / least, where);
}

/// A time that is now and then nothing at all.
double some_time(random_stream& random, double most) {
  return random.one_in(10) ? 0 : between(random, 1, most);
}

std::vector<std::size_t> random_nodes(random_stream& random, std::size_t ranks) {
  if (!random.one_in(3)) return node_of(layouts[random.below(std::size(layouts))], ranks);
  const std::size_t nodes = 1 + random.below(ranks);
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < ranks; ++i) result.push_back(random.below(nodes));
  return result;
}

void choose_network(random_stream& random, sim::model::network_parameters& network) {
  network.latency_ns = some_time(random, 5000);
  network.send_overhead_ns = some_time(random, 2000);
  network.receive_overhead_ns = some_time(random, 2000);
  network.gap_ns = some_time(random, 1000);
  network.bandwidth_gbs = between(random, 0.05, 50);
  network.rails = 1 + (random.one_in(3) ? random.below(4) : 0);
  if (random.one_in(2)) network.stripe_from_bytes = random.below(40'000);
  network.moved_by = static_cast<sim::model::mover>(random.below(3));
  network.core_push_gbs = between(random, 0.1, 10);
  network.core_push_to_bytes = random.below(20'000);
  network.copy_to_bytes = random.below(20'000);
  network.queue_pairs_cached = random.one_in(2) ? 0 : random.below(40);
  network.queue_pair_miss_ns = some_time(random, 2000);
}

void choose_memory(random_stream& random, sim::model::memory_parameters& memory) {
  memory.core_copy_gbs = between(random, 0.5, 50);
  memory.other_core_gbs = between(random, 0.5, 50);
  memory.cache_copy_gbs = between(random, 0.5, 50);
  memory.memory_read_gbs = between(random, 0.5, 50);
  memory.memory_write_gbs = between(random, 0.2, 30);
  memory.node_memory_gbs = between(random, 0.5, 200);
  memory.combine_gbs = between(random, 0.1, 20);
  memory.flag_ns = some_time(random, 1000);
  if (random.one_in(2)) memory.core_cache_bytes = random.below(1 << 20);
  if (random.one_in(2)) memory.cache_bytes = random.below(1 << 20);
  memory.register_ns = some_time(random, 5000);
  memory.register_page_ns = some_time(random, 500);
  if (random.one_in(2)) memory.kernel_copy_gbs = between(random, 0.5, 20);
  memory.kernel_copy_call_ns = some_time(random, 2000);
}

void choose_core(random_stream& random, sim::model::core_parameters& core) {
  core.call_ns = some_time(random, 1000);
  core.copy_call_ns = some_time(random, 100);
  core.switch_ns = some_time(random, 5000);
  core.crowded_switch_ns = core.switch_ns + some_time(random, 5000);
  core.wake_ns = some_time(random, 20'000);
  core.system_call_ns = some_time(random, 2000);
}

sim::faults random_faults(random_stream& random) {
  sim::faults result;
  if (random.one_in(2)) {
    result.delayed = between(random, 0.001, 0.5);
    result.longest_delay_ns = between(random, 100, 1'000'000);
  }
  if (random.one_in(3)) result.repeated = between(random, 0.01, 0.5);
  return result;
}

simulated random_simulation(random_stream& random, std::size_t ranks) {
  simulated result;
  sim::model& of = result.model;
  of.cluster.cores_a_node = random.one_in(3) ? 1 + random.below(ranks) : ranks;
  choose_network(random, of.network);
  choose_memory(random, of.memory);
  choose_core(random, of.core);
  if (random.one_in(2)) of.jitter = between(random, 0.01, 3);
  sim::options& options = result.options;
  options.node_of = random_nodes(random, ranks);
  options.seed = random.next();
  options.shuffle = random.one_in(2);
  options.watch_reads = true;
  options.one_process = random.one_in(3);
  if (random.one_in(3)) options.foreign_from = 1 + random.below(100'000);
  options.faults = random_faults(random);
  return result;
}

std::size_t random_count(random_stream& random, const spec& call, std::size_t ranks) {
  constexpr std::array<std::size_t, 8> bounds = {1, 6, 64, 1000, 9000, 70'000, 1'200'000, 50};
  // Long ones rarely, since they take long here, too.
  std::size_t kind = random.below(bounds.size());
  if (kind == 6 && !random.one_in(8)) kind = 2;
  const arguments bare = bare_arguments(call, 0);
  const bool blocks = bare.sends_blocks() || bare.receives_blocks();
  const std::size_t most = (std::size_t{3} << 20) / (blocks ? ranks * ranks : ranks);
  return std::min(random.below(bounds[kind] + 1), most) / call.element();
}

spec any_call(random_stream& random, std::size_t ranks) {
  spec call = random_call(random.next(), ranks, 1);
  if (call.what != collective::barrier) call.count = random_count(random, call, ranks);
  return call;
}

/// Some of all lengths, or more short ones than there are lanes.
std::vector<spec> several_calls(random_stream& random, std::size_t ranks) {
  if (random.one_in(5)) {
    return random_calls(random.next(), ranks, 1 + random.below(3 * wire::lanes), 40);
  }
  std::vector<spec> calls(1 + random.below(40));
  for (spec& each : calls) each = any_call(random, ranks);
  return calls;
}

bool same_call(const spec& a, const spec& b) {
  return a.what == b.what && a.type == b.type && a.op == b.op && a.count == b.count &&
         a.root == b.root && a.order == b.order && a.own == b.own;
}

/// A call with one thing changed, which may not matter to it.
spec changed(random_stream& random, const spec& call, std::size_t ranks) {
  spec odd = call;
  switch (random.below(4)) {
    case 0:
      return any_call(random, ranks);
    case 1:
      if (call.what != collective::barrier) odd.count += 1 + random.below(9000);
      break;
    case 2:
      if (has_root(call.what)) odd.root = random.below(ranks);
      break;
    default:
      if (has_op(call.what)) odd.op = static_cast<reduction>(1 + random.below(reductions - 2));
      break;
  }
  return odd;
}

/// Another call than this one, as a mistake in a program would make it.
spec different(random_stream& random, const spec& call, std::size_t ranks) {
  for (;;) {
    spec odd = changed(random, call, ranks);
    if (has_op(odd.what) && !supports(odd.op, odd.type)) continue;
    // Where lengths come out the same after all, so do contents.
    odd.seed = call.seed;
    if (!same_call(odd, call)) return odd;
  }
}

void choose_trouble(random_stream& random, random_case& in) {
  if (!random.one_in(3)) return;
  in.what = static_cast<trouble>(1 + random.below(4));
  in.culprit = random.below(in.ranks);
  in.odd_call = random.below(in.calls.size());
  const double sometime = between(random, 100, 3'000'000);
  if (in.what == trouble::death) {
    in.in.options.faults.deaths.push_back({in.culprit, sometime});
    in.in.options.faults.noticed_after_ns = some_time(random, 100'000);
  }
  if (in.what == trouble::mismatch) in.odd = different(random, in.calls[in.odd_call], in.ranks);
  if (in.what == trouble::deadline) {
    in.how.limit = clock_time(static_cast<std::int64_t>(sometime));
  }
}

}  // namespace

random_case make_case(std::uint64_t seed) {
  random_stream random(seed);
  random_case result;
  result.seed = seed;
  result.ranks = 1 + random.below(random.one_in(4) ? 24 : 7);
  result.in = random_simulation(random, result.ranks);
  result.calls = several_calls(random, result.ranks);
  result.how = random_conduct(random);
  if (random.one_in(4)) result.how.in_flight = 1;
  result.latest = clock_time(static_cast<std::int64_t>(between(random, 10, 300'000)));
  choose_trouble(random, result);
  return result;
}

// ---- in words

namespace {

std::string_view name(trouble what) {
  constexpr std::array<std::string_view, 5> names = {
      "none", "a rank dies", "a rank makes another call", "deadlines", "a rank leaves early"};
  return names[static_cast<std::size_t>(what)];
}

std::string describe_trouble(const random_case& of) {
  std::ostringstream text;
  text << name(of.what);
  if (of.what == trouble::death) {
    text << ": rank " << of.culprit << " at " << of.in.options.faults.deaths[0].at_ns << " ns";
  } else if (of.what == trouble::mismatch) {
    text << ": rank " << of.culprit << ", call " << of.odd_call << ": " << describe(of.odd);
  } else if (of.what == trouble::deadline) {
    text << ": " << of.how.limit->count() << " ns";
  } else if (of.what == trouble::leaving) {
    text << ": rank " << of.culprit << " before call " << of.odd_call;
  }
  return text.str();
}

std::string describe_conduct(const random_case& of) {
  constexpr std::array<std::string_view, 3> buffers = {"own", "shared", "mixed"};
  std::string text = std::to_string(of.how.in_flight) + " in flight";
  if (of.how.together) text += ", together";
  if (of.how.unpunctual) text += ", late by up to " + std::to_string(of.latest.count()) + " ns";
  return text + ", buffers " + std::string(buffers[static_cast<std::size_t>(of.how.buffers)]);
}

std::string describe_options(const sim::options& options) {
  std::ostringstream text;
  text << (options.one_process ? "one process" : "processes");
  if (options.foreign_from != 0) text << ", kernel copies from " << options.foreign_from;
  if (options.shuffle) text << ", shuffled";
  if (options.faults.delayed > 0) {
    text << ", " << options.faults.delayed << " delayed by up to "
         << options.faults.longest_delay_ns << " ns";
  }
  if (options.faults.repeated > 0) text << ", " << options.faults.repeated << " repeated";
  return text.str();
}

}  // namespace

std::string describe(const random_case& of) {
  std::string text = std::to_string(of.ranks) + " ranks on nodes";
  for (const std::size_t node : of.in.options.node_of) text += " " + std::to_string(node);
  text += ", " + std::to_string(of.in.model.cluster.cores_a_node) + " cores a node\n";
  text += describe_options(of.in.options) + "; " + describe_conduct(of) + "\n";
  text += "trouble: " + describe_trouble(of) + "\n";
  for (std::size_t i = 0; i < of.calls.size(); ++i) {
    text += "  " + std::to_string(i) + ": " + describe(of.calls[i]) + "\n";
  }
  return text + sim::to_json(of.in.model);
}

// ---- what comes of it

namespace {

std::vector<spec> calls_of(const random_case& of, std::size_t rank) {
  std::vector<spec> calls = of.calls;
  if (rank != of.culprit) return calls;
  if (of.what == trouble::mismatch) calls[of.odd_call] = of.odd;
  if (of.what == trouble::leaving) calls.resize(of.odd_call);
  return calls;
}

task<> program(const random_case& of, sim::rank& me, findings& found) {
  const std::vector<spec> calls = calls_of(of, me.number());
  const lateness pause = rests(me, of.latest);
  co_await make_calls(me.team(), calls, of.how, found, pause);
}

/// Which error a rank may end with, if any.
std::optional<errc> allowed(trouble what) {
  switch (what) {
    case trouble::none:
      return std::nullopt;
    case trouble::death:
      return errc::rank_died;
    case trouble::mismatch:
      return errc::mismatched_call;
    case trouble::deadline:
      return errc::deadline_exceeded;
    case trouble::leaving:
      return errc::rank_left;
  }
  return std::nullopt;
}

bool blames_culprit(const random_case& of, const error& why) {
  if (of.what != trouble::death && of.what != trouble::leaving) return true;
  return why.rank() == of.culprit;
}

bool is_allowed(const random_case& of, const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const error& why) {
    const auto code = allowed(of.what);
    return code && why.code() == *code && blames_culprit(of, why);
  } catch (...) {
    return false;
  }
}

void check_ends(const random_case& of, sim::simulation& all, findings& found) {
  for (std::size_t i = 0; i < all.size(); ++i) {
    const auto failure = all.rank_at(i).failure();
    if (!failure || is_allowed(of, failure)) continue;
    found.add("rank " + std::to_string(i) + " ended with: " + text_of(failure));
  }
}

/// Runs the case; its failures stay in `all`.
void run(const random_case& of, sim::simulation& all, findings& found) {
  try {
    all.run([&](sim::rank& me) { return program(of, me, found); });
  } catch (const std::runtime_error& why) {
    found.add(why.what());
  }
}

}  // namespace

std::string run_case(const random_case& of) {
  constexpr std::uint64_t too_many_events = 20'000'000;
  sim::options options = of.in.options;
  options.progress = [](std::uint64_t events) {
    if (events > too_many_events) throw std::runtime_error("it goes on and on");
  };
  findings found;  // outlives the simulation, whose coroutines may end with it
  sim::simulation all(of.in.model, algos::catalog(), options);
  run(of, all, found);
  check_ends(of, all, found);
  return found.take();
}

std::string history_of(const random_case& of) {
  sim::trace trace;
  sim::options options = of.in.options;
  options.trace = &trace;
  findings found;
  sim::simulation all(of.in.model, algos::catalog(), options);
  run(of, all, found);
  std::string text = trace.to_json(all.shape()) + found.take();
  for (std::size_t i = 0; i < all.size(); ++i) text += text_of(all.rank_at(i).failure()) + "\n";
  return text + std::to_string(all.events()) + " events";
}

}  // namespace muster::testing
