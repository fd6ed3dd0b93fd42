#include "tools/command/shared/algorithms.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iterator>
#include <muster/muster.hpp>
#include <stdexcept>
#include <utility>

#include "tools/command/shared/command_line.hpp"

namespace muster::bench {
namespace {

/// `flat, pairwise, auto`
std::string ids_of(catalog rows, collective what) {
  std::string ids;
  for (const algorithm& row : rows) {
    if (row.what == what) ids += std::string(row.id) + ", ";
  }
  return ids + std::string(automatic);
}

bool has_algorithm(catalog rows, collective what, std::string_view asked) {
  if (asked == automatic) return true;
  const std::string_view id = asked.substr(0, asked.find(':'));
  return std::any_of(rows.begin(), rows.end(),
                     [&](const algorithm& row) { return row.what == what && row.id == id; });
}

[[noreturn]] void refuse(catalog rows, std::string_view asked, std::span<const collective> whats) {
  std::string names;
  std::string known = whats.size() == 1 ? " " + ids_of(rows, whats[0]) : "";
  for (const collective what : whats) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", name(what));
    if (whats.size() > 1) known += fmt::format("\n  of {}: {}", name(what), ids_of(rows, what));
  }
  throw std::runtime_error(fmt::format("--algorithms: '{}' is not an algorithm of {}; there are:{}",
                                       asked, names, known));
}

std::vector<std::string> each_once(std::span<const std::string> all) {
  std::vector<std::string> some;
  for (const std::string& one : all) {
    if (std::find(some.begin(), some.end(), one) == some.end()) some.push_back(one);
  }
  return some;
}

/// A team knows what options there are; one of a single rank is quickly made.
void require_options(catalog rows, std::span<const std::string> asked,
                     std::span<const collective> whats) {
  const auto look_up = [&](const team& alone) {
    for (const collective what : whats) {
      for (const std::string& one : algorithms_of(rows, what, asked)) {
        if (one != automatic) alone.selector().find(what, one);
      }
    }
  };
  try {
    run_threads(1, look_up, {.algorithms = rows});
  } catch (const error& why) {
    throw std::runtime_error("--algorithms: " + why.text());
  }
}

}  // namespace

std::vector<std::string> parse_algorithms(std::string_view text) {
  std::vector<std::string> all;
  const auto add_option = [&all](std::string_view option) {
    const bool first = all.back().find(':') == std::string::npos;
    all.back() += fmt::format("{}{}", first ? ':' : ',', option);
  };
  for (std::size_t start = 0; start <= text.size();) {
    const std::size_t end = std::min(text.find(',', start), text.size());
    const std::string_view part = text.substr(start, end - start);
    const bool is_option =
        part.find('=') != std::string_view::npos && part.find(':') == std::string_view::npos;
    if (part.empty() || (is_option && all.empty())) {
      throw std::invalid_argument(
          fmt::format("'{}' is not a list of algorithms; expected ids with commas between them, "
                      "each with options or without: bruck:ports=2,groups=2",
                      text));
    }
    if (is_option) {
      add_option(part);
    } else {
      all.emplace_back(part);
    }
    start = end + 1;
  }
  return each_once(all);
}

std::vector<std::string> algorithms_of(catalog rows, collective what,
                                       std::span<const std::string> asked) {
  std::vector<std::string> its;
  std::copy_if(asked.begin(), asked.end(), std::back_inserter(its),
               [&](const std::string& one) { return has_algorithm(rows, what, one); });
  return its;
}

void require_algorithms(catalog rows, std::span<const std::string> asked,
                        std::span<const collective> whats) {
  for (const std::string& one : asked) {
    const auto has_it = [&](collective what) { return has_algorithm(rows, what, one); };
    if (std::none_of(whats.begin(), whats.end(), has_it)) refuse(rows, one, whats);
  }
  const auto has_options = [](const std::string& one) { return one.find(':') != one.npos; };
  if (std::any_of(asked.begin(), asked.end(), has_options)) require_options(rows, asked, whats);
}

CLI::Option* add_algorithms_option(CLI::App& command,
                                   std::function<void(std::vector<std::string>)> set) {
  const auto take = [set = std::move(set)](const std::vector<std::string>& texts) {
    set(parse_algorithms(fmt::format("{}", fmt::join(texts, ","))));
  };
  return command
      .add_option_function<std::vector<std::string>>(
          "--algorithms", take,
          "ids of the catalog, see muster info, with options or without (bruck:ports=2); auto: as "
          "the catalog chooses (default: auto)")
      ->allow_extra_args(false)
      ->check(CLI::Validator(checked(parse_algorithms), ""))
      ->type_name("ID,ID,...");
}

}  // namespace muster::bench
