#include "tools/command/bench/bench.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <iterator>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <thread>

#include "tools/command/bench/buffers.hpp"
#include "tools/command/bench/limit.hpp"
#include "tools/command/bench/markdown.hpp"
#include "tools/command/bench/osu.hpp"
#include "tools/command/bench/report.hpp"
#include "tools/command/catalog/catalog.hpp"
#include "tools/command/catalog/option.hpp"
#include "tools/command/measure/copy_loop.hpp"
#include "tools/command/measure/memory_loop.hpp"
#include "tools/command/measure/switches.hpp"
#include "tools/command/shared/algorithms.hpp"
#include "tools/command/shared/command_line.hpp"
#include "tools/command/shared/made_hosts.hpp"
#include "tools/command/shared/progress.hpp"
#include "tools/mpi/left_to_mpi.hpp"
#include "tools/report/lines.hpp"
#include "tools/report/machine.hpp"
#include "tools/report/plot.hpp"
#include "tools/report/sizes.hpp"
#include "transports/shm/measure.hpp"

namespace muster::bench {
namespace {

/// An MPI, in the ways that it is measured alone.
std::vector<library> ways_of(library mpi, std::size_t hosts) {
  std::vector<library> ways;
  for (const library which : usual_peers(hosts)) {
    if (program_of(which) == mpi) ways.push_back(which);
  }
  return ways;
}

std::vector<library> peers_of(const options& wanted) {
  if (wanted.shim_under) return ways_of(*wanted.shim_under, wanted.hosts);
  if (wanted.how.calls.in_torch) return {library::gloo};
  if (wanted.peers) return *wanted.peers;
  std::vector<library> peers = usual_peers(wanted.hosts);
  const program_places places = find_programs();
  std::erase_if(peers, [&](library which) { return !is_there(which, places); });
  return peers;
}

/// Who is measured in a collective; nobody where it has none of the algorithms asked for.
std::vector<contender> contenders_of(const options& wanted, collective what) {
  std::vector<contender> all;
  if (wanted.algorithms.empty()) all.push_back({library::muster});
  for (const std::string& asked : algorithms_of(wanted.rows, what, wanted.algorithms)) {
    all.push_back({library::muster, asked});
  }
  if (all.empty()) return all;
  for (const library peer : peers_of(wanted)) {
    if (has_collective(peer, what)) all.push_back({peer});
  }
  return all;
}

std::vector<point> points_of(const options& wanted, std::size_t ranks) {
  std::vector<point> points;
  for (const collective what : wanted.collectives) {
    if (contenders_of(wanted, what).empty()) continue;
    if (!has_sizes(what)) {
      points.push_back({what, ranks, 0});
      continue;
    }
    for (const std::size_t bytes : wanted.sizes) points.push_back({what, ranks, bytes});
  }
  return points;
}

/// What the buffers of one library take at this point, which is more than the ring's budget where
/// even two slots are.
std::size_t memory_needed(const point& at, const calling& how) {
  std::size_t bytes = 0;
  for (std::size_t rank = 0; rank < at.ranks; ++rank) {
    const call_shape shape = shape_of(at.what, at.bytes / word_bytes, rank, at.ranks);
    const std::size_t slot_bytes = (shape.send_words + shape.recv_words) * word_bytes;
    bytes += slot_bytes * (how.same_buffers ? 1 : buffer_ring::slot_count(slot_bytes, at.ranks));
  }
  return bytes;
}

/// How many samples are to be taken, if none is thrown away.
std::size_t steps_at(const options& wanted, const point& at) {
  return contenders_of(wanted, at.what).size() * wanted.how.rounds;
}

std::size_t count_steps(const options& wanted) {
  std::size_t steps = 0;
  for (const point& at : points_of(wanted, 1)) steps += steps_at(wanted, at);
  return steps * wanted.ranks.size();
}

void require_ranks_for_nodes(const options& wanted) {
  const std::size_t fewest = *std::min_element(wanted.ranks.begin(), wanted.ranks.end());
  if (wanted.nodes <= fewest) return;
  throw std::runtime_error(
      fmt::format("--nodes: {} nodes for {} ranks; expected at most one for each (--ranks)",
                  wanted.nodes, fewest));
}

void require_ranks_for_hosts(const options& wanted) {
  if (wanted.hosts == 1) return;
  const std::size_t fewest = *std::min_element(wanted.ranks.begin(), wanted.ranks.end());
  if (wanted.hosts > fewest) {
    throw std::runtime_error(
        fmt::format("--hosts-made: {} hosts for {} ranks; expected at most one for each (--ranks)",
                    wanted.hosts, fewest));
  }
  if (wanted.nodes != 1) throw std::runtime_error("--hosts-made: does not go with --nodes");
}

void require_hosts_for_peers(const options& wanted) {
  for (const library peer : peers_of(wanted)) {
    if (peer == library::gloo && made_hosts::have_rdma()) {
      throw std::runtime_error("--vs: gloo talks by TCP alone; expected --fabric tcp");
    }
    if (wanted.hosts > 1 || wanted.how.calls.in_torch) continue;
    if (!needs_hosts(peer)) continue;
    throw std::runtime_error(
        fmt::format("--vs: {} is measured between hosts alone; expected --hosts-made 2 or more",
                    name_of(peer)));
  }
}

void require_known_algorithms(const options& wanted) {
  if (wanted.algorithms.empty()) return;
  constexpr std::size_t most = decltype(order::asked)::most;
  for (const std::string& asked : wanted.algorithms) {
    if (asked.size() <= most) continue;
    throw std::runtime_error(
        fmt::format("--algorithms: '{}' is too long; expected at most {} letters", asked, most));
  }
  require_algorithms(wanted.rows, wanted.algorithms, wanted.collectives);
}

/// Recorded arrivals are for one number of ranks.
void require_arrivals_for(const options& wanted) {
  if (!wanted.late) return;
  try {
    for (const std::size_t ranks : wanted.ranks) arrivals::require_ranks(*wanted.late, ranks);
  } catch (const std::invalid_argument& error) {
    throw std::runtime_error(fmt::format("--arrivals: {} (--ranks)", error.what()));
  }
}

void require_place_for_tables(const options& wanted) {
  if (wanted.table.empty()) return;
  try {
    document_for_tables(wanted.table, wanted.ranks);
  } catch (const std::runtime_error& error) {
    throw std::runtime_error(fmt::format("--table: {}: {}", wanted.table.string(), error.what()));
  }
}

/// Late ranks meet before each call, in a loop of their own.
void require_one_loop(const options& wanted) {
  if (wanted.late && wanted.how.calls.between_barriers) {
    throw std::runtime_error("--loop: barrier does not go with --arrivals, which has one anyway");
  }
}

void require_whole_shim(const options& wanted) {
  if (!wanted.shim_under) {
    if (wanted.how.nonblocking) throw std::runtime_error("--nonblocking: goes with --shim alone");
    if (wanted.how.calls.excluded) throw std::runtime_error("--excluded: goes with --shim alone");
    return;
  }
  if (wanted.late && wanted.how.compute_us > 0) {
    throw std::runtime_error("--compute: does not go with --arrivals");
  }
  if (wanted.nodes != 1 || !wanted.catalog_file.empty()) {
    throw std::runtime_error("--shim: goes with neither --nodes nor --catalog");
  }
}

/// \param folder for what has to be there while the benchmark runs
program_places places_for(const options& wanted, const std::filesystem::path& folder) {
  program_places places = find_programs();
  if (wanted.hosts > 1) places.remote_shell = made_hosts::write_remote_shell(folder);
  places.shim_under = wanted.shim_under;
  places.excluded = wanted.how.calls.excluded;
  places.in_torch = wanted.how.calls.in_torch;
  if (!wanted.catalog_file.empty()) {
    places.catalog_file = std::filesystem::absolute(wanted.catalog_file);
  }
  if (!wanted.shim_under) return places;
  const std::filesystem::path shim = places.shim_for(*wanted.shim_under);
  if (!std::filesystem::exists(shim)) {
    throw std::runtime_error(fmt::format(
        "--shim: there is no {}; build //tools/mpi, or install muster-mpi", shim.string()));
  }
  return places;
}

class bench_run {
public:
  explicit bench_run(const options& wanted)
      : wanted_(wanted),
        places_(places_for(wanted, folder_.path())),
        cpus_(wanted.probe ? wanted.probe : shm::probe_cpus()),
        sampler_(wanted.how, cpus_),
        copies_(cpus_),
        meter_(count_steps(wanted), wanted.quiet) {
    style_.colours = isatty(STDOUT_FILENO) == 1 && std::getenv("NO_COLOR") == nullptr;
  }

