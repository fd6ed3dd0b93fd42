#include "tools/command/catalog/rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>
#include <string>

namespace muster::catalogs {
namespace {

/// `allgather 'mine'`
std::string title_of(const algorithm& row) {
  return fmt::format("{} '{}'", name(row.what), row.id);
}

bool is_id_letter(char letter) {
  return (letter >= 'a' && letter <= 'z') || (letter >= 'A' && letter <= 'Z') ||
         (letter >= '0' && letter <= '9') || letter == '_' || letter == '-' || letter == '.';
}

/// On command lines ids have commas, colons and spaces around them.
bool is_id(std::string_view text) {
  return !text.empty() && text != "auto" && std::ranges::all_of(text, is_id_letter);
}

/// What is wrong with a row; empty where nothing is.
std::string_view complaint_about(const algorithm& row) {
  if (row.summary.empty()) return "has no `summary`; expected a line for people";
  if (row.source.empty()) return "has no `source`; expected where it comes from";
  if (row.suits == nullptr) return "has no `suits`; expected a function: what it can run";
  if (row.stages == nullptr) return "has no `stages`; expected a function: the stages it uses";
  if (row.run == nullptr) return "has no `run`; expected a function: one rank's part";
  if (!row.formula.empty() && row.costs == nullptr) {
    return "has a `formula` but no `costs`; expected the same as figures";
  }
  if (row.costs != nullptr && row.formula.empty()) {
    return "has `costs` but no `formula`; expected the same for people";
  }
  return {};
}

void require_complete_row(const algorithm& row, std::size_t number, std::string_view origin) {
  if (!exists(row.what)) {
    throw std::runtime_error(
        fmt::format("{}: row {} ('{}') is for collective {}, which there is not; expected one of "
                    "the {} there are",
                    origin, number, row.id, static_cast<unsigned>(row.what), collectives));
  }
  if (!is_id(row.id)) {
    throw std::runtime_error(
        fmt::format("{}: row {}, for {}, has the id '{}'; expected letters, digits, '_', '-' and "
                    "'.', and another than auto",
                    origin, number, name(row.what), row.id));
  }
  if (const auto what = complaint_about(row); !what.empty()) {
    throw std::runtime_error(fmt::format("{}: {} {}", origin, title_of(row), what));
  }
}

const algorithm* namesake_of(const algorithm& row, catalog among) {
  const auto* const found = std::ranges::find_if(
      among, [&](const algorithm& one) { return one.what == row.what && one.id == row.id; });
  return found == among.end() ? nullptr : found;
}

}  // namespace

void require_complete(catalog rows, std::string_view origin) {
  if (rows.size() == 0) {
    throw std::runtime_error(
        fmt::format("{}: its catalog is empty; expected an algorithm", origin));
  }
  for (std::size_t i = 0; i < rows.size(); ++i) require_complete_row(rows[i], i, origin);
}

void require_own_names(catalog added, catalog there, std::string_view origin) {
  for (const algorithm& row : added) {
    if (const algorithm* const own = namesake_of(row, there)) {
      throw std::runtime_error(fmt::format(
          "{}: {} (\"{}\", {}) has the id of an algorithm of Muster's own (\"{}\", {}); expected "
          "another",
          origin, title_of(row), row.summary, row.source, own->summary, own->source));
    }
    if (const algorithm* const first = namesake_of(row, added); first != &row) {
      throw std::runtime_error(
          fmt::format("{}: two rows are {}: \"{}\" and \"{}\"; expected an id for each", origin,
                      title_of(row), first->summary, row.summary));
    }
  }
}

}  // namespace muster::catalogs
