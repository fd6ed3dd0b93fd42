#include <muster/environment/environment.hpp>

#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>

namespace muster {

std::string environment_name(collective what) {
  std::string result = "MUSTER_";
  for (const char letter : name(what)) {
    const bool is_small = letter >= 'a' && letter <= 'z';
    result += is_small ? static_cast<char>(letter - 'a' + 'A') : letter;
  }
  return result;
}

}  // namespace muster

namespace muster::environment {
namespace {

constexpr std::string_view prefix = "MUSTER_";

constexpr std::array all_variables{
    table,         arrivals,      why,         why_signal, link_memory, rendezvous,
    rank,          size,          key_file,    interfaces, ports,       connections,
    fabric,        verbs_devices, queue_pairs, traffic,    zero_copy,   reactor,
    timeout,       enable,        net,         progress,   report,      kernel_copies_from,
    bench_workers, test_seed,     test_rows,   job,        respawn,     bench_socket};

std::vector<std::string> all_names() {
  std::vector<std::string> names;
  for (const variable& one : all_variables) names.emplace_back(one.name);
  for (std::size_t i = 0; i < collectives; ++i) {
    names.push_back(environment_name(static_cast<collective>(i)));
  }
  return names;
}

/// How many letters must be put in, taken out or replaced to make one of the other.
std::size_t edits_between(std::string_view one, std::string_view other) {
  std::vector<std::size_t> row(other.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < one.size(); ++i) {
    std::size_t corner = i;  // above and to the left
    row[0] = i + 1;
    for (std::size_t j = 0; j < other.size(); ++j) {
      const std::size_t replaced = corner + (one[i] != other[j]);
      corner = row[j + 1];
      row[j + 1] = std::min({replaced, row[j] + 1, row[j + 1] + 1});
    }
  }
  return row.back();
}

/// The known name that is like this one; empty: none is.
std::string nearest(std::string_view name) {
  constexpr std::size_t most = 3;
  std::size_t least = most;
  std::string found;
  for (std::string& known : all_names()) {
    const std::size_t apart = edits_between(name, known);
    if (apart >= least) continue;
    least = apart;
    found = std::move(known);
  }
  return found;
}

std::vector<std::string_view> names_in_environment() {
  std::vector<std::string_view> names;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    names.push_back(std::string_view(*entry).substr(0, std::strcspn(*entry, "=")));
  }
  return names;
}

std::string row_of(std::string_view name, const variable& one) {
  std::string text = "|";
  for (const std::string_view cell : {name, one.values, one.otherwise, one.what, one.reader}) {
    text += " " + std::string(cell) + " |";
  }
  return text + "\n";
}

std::string table_for(audience whom) {
  std::string text =
      "| variable | values | where it is not set | what it does | who reads it |\n"
      "|---|---|---|---|---|\n";
  for (const variable& one : all_variables) {
    if (one.whom == whom) text += row_of("`" + std::string(one.name) + "`", one);
  }
  if (whom != audience::programs) return text;
  std::string names;
  for (std::size_t i = 0; i < collectives; ++i) {
    names += (i == 0 ? "`" : ", `") + environment_name(static_cast<collective>(i)) + "`";
  }
  return text + row_of(names, {.name = "",
                               .values = "an algorithm, as in `bruck:ports=2`",
                               .otherwise = "Muster selects one for each call",
                               .what = "All calls of this collective use it; `muster info "
                                       "--algorithms` lists those there are.",
                               .reader = "each rank, when its `world` or thread begins",
                               .whom = whom});
}

}  // namespace

std::span<const variable> variables() noexcept { return all_variables; }

const char* read(const variable& which) noexcept { return std::getenv(which.name); }

const char* read(const std::string& name) { return std::getenv(name.c_str()); }

bool is_known(std::string_view name) {
  return std::ranges::any_of(all_names(), [&](const std::string& known) { return known == name; });
}

std::optional<std::string> complaint_about(std::span<const std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) {
    if (!name.starts_with(prefix) || is_known(name)) continue;
    text += (text.empty() ? "" : ", ") + std::string(name);
    if (const std::string meant = nearest(name); !meant.empty()) text += " (" + meant + "?)";
  }
  if (text.empty()) return std::nullopt;
  return "muster: the environment has what nobody reads: " + text;
}

void report_unknown(bool speaks) {
  static std::atomic<bool> been_here{false};
  // relaxed: it guards nothing but itself.
  if (been_here.exchange(true, std::memory_order_relaxed) || !speaks) return;
  if (const auto complaint = complaint_about(names_in_environment())) {
    std::fprintf(stderr, "%s\n", complaint->c_str());
  }
}

std::string page() {
  return "# The environment's variables\n\n"
         "All that Muster reads; `muster info --environment` prints this page. They are the same "
         "on all "
         "ranks of a job, unless it says otherwise. Where the environment has another variable "
         "whose name begins "
         "with `" +
         std::string(prefix) +
         "`, rank 0 of the job, or the command, says so once on its error stream, with the name "
         "that may have "
         "been meant.\n\n"
         "## For programs\n\n" +
         table_for(audience::programs) +
         "\n## For MPI programs\n\nThese, and those for programs. [mpi.md](mpi.md) says more.\n\n" +
         table_for(audience::mpi_programs) + "\n## For commands\n\n" +
         table_for(audience::commands) + "\n## For tests\n\n" + table_for(audience::tests) +
         "\n## Muster's own\n\nOne part of Muster sets them for another.\n\n" +
         table_for(audience::muster);
}

}  // namespace muster::environment