  int run() {
    look_around();
    for (const std::size_t ranks : wanted_.ranks) measure_ranks(ranks);
    meter_.clear();
    finish();
    const bool all_well = std::all_of(found_.begin(), found_.end(), [](const measurement& one) {
      return !one.suits || (one.failure.empty() && one.verified);
    });
    return all_well ? 0 : 1;
  }

private:
  void look_around() {
    about_.machine = machine_name();
    about_.date = utc_date();
    if (wanted_.late && !wanted_.message_time) {
      machine_ = shm::measure(shm::ranks_are::processes);
    }
    constexpr double quiet_enough = 0.05;
    if (const double busy = busy_share(); busy > quiet_enough) {
      meter_.note(
          fmt::format("warning: other programs keep this machine {:.0f} % busy; "
                      "the figures will suffer",
                      100 * busy));
    }
    if (!cpus_) {
      meter_.note("warning: one usable CPU: the machine's state is not probed");
    }
  }

  void measure_ranks(std::size_t ranks) {
    const std::size_t sharing = (ranks + usable_cpus() - 1) / usable_cpus();
    if (!wanted_.late && sharing > 1) {
      const int core = shm::allowed_cpus().front();
      switch_ns_ = measure::switch_ns(core, static_cast<int>(sharing) - 1);
    }
    job_set jobs({ranks, wanted_.nodes, wanted_.hosts}, usable_cpus(), places_, interrupts_,
                 [this](const std::string& text) { meter_.note(text); });
    std::optional<collective> last;
    for (const point& at : points_of(wanted_, ranks)) {
      if (at.what != last) {
        if (last) print_table(*last, ranks);
        meter_.begin(fmt::format("{}, {} ranks", name(at.what), ranks));
      }
      last = at.what;
      measure_point(jobs, at);
      steps_done_ += steps_at(wanted_, at);
      meter_.reach(steps_done_);
    }
    if (last) print_table(*last, ranks);
    for (std::string& version : jobs.versions()) {
      auto& known = about_.libraries;
      if (std::find(known.begin(), known.end(), version) == known.end()) {
        known.push_back(std::move(version));
      }
    }
  }

