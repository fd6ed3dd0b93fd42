#include "tools/command/mpirun/words.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>

namespace muster::mpirun {
namespace {

using names = std::span<const std::string_view>;

bool has(names all, std::string_view name) { return std::ranges::find(all, name) != all.end(); }

/// Options that are followed by one argument. All others that are not in `with_two` stand alone.
names with_one(mpi as) {
  // Those of Open MPI 4 and 5.
  static constexpr auto openmpi = std::to_array<std::string_view>({"H",
                                                                   "N",
                                                                   "am",
                                                                   "app",
                                                                   "bind-to",
                                                                   "c",
                                                                   "cartofile",
                                                                   "cf",
                                                                   "cpu-list",
                                                                   "cpu-set",
                                                                   "cpus-per-proc",
                                                                   "cpus-per-rank",
                                                                   "debugger",
                                                                   "default-hostfile",
                                                                   "display",
                                                                   "hnp",
                                                                   "host",
                                                                   "hostfile",
                                                                   "launch-agent",
                                                                   "machinefile",
                                                                   "map-by",
                                                                   "max-restarts",
                                                                   "max-vm-size",
                                                                   "n",
                                                                   "np",
                                                                   "npernode",
                                                                   "npersocket",
                                                                   "ompi-server",
                                                                   "output",
                                                                   "output-filename",
                                                                   "path",
                                                                   "personality",
                                                                   "ppr",
                                                                   "prefix",
                                                                   "preload-files",
                                                                   "rank-by",
                                                                   "rankfile",
                                                                   "report-events",
                                                                   "report-pid",
                                                                   "report-uri",
                                                                   "rf",
                                                                   "runtime-options",
                                                                   "stdin",
                                                                   "timeout",
                                                                   "tune",
                                                                   "wd",
                                                                   "wdir",
                                                                   "with-ft",
                                                                   "x",
                                                                   "xml-file",
                                                                   "xterm"});
  static constexpr auto hydra = std::to_array<std::string_view>({"bind-to",
                                                                 "binding",
                                                                 "bootstrap",
                                                                 "bootstrap-exec",
                                                                 "configfile",
                                                                 "demux",
                                                                 "envlist",
                                                                 "errfile",
                                                                 "errfile-pattern",
                                                                 "f",
                                                                 "genvlist",
                                                                 "gpus-per-proc",
                                                                 "host",
                                                                 "hostfile",
                                                                 "hosts",
                                                                 "iface",
                                                                 "launcher",
                                                                 "launcher-exec",
                                                                 "localhost",
                                                                 "machinefile",
                                                                 "map-by",
                                                                 "membind",
                                                                 "n",
                                                                 "nameserver",
                                                                 "np",
                                                                 "order-nodes",
                                                                 "outfile",
                                                                 "outfile-pattern",
                                                                 "path",
                                                                 "ppn",
                                                                 "prepend-pattern",
                                                                 "rmk",
                                                                 "s",
                                                                 "timeout",
                                                                 "topolib",
                                                                 "usize",
                                                                 "wdir"});
  return as == mpi::openmpi ? names(openmpi) : names(hydra);
}

names with_two(mpi as) {
  static constexpr auto openmpi =
      std::to_array<std::string_view>({"gmca", "mca", "omca", "pmixmca", "prtemca"});
  static constexpr auto hydra = std::to_array<std::string_view>({"env", "genv"});
  return as == mpi::openmpi ? names(openmpi) : names(hydra);
}

/// With which ranks may come to run elsewhere.
constexpr auto naming_hosts = std::to_array<std::string_view>(
    {"H", "default-hostfile", "f", "host", "hostfile", "hosts", "machinefile"});

constexpr auto naming_ranks = std::to_array<std::string_view>({"c", "n", "np"});

std::string_view without_dashes(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  return word;
}

std::size_t arguments_after(std::string_view name, mpi as) {
  if (has(with_two(as), name)) return 2;
  return has(with_one(as), name) ? 1 : 0;
}

part parse_part(std::span<const std::string> all, mpi as) {
  std::size_t at = 0;
  while (at < all.size() && all[at].starts_with('-')) {
    at = std::min(all.size(), at + 1 + arguments_after(without_dashes(all[at]), as));
  }
  const auto program = all.begin() + static_cast<std::ptrdiff_t>(at);
  return {{all.begin(), program}, {program, all.end()}};
}

std::optional<std::size_t> ranks_of(part& in, mpi as) {
  std::optional<std::size_t> ranks;
  for (const option& one : options_of(in, as)) {
    if (has(naming_hosts, one.name)) return std::nullopt;
    if (!has(naming_ranks, one.name) || one.arguments.empty()) continue;
    const std::string& text = one.arguments.front();
    std::size_t number = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), number).ec == std::errc{}) {
      ranks = number;
    }
  }
  return ranks;
}

