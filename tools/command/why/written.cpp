#include "tools/command/why/written.hpp"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <string>
#include <system_error>
#include <utility>

#include "tools/library/why/look.hpp"

namespace muster::why {
namespace {

using nlohmann::json;

std::uint64_t hexadecimal(const json& text) {
  const auto& digits = text.get_ref<const std::string&>();
  std::uint64_t value = 0;
  const char* const end = digits.data() + digits.size();
  const auto [stop, code] = std::from_chars(digits.data(), end, value, 16);
  if (code != std::errc{} || stop != end) {
    throw std::runtime_error("'" + digits + "'; expected hexadecimal digits");
  }
  return value;
}

/// Asked first: a number of another kind, or beyond, would be converted all the same.
bool is_number_up_to(const json& from, std::uint64_t last) {
  return from.is_number_unsigned() && from.get<std::uint64_t>() <= last;
}

template <class Number = std::uint64_t>
Number number_of(const json& from) {
  constexpr auto last = static_cast<std::uint64_t>(std::numeric_limits<Number>::max());
  if (!is_number_up_to(from, last)) {
    throw std::runtime_error(from.dump() + "; expected a number from 0 to " + std::to_string(last));
  }
  return from.get<Number>();
}

std::int64_t time_of(const json& from) {
  if (!is_number_up_to(from, static_cast<std::uint64_t>(last_time_ns))) {
    throw std::runtime_error(from.dump() + "; expected nanoseconds since 1970");
  }
  return from.get<std::int64_t>();
}

seen_team team_of(const json& from) {
  return {.id = hexadecimal(from.at("id")),
          .parent = hexadecimal(from.at("parent")),
          .turn = number_of(from.at("turn")),
          .ranks = number_of(from.at("ranks")),
          .rank = number_of(from.at("rank"))};
}

seen_call call_of(const json& from) {
  seen_call call;
  call.team = hexadecimal(from.at("team"));
  call.sequence = number_of<std::uint32_t>(from.at("sequence"));
  call.history = static_cast<std::uint32_t>(hexadecimal(from.at("history")));
  call.kind = hexadecimal(from.at("kind"));
  call.count = number_of(from.at("count"));
  call.root = number_of(from.at("root"));
  call.begun_ns = time_of(from.value("begun_ns", json(0U)));
  if (from.contains("awaited")) {
    call.is = seen_call::state::under_way;
    call.awaited = number_of(from.at("awaited"));
    call.first_awaited = number_of(from.at("first_awaited"));
    return call;
  }
  call.ended_ns = time_of(from.value("ended_ns", json(0U)));
  call.is = from.at("failed").get<bool>() ? seen_call::state::failed : seen_call::state::ended;
  return call;
}

seen_rank rank_of(const json& from) {
  seen_rank rank;
  rank.rank = number_of(from.at("rank"));
  rank.ranks = number_of(from.at("ranks"));
  require_rank(rank);
  rank.process = number_of<std::int64_t>(from.at("process"));
  rank.host = std::string_view(from.at("host").get_ref<const std::string&>());
  rank.started_ns = time_of(from.at("started_ns"));
  rank.seen_ns = time_of(from.at("seen_ns"));
  const std::string state = from.at("state");
  rank.state = state.empty() ? process::unknown : state.front();
  rank.has_left = from.at("has_left");
  rank.looked_ns = time_of(from.at("looked_ns"));
  rank.is_asleep = from.at("is_asleep");
  for (const json& each : from.at("teams")) rank.teams.push_back(team_of(each));
  for (const json& each : from.at("calls")) rank.calls.push_back(call_of(each));
  return rank;
}

bool is_written_by_ranks(const std::filesystem::path& file) {
  return file.filename().string().starts_with("muster-why.") && file.extension() == ".json";
}

std::int64_t last_seen(const std::vector<seen_rank>& ranks) {
  std::int64_t last = 0;
  for (const seen_rank& each : ranks) last = std::max(last, each.seen_ns);
  return last;
}

written read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  try {
    return parse(text);
  } catch (const std::runtime_error& why) {
    throw std::runtime_error(path.string() + ": " + why.what());
  }
}

}  // namespace

written parse(std::string_view text) {
  written all;
  try {
    const json from = json::parse(text);
    if (from.at("muster_why") != 1) throw std::runtime_error("it is of another version of Muster");
    all.reason = from.at("reason");
    for (const json& each : from.at("ranks")) all.ranks.push_back(rank_of(each));
  } catch (const json::exception& why) {
    throw std::runtime_error(why.what());
  }
  return all;
}

std::vector<seen_rank> latest_of_each(std::vector<seen_rank> ranks) {
  std::ranges::sort(ranks, [](const seen_rank& one, const seen_rank& other) {
    return one.rank != other.rank ? one.rank < other.rank : one.seen_ns > other.seen_ns;
  });
  const auto newest = std::ranges::max_element(ranks, {}, &seen_rank::started_ns);
  const std::int64_t began = newest == ranks.end() ? 0 : newest->started_ns;
  std::erase_if(ranks, [&](const seen_rank& each) { return each.seen_ns < began; });
  const auto rest = std::ranges::unique(ranks, {}, &seen_rank::rank);
  ranks.erase(rest.begin(), rest.end());
  return ranks;
}

written read_folder(const std::filesystem::path& folder) {
  written all;
  std::int64_t last = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!is_written_by_ranks(entry.path())) continue;
    written one = read_file(entry.path());
    const std::int64_t seen = last_seen(one.ranks);
    if (seen >= last) {
      last = seen;
      all.reason = std::move(one.reason);
    }
    std::ranges::move(one.ranks, std::back_inserter(all.ranks));
  }
  all.ranks = latest_of_each(std::move(all.ranks));
  if (!all.ranks.empty()) return all;
  throw std::runtime_error(folder.string() +
                           " has nothing that ranks have written; expected the folder of "
                           "MUSTER_WHY");
}

}  // namespace muster::why