  void measure_point(job_set& jobs, const point& at) {
    interrupts_.check();
    if (!fits_into_memory(at)) return;
    const auto ticked = [this](const std::string& doing) {
      meter_.show(doing);
      meter_.advance();
    };
    auto measured =
        sampler_.measure(jobs, contenders_of(wanted_, at.what), at, lateness_at(at), ticked);
    if (!wanted_.late && wanted_.hosts == 1) set_limit(measured, at);
    std::move(measured.begin(), measured.end(), std::back_inserter(found_));
  }

  /// Says so where it does not.
  bool fits_into_memory(const point& at) {
    constexpr std::size_t most_bytes = std::size_t{4} << 30;
    const std::size_t needed = memory_needed(at, wanted_.how.calls);
    const auto skip = [&](const std::string& why) {
      meter_.note(fmt::format("skipped {} of {}, {} ranks: {}", name(at.what),
                              readable_bytes(at.bytes), at.ranks, why));
      return false;
    };
    if (needed >= most_bytes) {
      return skip(fmt::format("a library's buffers would take {}; expected less than {}",
                              readable_bytes(needed), readable_bytes(most_bytes)));
    }
    const std::size_t all = needed * (1 + peers_of(wanted_).size());
    if (all > available_memory() / 2) {
      return skip(fmt::format("it needs {} of memory", readable_bytes(all)));
    }
    return true;
  }

