// A program's calls as a table. Every line says whose it is, so that it can be told from what the
// program prints.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tools/mpi/report.hpp"
#include "tools/report/profile_report.hpp"
#include "tools/report/sizes.hpp"

namespace muster::mpi {
namespace {

using bench::readable_bytes;
using bench::readable_time;

constexpr std::string_view mark = "muster: ";
constexpr std::string_view nothing = "–";

/// The columns with numbers, between what is called and who carried it out.
constexpr std::size_t columns = 9;
using cells = std::array<std::string, columns>;
struct row {
  std::string name;
  cells numbers;
  std::string by;
};

/// "1000", or "10–1000" where ranks differ.
std::string calls_a_rank(const summary::line& one, std::size_t ranks) {
  const std::uint64_t least = one.ranks < ranks ? 0 : one.least;
  return least == one.most ? fmt::format("{}", least) : fmt::format("{}–{}", least, one.most);
}

/// "ring 40, pairwise 20, MPI 10 (intercommunicator)", or only "ring".
std::string ways_of(const usage& one) {
  const bool many = one.algorithms.size() + one.reasons.size() > 1;
  std::vector<std::string> all;
  for (const auto& [id, calls] : one.algorithms) {
    all.push_back(many ? fmt::format("{} {}", id, calls) : id);
  }
  for (const auto& [why, calls] : one.reasons) {
    all.push_back(many ? fmt::format("MPI {} ({})", calls, why) : fmt::format("MPI ({})", why));
  }
  return fmt::format("{}", fmt::join(all, ", "));
}

/// Bytes, all and of a call.
void put_bytes(const usage& one, cells& into) {
  if (one.bytes == 0) return;
  into[2] = readable_bytes(one.bytes);
  into[3] = readable_bytes(one.bytes / one.taken);
}

/// Time, all and of a call. Meanwhile programs compute while an operation that does not block goes
/// on: its time is nobody's.
void put_time(kind of, const usage& one, cells& into) {
  if (of.how != form::blocking) {
    if (one.arrivals) into[5] = readable_time(one.arrivals->time_ns / 1e3);
  } else if (one.taken != 0) {
    const double us = static_cast<double>(one.nanoseconds) / 1e3;
    into[4] = readable_time(us);
    into[5] = readable_time(us / static_cast<double>(one.taken));
  }
}

void put_balance(const usage& one, cells& into) {
  if (!one.arrivals) return;
  into[6] = profile::readable_factor(one.arrivals->average_case);
  into[7] = profile::readable_factor(one.arrivals->worst_case);
  into[8] = profile::readable_factor(one.arrivals->most);
}

row row_of(kind of, const summary::line& one, std::size_t ranks) {
  row result{of.name(), {}, ways_of(one.sum)};
  result.numbers.fill(std::string(nothing));
  result.numbers[0] = fmt::format("{}", one.sum.calls());
  result.numbers[1] = calls_a_rank(one, ranks);
  put_bytes(one.sum, result.numbers);
  put_time(of, one.sum, result.numbers);
  put_balance(one.sum, result.numbers);
  return result;
}

/// As many letters as a reader sees.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(
      std::ranges::count_if(text, [](char c) { return (c & 0xc0) != 0x80; }));
}

std::string aligned(const std::vector<row>& rows) {
  std::size_t name_width = 0;
  std::array<std::size_t, columns> widths{};
  for (const row& one : rows) {
    name_width = std::max(name_width, one.name.size());
    for (std::size_t i = 0; i < columns; ++i) {
      widths[i] = std::max(widths[i], width_of(one.numbers[i]));
    }
  }
  std::string text;
  for (const row& one : rows) {
    text += fmt::format("{}{:<{}}", mark, one.name, name_width);
    for (std::size_t i = 0; i < columns; ++i) text += bench::right(one.numbers[i], widths[i] + 2);
    text += fmt::format("  {}\n", one.by);
  }
  return text;
}

std::string table(const summary& all) {
  std::vector<row> rows;
  rows.push_back({"call",
                  {"calls", "a rank", "bytes", "a call", "time", "a call", "d/T", "Δ/T", "most"},
                  "carried out by"});
  for (const auto& [of, one] : all.lines) rows.push_back(row_of(of, one, all.ranks - all.without));
  return aligned(rows) +
         fmt::format(
             "{0}calls, bytes contributed and time are those of all ranks; a nonblocking call's "
             "time is from its beginning to its completion\n"
             "{0}d: distance of an arrival from their mean; Δ: from the first arrival to the last; "
             "T: what a message of so many bytes takes\n",
             mark);
}

std::string share(std::uint64_t taken, std::uint64_t calls) {
  // Not 100 % where it is not all.
  if (taken == calls) return "all";
  const std::uint64_t tenths = taken * 1000 / calls;
  return fmt::format("{}.{} %", tenths / 10, tenths % 10);
}

}  // namespace

std::string describe(const summary& all) {
  std::uint64_t calls = 0;
  std::uint64_t taken = 0;
  for (const auto& [of, one] : all.lines) {
    calls += one.sum.calls();
    taken += one.sum.taken;
  }
  if (all.without == all.ranks) {
    return fmt::format("{}took no calls: the collectives of all {} ranks went to the MPI\n", mark,
                       all.ranks);
  }
  std::string text;
  if (calls != 0) text += table(all);
  if (all.without != 0) {
    text += fmt::format("{}calls of {} of {} ranks, which went to the MPI, are not among these\n",
                        mark, all.without, all.ranks);
  }
  if (calls == 0) return text + fmt::format("{}there were no collective calls\n", mark);
  return text +
         fmt::format("{}carried out {} of {} collective calls\n", mark, share(taken, calls), calls);
}

}  // namespace muster::mpi
