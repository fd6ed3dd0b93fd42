#include <muster/select/selector.hpp>

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>
#include <utility>

#include <muster/base/error.hpp>

namespace muster {

selector::selector(const muster::shape& ranks, const muster::machine& measured,
                   muster::catalog rows)
    : shape_(ranks), machine_(measured), catalog_(rows) {
  for (const algorithm& row : catalog_) {
    rows_for_[static_cast<std::size_t>(row.what)].push_back(&row);
  }
}

void selector::select_as(const selector& other) {
  chosen_ = other.chosen_;
  table_ = other.table_;
  table_choices_ = other.table_choices_;
  find_leaving();
}

namespace {

std::string listed(std::span<const algorithm* const> rows) {
  std::string ids;
  for (const algorithm* const row : rows) ids += (ids.empty() ? "" : ", ") + std::string(row->id);
  return ids;
}

/// Reads "ports=2,groups=4".
tuning parse_tuning(std::string_view text, const algorithm& of) {
  const auto refuse = [&, options = text] {
    std::string known;
    if (of.has_ports) known += "ports=1 to 255";
    if (of.has_groups) known += std::string(known.empty() ? "" : ", ") + "groups=1 to 255";
    throw error(errc::invalid_argument, "algorithm '" + std::string(of.id) + "' for " +
                                            std::string(name(of.what)) + " has no option '" +
                                            std::string(options) +
                                            "'; expected: " + (known.empty() ? "none" : known));
  };
  tuning how;
  while (!text.empty()) {
    const std::string_view option = text.substr(0, text.find(','));
    text.remove_prefix(std::min(text.size(), option.size() + 1));
    const std::string_view key = option.substr(0, option.find('='));
    const std::string_view number = option.substr(std::min(option.size(), key.size() + 1));
    std::uint8_t value = 0;
    const auto [end, why] = std::from_chars(number.data(), number.data() + number.size(), value);
    if (why != std::errc() || end != number.data() + number.size() || value == 0) refuse();
    if (key == "ports" && of.has_ports) {
      how.ports = value;
    } else if (key == "groups" && of.has_groups) {
      how.groups = value;
    } else {
      refuse();
    }
  }
  return how;
}

}  // namespace

choice selector::find(collective what, std::string_view text) const {
  const std::string_view id = text.substr(0, text.find(':'));
  const auto& rows = rows_for_[static_cast<std::size_t>(what)];
  const auto found = std::ranges::find(rows, id, &algorithm::id);
  if (found == rows.end()) {
    throw error(errc::invalid_argument, "no algorithm '" + std::string(id) + "' for " +
                                            std::string(name(what)) +
                                            "; expected one of: " + listed(rows));
  }
  return {*found, parse_tuning(text.substr(std::min(text.size(), id.size() + 1)), **found)};
}

void selector::choose(collective what, std::string_view text) {
  last_[static_cast<std::size_t>(what)].forget();
  chosen_[static_cast<std::size_t>(what)] = text.empty() ? choice{} : find(what, text);
  find_leaving();
}

void selector::find_leaving() noexcept {
  leaving_ = {};
  const auto note = [this](std::size_t what, const choice& one) {
    if (one.row != nullptr) leaving_[what][static_cast<std::size_t>(one.row->leaves)] = true;
  };
  for (std::size_t what = 0; what < collectives; ++what) note(what, chosen_[what]);
  for (std::size_t i = 0; i < table_choices_.size(); ++i) {
    const selection_table::rule& each = table_->rules()[i];
    if (each.is_for(shape_)) note(static_cast<std::size_t>(each.what), table_choices_[i]);
  }
}

void selector::select_by(std::shared_ptr<const selection_table> table) {
  std::vector<choice> choices;
  for (const selection_table::rule& each : table->rules()) {
    choices.push_back(find(each.what, each.algorithm));
  }
  for (last_prepared& last : last_) last.forget();
  table_ = std::move(table);
  table_choices_ = std::move(choices);
  find_leaving();
}

choice selector::from_table(const arguments& call) const {
  arguments tuned = call;
  const auto match_from = [&](std::size_t from) { return table_->first_match(shape_, call, from); };
  for (std::size_t i = match_from(0); i < table_choices_.size(); i = match_from(i + 1)) {
    tuned.how = table_choices_[i].how;
    if (table_choices_[i].row->suits(shape_, machine_, tuned)) return table_choices_[i];
  }
  return {};
}

choice selector::select(const arguments& call, const choice& by_hand) const {
  const auto what = static_cast<std::size_t>(call.what);
  const choice& wanted = by_hand.row != nullptr ? by_hand : chosen_[what];
  const auto suits = [&](const algorithm* row) { return row->suits(shape_, machine_, call); };
  const bool is_passed_over =
      wanted.row != nullptr && wanted.row->leaves != leavable::no && !suits(wanted.row);
  if (wanted.row != nullptr && !is_passed_over) {
    arguments tuned = call;
    tuned.how = wanted.how;
    if (wanted.row->suits(shape_, machine_, tuned)) return wanted;
    std::vector<const algorithm*> others;
    std::ranges::copy_if(rows_for_[what], std::back_inserter(others), suits);
    throw error(errc::invalid_argument,
                std::string(name(call.what)) + ": algorithm '" + std::string(wanted.row->id) +
                    "' was chosen by hand but does not suit this team and size; expected one of: " +
                    listed(others));
  }
  if (table_ != nullptr) {
    if (const choice tabled = from_table(call); tabled.row != nullptr) return tabled;
  }
  for (const algorithm* row : rows_for_[what]) {
    if (suits(row) && (row->pays == nullptr || row->pays(shape_, machine_, call))) return {row, {}};
  }
  throw error(errc::invalid_argument,
              std::string(name(call.what)) + ": the catalog has no algorithm for this call");
}

}  // namespace muster