  /// As many as there are ranks, if there are.
  static std::vector<int> cpus_for(std::size_t ranks) {
    std::vector<int> cpus = shm::allowed_cpus();
    cpus.resize(std::min(cpus.size(), ranks));
    return cpus;
  }

  /// From what the machine is like now, and was when the point was measured.
  void set_limit(std::span<measurement> here, const point& at) {
    allowance given{.cores = usable_cpus(), .switch_ns = switch_ns_};
    for (const measurement& one : here) given.trip_ns = one.trip_ns.value_or(given.trip_ns);
    given.between_barriers = wanted_.how.calls.between_barriers;
    if (leaves_caches(at)) {
      given.memory_ns = memory_.copy_ns_a_byte(cpus_for(at.ranks));
    } else if (has_sizes(at.what) && !given.between_barriers) {
      const auto found = copies_.measure(at.bytes, at.ranks, wanted_.how.calls);
      given.crossing_ns = found.crossing_ns;
      given.near_ns = found.near_ns;
    }
    const double limit = limit_us(at, given);
    if (limit <= 0) return;  // nothing was measured that would limit it
    for (measurement& one : here) one.limit_us = limit;
  }

  lateness lateness_at(const point& at) const {
    lateness late;
    if (!wanted_.late) return late;
    late.pattern = std::string_view(wanted_.late->text);
    late.seed = wanted_.seed;
    late.message_time_ns = wanted_.message_time.value_or(message_time(machine_, at.bytes)).count();
    late.yields = at.ranks > usable_cpus();
    return late;
  }

  void print_table(collective what, std::size_t ranks) {
    meter_.clear();
    if (wanted_.format == output_format::osu) {
      fmt::print("{}", osu_blocks(found_, what, ranks));
    } else {
      fmt::print("{}\n", point_table(found_, what, ranks, style_));
    }
    std::fflush(stdout);
  }

  void finish() {
    const std::string means = summary_table(found_, style_);
    if (wanted_.format == output_format::tables && !means.empty()) {
      fmt::print("{}\n", means);
    }
    const std::string json = report::in_lines(to_json(found_, about_));
    json_.write(json);
    if (!wanted_.table.empty()) {
      const std::string document = document_for_tables(wanted_.table, wanted_.ranks);
      fmt::print("table: {}\n", write_file(wanted_.table, refreshed(document, found_)));
    }
    if (!wanted_.plot.empty()) report::plot(wanted_.plot, json);
  }

  const options& wanted_;
  json_output json_{wanted_.json};
  temporary_folder folder_{"muster-bench"};
  program_places places_;
  std::optional<shm::cpu_pair> cpus_;
  interrupt_watch interrupts_;
  sampler sampler_;
  measure::copy_loop copies_;
  measure::memory_loop memory_;
  double switch_ns_ = 0;  ///< among the ranks that share a core
  progress_meter meter_;
  table_style style_;
  environment_facts about_;
  muster::machine machine_;  ///< measured where a message's time is to be known
  std::vector<measurement> found_;
  std::size_t steps_done_ = 0;
};

std::vector<library> parse_peers(const std::string& text) {
  std::vector<library> peers;
  if (text == "none") return peers;
  std::size_t start = 0;
  while (start <= text.size()) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    const auto which = library_named(text.substr(start, end - start));
    if (!which || *which == library::muster) {
      throw std::invalid_argument(
          fmt::format("'{}' is not a peer; expected openmpi, openmpi_han, mpich, gloo, several "
                      "with commas, or none",
                      text.substr(start, end - start)));
    }
    if (std::find(peers.begin(), peers.end(), *which) == peers.end()) peers.push_back(*which);
    start = end + 1;
  }
  return peers;
}

/// One of two words.
bool parse_word(const std::string& text, std::string_view usual, std::string_view other) {
  if (text == usual || text == other) return text == other;
  throw std::invalid_argument(fmt::format("'{}' is neither {} nor {}", text, usual, other));
}
bool parse_loop(const std::string& text) { return parse_word(text, "back-to-back", "barrier"); }
bool parse_buffers(const std::string& text) { return parse_word(text, "changed", "same"); }

/// As many bytes as put no element across two of the words that buffers are made of.
std::uint32_t parse_offset(const std::string& text) {
  std::uint32_t bytes = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), bytes);
  if (failed != std::errc() || end != text.data() + text.size() || bytes >= page_bytes ||
      bytes % word_bytes != 0) {
    throw std::invalid_argument(
        fmt::format("'{}' is not a multiple of {} below {}", text, word_bytes, page_bytes));
  }
  return bytes;
}

