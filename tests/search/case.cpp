#include "tests/search/case.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <iomanip>
#include <set>
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

std::size_t nodes_of(const std::vector<std::size_t>& node_of) {
  return std::set<std::size_t>(node_of.begin(), node_of.end()).size();
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

/// What nobody notices, but that it takes longer.
void choose_waits(random_stream& random, const simulated& in, sim::faults& result) {
  const std::size_t ranks = in.options.node_of.size();
  const std::size_t nodes = nodes_of(in.options.node_of);
  const auto stretch = [&](auto one) {
    one.from_ns = between(random, 100, 3'000'000);
    one.until_ns = one.from_ns + between(random, 100, 1'000'000);
    return one;
  };
  const std::size_t rails = in.model.network.rails;
  for (std::size_t i = random.one_in(4) ? 1 + random.below(4) : 0; i > 0; --i) {
    result.outages.push_back(stretch(sim::faults::outage{
        .node = random.below(nodes), .from_ns = 0, .rail = random.below(rails)}));
  }
  if (random.one_in(8)) {
    result.outages.push_back(
        stretch(sim::faults::outage{.node = random.below(nodes), .from_ns = 0}));
  }
  if (random.one_in(8))
    result.stops.push_back(stretch(sim::faults::stop{random.below(ranks), 0, 0}));
  result.resent_after_ns = between(random, 20'000, 500'000);
}

sim::faults random_faults(random_stream& random, const simulated& in) {
  sim::faults result;
  if (random.one_in(2)) {
    result.delayed = between(random, 0.001, 0.5);
    result.longest_delay_ns = between(random, 100, 1'000'000);
  }
  if (random.one_in(3)) result.repeated = between(random, 0.01, 0.5);
  choose_waits(random, in, result);
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
  options.faults = random_faults(random, result);
  return result;
}

/// How long calls may be: as many of these.
constexpr std::array<std::size_t, 8> lengths = {1, 6, 50, 64, 1000, 9000, 70'000, 1'200'000};

/// Long ones make a case take as long as many others do.
std::size_t random_lengths(random_stream& random) {
  constexpr std::size_t usual = 6;
  if (random.one_in(50)) return lengths.size();
  return random.one_in(6) ? usual + 1 : usual;
}

std::size_t random_count(random_stream& random, const spec& call, std::size_t ranks,
                         std::size_t kinds) {
  const std::size_t length = lengths[random.below(kinds)];
  const arguments bare = bare_arguments(call, 0);
  const bool blocks = bare.sends_blocks() || bare.receives_blocks();
  const std::size_t most = (std::size_t{3} << 20) / (blocks ? ranks * ranks : ranks);
  return std::min(random.below(length + 1), most) / call.element();
}

spec any_call(random_stream& random, std::size_t ranks, std::size_t kinds) {
  spec call = random_call(random.next(), ranks, 1);
  if (call.what != collective::barrier) call.count = random_count(random, call, ranks, kinds);
  return call;
}

/// Some of all lengths, or more short ones than there are lanes.
std::vector<spec> several_calls(random_stream& random, std::size_t ranks) {
  if (random.one_in(5)) {
    return random_calls(random.next(), ranks, 1 + random.below(3 * wire::lanes), 40);
  }
  const std::size_t kinds = random_lengths(random);
  std::vector<spec> calls(1 + random.below(40));
  for (spec& each : calls) each = any_call(random, ranks, kinds);
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
      return any_call(random, ranks, lengths.size() - 2);
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

/// Deaths after the first, some of them while the others learn of it and go on.
void choose_more_deaths(random_stream& random, const random_case& in, sim::faults& faults) {
  const double first = faults.deaths[0].at_ns;
  for (std::size_t i = 1 + random.below(2); i > 0; --i) {
    const double noticed = random.one_in(4) ? 0 : faults.noticed_after_ns;
    const double at = first + noticed + between(random, 1, 300'000);
    faults.deaths.push_back({random.below(in.ranks), at});
  }
}

/// Silence between nodes, for so long that ranks hold each other for dead, or nearly so.
void choose_silence(random_stream& random, random_case& in, double sometime) {
  sim::options& options = in.in.options;
  sim::faults& faults = options.faults;
  const std::size_t nodes = nodes_of(options.node_of);
  faults.silence_ns = between(random, 1000, 300'000);
  if (in.what == trouble::host_death) {
    faults.host_deaths.push_back({random.below(nodes), sometime});
    return;
  }
  const double until = sometime + faults.silence_ns * between(random, 0.5, 4);
  if (in.what == trouble::pause) {
    faults.stops.push_back({in.culprit, sometime, until});
    return;
  }
  for (std::size_t i = random.one_in(4) ? 2 : 1; i > 0; --i) {
    faults.outages.push_back({.node = random.below(nodes),
                              .from_ns = sometime,
                              .until_ns = random.one_in(4) ? sim::faults::for_ever : until});
  }
}

void choose_times(random_stream& random, random_case& in) {
  sim::faults& faults = in.in.options.faults;
  const double sometime = between(random, 100, 3'000'000);
  in.trouble_at = clock_time(static_cast<std::int64_t>(sometime));
  switch (in.what) {
    case trouble::death:
    case trouble::deaths:
      faults.deaths.push_back({in.culprit, sometime});
      faults.noticed_after_ns = some_time(random, 100'000);
      if (in.what == trouble::deaths) choose_more_deaths(random, in, faults);
      break;
    case trouble::deadline:
      in.how.limit = in.trouble_at;
      break;
    case trouble::host_death:
    case trouble::cut_off:
    case trouble::pause:
      choose_silence(random, in, sometime);
      break;
    default:
      break;
  }
}

void choose_trouble(random_stream& random, random_case& in) {
  if (random.one_in(3)) return;
  in.what = static_cast<trouble>(1 + random.below(troubles - 1));
  in.culprit = random.below(in.ranks);
  in.odd_call = random.below(in.calls.size());
  if (in.what == trouble::mismatch) in.odd = different(random, in.calls[in.odd_call], in.ranks);
  in.goes_on = !random.one_in(3);
  if (in.goes_on && random.one_in(6)) {
    in.impatience = clock_time(static_cast<std::int64_t>(between(random, 10, 300'000)));
  }
  choose_times(random, in);
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

std::string_view name(trouble what) {
  constexpr std::array<std::string_view, troubles> names = {
      "none",
      "a rank dies",
      "a rank makes another call",
      "deadlines",
      "a rank leaves early",
      "ranks die",
      "a rank's calls are stopped",
      "a rank revokes the team",
      "a host dies",
      "a host is cut off",
      "a rank is stopped",
  };
  return names[static_cast<std::size_t>(what)];
}

namespace {

std::string describe_trouble(const random_case& of) {
  std::ostringstream text;
  text << name(of.what);
  if (of.what == trouble::mismatch) {
    text << ": rank " << of.culprit << ", call " << of.odd_call << ": " << describe(of.odd);
  } else if (of.what == trouble::deadline) {
    text << ": " << of.how.limit->count() << " ns";
  } else if (of.what == trouble::leaving) {
    text << ": rank " << of.culprit << " before call " << of.odd_call;
  } else if (of.what == trouble::stop_request || of.what == trouble::revocation) {
    text << ": rank " << of.culprit << " at " << of.trouble_at.count() << " ns";
  }
  if (of.goes_on) text << "; those who are left go on";
  if (of.impatience) {
    text << ", rank " << of.culprit << " without them after " << of.impatience->count() << " ns";
  }
  return text.str();
}

void describe_stretch(std::ostringstream& text, double from_ns, double until_ns) {
  text << " from " << from_ns << " ns on";
  if (until_ns != sim::faults::for_ever) text << " until " << until_ns << " ns";
  text << "\n";
}

/// A line each.
std::string describe_faults(const sim::faults& all) {
  std::ostringstream text;
  text << std::setprecision(17);
  for (const auto& each : all.deaths) {
    text << "  rank " << each.rank << " dies at " << each.at_ns << " ns, which is seen "
         << all.noticed_after_ns << " ns later\n";
  }
  for (const auto& each : all.host_deaths) {
    text << "  the host of node " << each.node << " dies at " << each.at_ns << " ns\n";
  }
  for (const auto& each : all.outages) {
    text << "  node " << each.node;
    if (each.rail != sim::faults::all_rails) text << ", rail " << each.rail << ",";
    text << " is cut off";
    describe_stretch(text, each.from_ns, each.until_ns);
  }
  for (const auto& each : all.stops) {
    text << "  rank " << each.rank << " is stopped";
    describe_stretch(text, each.from_ns, each.until_ns);
  }
  if (all.silence_ns > 0) text << "  who is silent for " << all.silence_ns << " ns is dead\n";
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
  text += describe_faults(of.in.options.faults);
  for (std::size_t i = 0; i < of.calls.size(); ++i) {
    text += "  " + std::to_string(i) + ": " + describe(of.calls[i]) + "\n";
  }
  return text + sim::to_json(of.in.model);
}

}  // namespace muster::testing