constexpr std::string_view preload_name = "LD_PRELOAD";

std::string joined(std::string_view before, const std::string& file) {
  return before.empty() ? file : std::string(before) + ":" + file;
}

std::string_view in_environment() {
  const char* const value = std::getenv("LD_PRELOAD");
  return value == nullptr ? std::string_view() : value;
}

/// Adds to what `-x LD_PRELOAD`, `-x LD_PRELOAD=FILE` or `-genv LD_PRELOAD FILE` sets; false where
/// the option is none of these.
bool add_to(const option& one, const std::string& file, mpi as) {
  if (as == mpi::mpich) {
    const bool sets = one.name == "genv" || one.name == "env";
    if (!sets || one.arguments.size() != 2 || one.arguments[0] != preload_name) return false;
    one.arguments[1] = joined(one.arguments[1], file);
    return true;
  }
  if (one.name != "x" || one.arguments.size() != 1) return false;
  std::string& said = one.arguments[0];
  if (said == preload_name) {
    said += "=" + joined(in_environment(), file);
    return true;
  }
  const std::string sets = std::string(preload_name) + "=";
  if (!said.starts_with(sets)) return false;
  said = sets + joined(std::string_view(said).substr(sets.size()), file);
  return true;
}

}  // namespace

std::vector<part> split(std::span<const std::string> all, mpi as) {
  std::vector<part> parts;
  while (true) {
    const auto colon = std::ranges::find(all, ":");
    const auto length = static_cast<std::size_t>(colon - all.begin());
    parts.push_back(parse_part(all.first(length), as));
    if (colon == all.end()) return parts;
    all = all.subspan(length + 1);
  }
}

std::vector<option> options_of(part& in, mpi as) {
  std::vector<option> all;
  const std::span<std::string> words(in.options);
  for (std::size_t at = 0; at < words.size();) {
    const std::string_view name = without_dashes(words[at]);
    const std::size_t arguments = std::min(arguments_after(name, as), words.size() - at - 1);
    all.push_back({name, words.subspan(at + 1, arguments)});
    at += 1 + arguments;
  }
  return all;
}

std::optional<std::size_t> ranks_asked_for(std::span<part> all, mpi as) {
  std::size_t sum = 0;
  for (part& one : all) {
    const auto ranks = ranks_of(one, as);
    if (!ranks) return std::nullopt;
    sum += *ranks;
  }
  return sum;
}

std::string folder_of(part& in, mpi as) {
  std::string folder = ".";
  for (const option& one : options_of(in, as)) {
    const bool names_it = one.name == "wdir" || one.name == "wd";
    if (names_it && !one.arguments.empty()) folder = one.arguments.front();
  }
  return folder;
}

void preload(part& in, const std::string& file, mpi as, bool is_first) {
  bool added = false;
  for (const option& one : options_of(in, as)) added = add_to(one, file, as) || added;
  // Hydra's -genv is for all parts, and for the first one to say.
  if (added || (as == mpi::mpich && !is_first)) return;
  const words told = set_variable(as, std::string(preload_name), joined(in_environment(), file));
  in.options.insert(in.options.end(), told.begin(), told.end());
}

}  // namespace muster::mpirun