datatype parse_type(const std::string& text) {
  for (const element_kind& kind : element_kinds) {
    if (kind.name == text) return kind.type;
  }
  throw std::invalid_argument(
      fmt::format("'{}' is not a type; expected char, int, float or double", text));
}

arrivals::pattern parse_arrivals(const std::string& text) {
  constexpr std::size_t most = decltype(lateness::pattern)::most;
  if (text.size() > most) {
    throw std::invalid_argument(
        fmt::format("'{}' is too long; expected at most {} letters", text, most));
  }
  return arrivals::parse(text);
}

constexpr const char* description = "Measure collectives beside Open MPI and MPICH";

constexpr const char* details = R"(
Every library runs the same measuring loop: back-to-back calls on rotating buffers whose contents
change, the mean over the calls, the slowest rank. With --loop barrier each call is timed by itself
after a barrier, and the figure is the mean over calls and ranks; --buffers same leaves one buffer as
it is. Results are checked, element by element, outside the timed part. Root 0. SIZE is the whole message for bcast, reduce, allreduce and
scans, and one rank's block for the others.

The libraries take turns in short samples. Before and after each, the trip of a cache line between
two cores is probed: where virtual CPUs are moved about, samples during which it changed are thrown
away, and libraries are compared only at the same trip. Shown are medians; ratio is the better
peer's median over Muster's, so above 1 Muster is faster.

The limit is about the least time that the machine allows: trips of cache lines where each rank has a core,
handing cores on where ranks share them, and copying what must be copied; from where a call's buffers
leave the caches, one copy at the memory's bandwidth; all measured beside the libraries. Points at
which a library's buffers would take 4 GiB are skipped.

With --arrivals ranks come late, to every library in the same way. Before each call they meet in the
library's barrier, and each then computes for its delay. A rank's time is from its own arrival until
its own call is done; a sample is the mean over calls and ranks. SPEC is
  none                      together: a barrier before each call, no delays
  random:mif=F              each rank by a random time from 0 to F message times
  late:share=P%,mif=F       that share of the ranks, drawn for each call, by F message times
  file:PATH                 as recorded: {"unit": "ns", "delays": [[a delay a rank], a list a call]}
A message time is the trip of a cache line and a copy of SIZE in and out of shared memory, measured
at start. Where ranks share cores, one that is not there yet leaves its core to those who are.

With --algorithms every point is measured once with each of Muster's algorithms that are asked for;
they take turns like libraries. Each has its ratio to the better peer; where several were measured,
"to first" is the first one's median over its own, so above 1 it is faster than the first. One that a
collective does not have is left out there; where one does not suit the ranks or the size its cell
stays empty. With --nodes Muster's ranks are spread over made-up nodes, which share no memory but the
streams between them; the peers always have one node. With --hosts-made the ranks of all libraries
are spread over hosts made of this machine, which share its cores; between hosts all use TCP, or
RDMA with --fabric verbs where tools/rdma-guest has made devices for two of them. There a second table
says what the ranks of a host together post in a call, and how many queue pairs they have: counted
below the libraries, in the same way for each, mean over the samples. Open MPI
is measured on hosts twice, as it is and with HAN, its collectives for several hosts; and so is Gloo, in
the collectives that it has: the first eight.

