#include "engine/team/team.hpp"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <string>
#include <utility>

#include "engine/environment.hpp"
#include "engine/random.hpp"

namespace muster {

std::string environment_name(collective what) {
  std::string result = "MUSTER_";
  for (const char letter : name(what)) {
    const bool is_small = letter >= 'a' && letter <= 'z';
    result += is_small ? static_cast<char>(letter - 'a' + 'A') : letter;
  }
  return result;
}

team::team(muster::engine& where, wire::fabric& reach, muster::shape ranks, std::size_t rank,
           muster::catalog rows, const muster::machine& measured)
    : engine_(where),
      fabric_(reach),
      shape_(std::move(ranks)),
      rank_(rank),
      node_(shape_.ranks_of(shape_.node_of(rank))),
      node_index_(shape_.index_of(rank)),
      catalog_(rows),
      machine_(measured),
      order_(reach.board().extent()),
      known_complete_(node_.size(), 0) {
  if (node_.size() > most_ranks_a_node) {
    throw error(errc::invalid_argument, "team: a node has " + std::to_string(node_.size()) +
                                            " ranks; expected at most " +
                                            std::to_string(most_ranks_a_node));
  }
  const std::uint32_t core = shape_.place_of(rank).core;
  for (const std::size_t other : node_) {
    if (core == place::unknown) break;
    if (other != rank && shape_.place_of(other).core == core) on_this_core_.push_back(other);
  }
  for (const algorithm& row : catalog_) {
    rows_for_[static_cast<std::size_t>(row.what)].push_back(&row);
  }
}

namespace {

muster::shape shape_of(const muster::shape& all, std::span<const std::size_t> members) {
  std::vector<place> places;
  places.reserve(members.size());
  for (const std::size_t rank : members) places.push_back(all.place_of(rank));
  return muster::shape(std::move(places));
}

std::uint64_t id_of(std::uint64_t parent, std::span<const std::size_t> members,
                    std::uint64_t turn) {
  std::uint64_t id = mix_bits(parent ^ mix_bits(turn + 1));
  for (const std::size_t rank : members) id = mix_bits(id ^ rank);
  return id;
}

}  // namespace

team::team(const team& of, std::unique_ptr<wire::fabric>&& reach,
           std::span<const std::size_t> members, std::size_t rank, std::uint64_t turn)
    : team(of.engine_, *reach, shape_of(of.shape_, members), rank, of.catalog_, of.machine_) {
  chosen_ = of.chosen_;
  table_ = of.table_;
  table_choices_ = of.table_choices_;
  id_ = id_of(of.id_, members, turn);
  arrivals_ = of.arrivals_;
  own_fabric_ = std::move(reach);  // last: with what throws before, it stays the caller's
}

void choose_from_environment(team& of) {
  for (std::size_t i = 0; i < collectives; ++i) {
    const auto what = static_cast<collective>(i);
    if (const char* id = environment::read(environment_name(what))) of.choose(what, id);
  }
}

prepared_call team::prepare_call(const arguments& call) {
  // Where the engine has a thread of its own, calls are made on others, too.
  if (engine_.has_own_thread() || !exists(call.what)) return prepare(*this, call);
  last_prepared& last = last_[static_cast<std::size_t>(call.what)];
  if (const prepared_call* found = last.find(call)) return *found;
  return last.keep(call, prepare(*this, call));
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

choice team::find(collective what, std::string_view text) const {
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

void team::choose(collective what, std::string_view text) {
  last_[static_cast<std::size_t>(what)].forget();
  chosen_[static_cast<std::size_t>(what)] = text.empty() ? choice{} : find(what, text);
}

void team::select_by(std::shared_ptr<const selection_table> table) {
  std::vector<choice> choices;
  for (const selection_table::rule& each : table->rules()) {
    choices.push_back(find(each.what, each.algorithm));
  }
  for (last_prepared& last : last_) last.forget();
  table_ = std::move(table);
  table_choices_ = std::move(choices);
}

choice team::from_table(const arguments& call) const {
  arguments tuned = call;
  const auto match_from = [&](std::size_t from) { return table_->first_match(shape_, call, from); };
  for (std::size_t i = match_from(0); i < table_choices_.size(); i = match_from(i + 1)) {
    tuned.how = table_choices_[i].how;
    if (table_choices_[i].row->suits(shape_, machine_, tuned)) return table_choices_[i];
  }
  return {};
}

choice team::select(const arguments& call, const choice& by_hand) const {
  const auto what = static_cast<std::size_t>(call.what);
  const choice& wanted = by_hand.row != nullptr ? by_hand : chosen_[what];
  const auto suits = [&](const algorithm* row) { return row->suits(shape_, machine_, call); };
  if (wanted.row != nullptr) {
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

void team::require_whole() const {
  if (!fabric_.broken()) return;
  const auto why = fabric_.failed();
  if (why) throw error(why->code, "the team is broken: " + why->text, why->rank);
}

}  // namespace muster