With --torch a call is one of torch.distributed, in Python, on tensors in the CPU's memory; Muster and Gloo are its
backends, which are measured beside each other. allreduce and reduce combine in place there.

Examples:
  muster bench                                    8 ranks, the usual collectives, 8 B to 1 MiB
  muster bench alltoall -n 2,4,8,16 --sizes 8..1Mx4
  muster bench barrier -n 2 --rounds 25 --json barrier.json
  muster bench allreduce --hosts-made 2 --vs openmpi_han,gloo
  muster bench alltoall allgather --arrivals late:share=25%,mif=128 --seed 7
  muster bench alltoall -n 16 --nodes 4 --algorithms pairwise,auto --sizes 8K
  muster bench alltoall -n 16 --nodes 4 --algorithms auto,pairwise --arrivals random:mif=32
  muster bench allgather -n 8 --catalog mine.so --algorithms mine,auto
  muster bench bcast alltoall -n 2,4 --sizes 64K..64M --rounds 3
  muster bench reduce allreduce -n 4 --type char --loop barrier --buffers same --shim openmpi
  muster bench allreduce -n 4 --format osu --loop barrier --buffers same --type char --sizes 8..1Mx2
  muster bench -n 2,4,16 --shim mpich --excluded
  muster bench alltoall -n 2,16 --shim openmpi --nonblocking
  MUSTER_PROGRESS=thread muster bench alltoall -n 2 --shim openmpi --nonblocking --compute 500
  muster bench alltoall allgather -n 4 --shim openmpi --hosts-made 2
  muster bench allreduce -n 2,4 --torch --type float
)";

}  // namespace

int run_bench(const options& wanted) {
  try {
    require_writable(wanted.plot, "--plot");
    require_writable(wanted.table, "--table");
    require_place_for_tables(wanted);
    require_arrivals_for(wanted);
    require_ranks_for_nodes(wanted);
    require_ranks_for_hosts(wanted);
    require_hosts_for_peers(wanted);
    require_one_loop(wanted);
    require_whole_shim(wanted);
    const catalogs::extended_catalog known(wanted.catalog_file);
    options with_rows = wanted;
    const std::vector<algorithm> under_mpi = mpi::with_mpi(known.rows());
    with_rows.rows = wanted.shim_under ? catalog(under_mpi) : known.rows();
    require_known_algorithms(with_rows);
    if (wanted.hosts > 1 && !wanted.hosts_are_made) {
      made_hosts::run_again_among({wanted.hosts, wanted.link_rate});
    }
    return bench_run(with_rows).run();
  } catch (const interrupted&) {
    fmt::print(stderr, "muster bench: interrupted\n");
    return 130;
  } catch (const std::exception& error) {
    fmt::print(stderr, "muster bench: {}\n", error.what());
    return 1;
  }
}

void add_bench_command(CLI::App& command, std::function<void(int)> done) {
  CLI::App* const bench = command.add_subcommand("bench", description);
  bench->footer(details);
  const auto wanted = std::make_shared<options>();

  bench
      ->add_option_function<std::vector<std::string>>(
          "COLLECTIVES",
          [wanted](const std::vector<std::string>& names) {
            wanted->collectives.clear();
            for (const auto& name : names) wanted->collectives.push_back(parse_collective(name));
          },
          "which to measure: " + collective_names() + " (default: the first eight)")
      ->check(CLI::Validator(checked(parse_collective), ""))
      ->type_name("");
  bench
      ->add_option_function<std::string>(
          "-n,--ranks", [wanted](const std::string& text) { wanted->ranks = parse_ranks(text); },
          "numbers of ranks (default: 8)")
      ->check(CLI::Validator(checked(parse_ranks), ""))
      ->type_name("N,N,...");
  bench
      ->add_option_function<std::string>(
          "--sizes", [wanted](const std::string& text) { wanted->sizes = parse_sizes(text); },
          "message sizes: a list 8,4K,1M or a range 8..1M in steps of ×8, 8..1Mx2 of ×2 "
          "(default: 8..1M)")
      ->check(CLI::Validator(checked(parse_sizes), ""))
      ->type_name("SIZES");
  bench
      ->add_option_function<std::string>(
          "--vs", [wanted](const std::string& text) { wanted->peers = parse_peers(text); },
          "peers: openmpi, mpich, between hosts also openmpi_han and gloo, or none (default: all "
          "that there are)")
      ->check(CLI::Validator(checked(parse_peers), ""))
      ->type_name("PEERS");
  bench
      ->add_option_function<std::string>(
          "--shim", [wanted](const std::string& text) { wanted->shim_under = parse_shim(text); },
          "measure Muster preloaded into this MPI, openmpi or mpich, beside the MPI alone")
      ->check(CLI::Validator(checked(parse_shim), ""))
      ->excludes("--vs")
      ->type_name("MPI");
  bench
      ->add_flag("--excluded", wanted->how.calls.excluded,
                 "leave all calls to the MPI: what they cost with the library loaded, beside the "
                 "MPI alone")
      ->needs("--shim");
  bench
      ->add_option_function<std::string>(
          "--loop",
          [wanted](const std::string& text) {
            wanted->how.calls.between_barriers = parse_loop(text);
          },
          "back-to-back, or barrier: a barrier before each call, which alone is timed, as OSU's "
          "and Intel's benchmarks do (default: back-to-back)")
      ->check(CLI::Validator(checked(parse_loop), ""))
      ->type_name("LOOP");
  bench
      ->add_option_function<std::string>(
          "--buffers",
          [wanted](const std::string& text) {
            wanted->how.calls.same_buffers = parse_buffers(text);
          },
          "changed: calls rotate through buffers and change them; or same: all use one, "
          "unchanged, as OSU's do (default: changed)")
      ->check(CLI::Validator(checked(parse_buffers), ""))
      ->type_name("BUFFERS");
  bench
      ->add_option("--offset", wanted->how.calls.offset,
                   "bytes into a cache line at which buffers begin, or into a page for those of "
                   "128 KiB and more: 16 as malloc's (default: 0)")
      ->check(CLI::Validator(checked(parse_offset), ""))
      ->type_name("BYTES");
  bench
      ->add_option_function<std::string>(
          "--type",
          [wanted](const std::string& text) { wanted->how.calls.type = parse_type(text); },
          "what reductions add up: char, int, float or double; sizes stay bytes (default: double)")
      ->check(CLI::Validator(checked(parse_type), ""))
      ->type_name("TYPE");
  bench->add_flag("--nonblocking", wanted->how.nonblocking,
                  "allreduce, allgather, alltoall: begin each call and wait for it, as in "
                  "MPI_Iallreduce and MPI_Wait");
  bench
      ->add_option("--compute", wanted->how.compute_us,
                   "compute for so long between the two; a call's time is what is not hidden "
                   "behind that")
      ->check(CLI::PositiveNumber)
      ->needs("--nonblocking")
      ->type_name("MICROSECONDS");
  CLI::Option* const hosts =
      bench
          ->add_option("--hosts-made", wanted->hosts,
                       "hosts that all ranks are spread over, evenly: network namespaces of this "
                       "machine, which TCP connects; as root")
          ->check(CLI::Range(1, 250))
          ->type_name("N");
  bench->add_flag(made_hosts::inside, wanted->hosts_are_made)->group("");
  add_fabric_option(*bench)->needs(hosts);
  add_link_rate_option(*bench, wanted->link_rate)->needs(hosts);
  bench
      ->add_option("--nodes", wanted->nodes,
                   "made-up nodes that Muster's ranks are spread over, see muster run; the peers' "
                   "stay on one (default: 1)")
      ->check(CLI::PositiveNumber)
      ->type_name("N");
  add_algorithms_option(
      *bench, [wanted](std::vector<std::string> asked) { wanted->algorithms = std::move(asked); });
  catalogs::add_catalog_option(*bench, wanted->catalog_file);
  bench
      ->add_flag("--torch", wanted->how.calls.in_torch,
                 "measure Muster beside Gloo as backends of torch.distributed, in Python")
      ->excludes("--vs")
      ->excludes("--shim")
      ->excludes("--algorithms")
      ->excludes("--catalog");
  bench
      ->add_option("--format", wanted->format,
                   "tables, or osu: lines of bytes and microseconds as the OSU micro-benchmarks "
                   "print them, and no plot unless --plot asks for one (default: tables)")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, output_format>{{"tables", output_format::tables},
                                               {"osu", output_format::osu}},
          CLI::ignore_case))
      ->type_name("FORMAT");
  bench
      ->add_option("--json", wanted->json,
                   "write the results there as JSON; -: to standard output, and all else "
                   "to standard error")
      ->type_name("FILE");
  bench
      ->add_option("--plot", wanted->plot,
                   "draw the plot there, .svg or .html (default: muster-bench.svg)")
      ->type_name("FILE");
  bench
      ->add_option(
          "--table", wanted->table,
          "write tables of the results there as Markdown; into its places for them if it exists")
      ->type_name("FILE");
  bench
      ->add_option(
          "--rounds", wanted->how.rounds,
          fmt::format("samples of each library at each point (default: {})", wanted->how.rounds))
      ->check(CLI::Range(std::size_t{1}, std::size_t{10000}))
      ->type_name("R");
  bench
      ->add_option_function<unsigned>(
          "--sample-ms",
          [wanted](unsigned ms) { wanted->how.sample_time = std::chrono::milliseconds(ms); },
          fmt::format("length of a sample in milliseconds (default: {})",
                      wanted->how.sample_time.count()))
      ->check(CLI::Range(1u, 10000u))
      ->type_name("MS");
  bench
      ->add_option_function<unsigned>(
          "--timeout", [wanted](unsigned s) { wanted->how.patience = std::chrono::seconds(s); },
          fmt::format("seconds after which a silent library counts as hung (default: {})",
                      wanted->how.patience.count()))
      ->check(CLI::Range(1u, 86400u))
      ->type_name("S");
  CLI::Option* const late =
      bench
          ->add_option_function<std::string>(
              "--arrivals",
              [wanted](const std::string& text) { wanted->late = parse_arrivals(text); },
              fmt::format("how late ranks come to each call: {} (default: calls are back to back)",
                          arrivals::forms))
          ->check(CLI::Validator(checked(parse_arrivals), ""))
          ->type_name("SPEC");
  bench->add_option("--seed", wanted->seed, "of the arrivals' random numbers (default: 1)")
      ->needs(late)
      ->type_name("N");
  bench
      ->add_option_function<std::uint64_t>(
          "--message-time",
          [wanted](std::uint64_t ns) { wanted->message_time = std::chrono::nanoseconds(ns); },
          "nanoseconds of a message, for arrivals (default: as measured, by size)")
      ->check(CLI::Range(std::uint64_t{0}, std::uint64_t{1000000000}))
      ->needs(late)
      ->type_name("NS");
  bench
      ->add_option_function<std::vector<int>>(
          "--probe-cpus",
          [wanted](const std::vector<int>& cpus) {
            wanted->probe = shm::cpu_pair{cpus[0], cpus[1]};
          },
          "the two CPUs between which the trip is probed (default: two on different cores)")
      ->expected(2)
      ->delimiter(',')
      ->check(CLI::NonNegativeNumber)
      ->type_name("A,B");
  bench->add_flag("-q,--quiet", wanted->quiet, "no progress");
  bench->callback([wanted, bench, done = std::move(done)] {
    const bool asks_for_plot = bench->get_option("--plot")->count() != 0;
    if (wanted->format == output_format::osu && !asks_for_plot) wanted->plot.clear();
    done(run_bench(*wanted));
  });
}

}  // namespace muster::bench
