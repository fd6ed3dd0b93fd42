#include "tools/command/shared/arrivals.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <stdexcept>
#include <utility>

#include <muster/base/random.hpp>

namespace muster::arrivals {
namespace {

using std::chrono::nanoseconds;

constexpr double most_mif = 1e6;

[[noreturn]] void refuse(std::string_view text, const std::string& why) {
  throw std::invalid_argument("'" + std::string(text) + "': " + why);
}

/// `key=value` pairs with commas between them, taken out one by one.
class settings {
public:
  /// `whole` and `form` are for complaints: what was given, and what was expected.
  settings(std::string_view text, std::string_view whole, std::string_view form)
      : whole_(whole), form_(form) {
    std::size_t start = 0;
    while (start <= text.size()) {
      const std::size_t end = std::min(text.find(',', start), text.size());
      pairs_.push_back(text.substr(start, end - start));
      start = end + 1;
    }
  }

  /// The number that `key` is set to, which `suffix` follows, within the bounds.
  double take(std::string_view key, std::string_view suffix, double least, double most) {
    const std::string_view value = take_text(key);
    double number = 0;
    const char* const end = value.data() + value.size();
    const auto [rest, error] = std::from_chars(value.data(), end, number);
    if (error != std::errc{} || std::string_view(rest, end) != suffix || !std::isfinite(number) ||
        number < least || number > most) {
      complain("'" + std::string(value) + "' is not a " + std::string(key));
    }
    return number;
  }

  void require_empty() const {
    if (!pairs_.empty()) complain("did not expect '" + std::string(pairs_.front()) + "'");
  }

  [[noreturn]] void complain(const std::string& what) const {
    refuse(whole_, what + "; expected " + std::string(form_));
  }

private:
  std::string_view take_text(std::string_view key) {
    const auto sets_key = [key](std::string_view pair) {
      return pair.starts_with(key) && pair.substr(key.size()).starts_with('=');
    };
    const auto found = std::find_if(pairs_.begin(), pairs_.end(), sets_key);
    if (found == pairs_.end()) complain("it sets no " + std::string(key));
    const std::string_view value = found->substr(key.size() + 1);
    pairs_.erase(found);
    return value;
  }

  std::string_view whole_;
  std::string_view form_;
  std::vector<std::string_view> pairs_;
};

random_delays parse_random(std::string_view text, std::string_view whole) {
  settings given(text, whole, "random:mif=F, F from 0 to 1000000, as in random:mif=32");
  const random_delays parsed{given.take("mif", "", 0, most_mif)};
  given.require_empty();
  return parsed;
}

late_share parse_late(std::string_view text, std::string_view whole) {
  settings given(text, whole,
                 "late:share=P%,mif=F, P above 0 and below 100, F from 0 to 1000000, as in "
                 "late:share=25%,mif=128");
  const double percent = given.take("share", "%", 0, 100);
  if (percent == 0 || percent == 100) given.complain("nobody would be later than another");
  const late_share parsed{percent / 100, given.take("mif", "", 0, most_mif)};
  given.require_empty();
  return parsed;
}

constexpr const char* file_form =
    R"(; expected {"unit": "ns", "delays": [[delay of rank 0, of rank 1, …], …]}, a list a call)";

nanoseconds parse_delay(const nlohmann::json& value, const std::string& call,
                        std::string_view whole) {
  constexpr std::uint64_t most = nanoseconds::max().count();
  // Signed is what the parser makes of negative numbers alone.
  if (!value.is_number_unsigned() || value.get<std::uint64_t>() > most) {
    refuse(whole, call + ": " + value.dump() + " is not a whole number of nanoseconds" + file_form);
  }
  return nanoseconds(value.get<std::int64_t>());
}

void append_call(recorded_delays& parsed, const nlohmann::json& list, const std::string& call,
                 std::string_view whole) {
  if (!list.is_array() || list.empty()) refuse(whole, call + ": no list of delays" + file_form);
  if (parsed.ranks == 0) parsed.ranks = list.size();
  if (list.size() != parsed.ranks) {
    refuse(whole, call + ": " + std::to_string(list.size()) + " delays; expected " +
                      std::to_string(parsed.ranks) + " as in call 0");
  }
  for (const nlohmann::json& value : list) {
    parsed.delays.push_back(parse_delay(value, call, whole));
  }
}

recorded_delays parse_recording(const nlohmann::json& recording, std::string_view whole) {
  if (!recording.is_object()) refuse(whole, std::string("not JSON of an object") + file_form);
  const auto unit = recording.find("unit");
  if (unit == recording.end() || *unit != "ns") {
    refuse(whole, std::string("its \"unit\" is not \"ns\"") + file_form);
  }
  const auto calls = recording.find("delays");
  if (calls == recording.end() || !calls->is_array() || calls->empty()) {
    refuse(whole, std::string("it has no \"delays\"") + file_form);
  }
  recorded_delays parsed;
  for (std::size_t call = 0; call < calls->size(); ++call) {
    append_call(parsed, (*calls)[call], "call " + std::to_string(call), whole);
  }
  return parsed;
}

recorded_delays read_recording(std::string_view path, std::string_view whole) {
  if (path.empty()) refuse(whole, "it names no file; expected file:PATH");
  std::ifstream file{std::string(path)};
  if (!file) refuse(whole, std::string("cannot read the file") + file_form);
  constexpr bool throws = false;
  return parse_recording(nlohmann::json::parse(file, nullptr, throws), whole);
}

std::uint64_t mixed(std::uint64_t word) { return random_stream(word).next(); }

/// A generator that counts calls and ranks instead of keeping a state.
std::uint64_t drawn(std::uint64_t seed, std::uint64_t call, std::size_t rank) {
  return mixed(mixed(mixed(seed) ^ call) ^ rank);
}

/// A MIF in time, far from overflow.
std::uint64_t longest_ns(double mif, const setting& around) {
  constexpr double most_ns = 9e18;
  const double ns = std::round(mif * static_cast<double>(around.message_time.count()));
  return static_cast<std::uint64_t>(std::clamp(ns, 0.0, most_ns));
}

nanoseconds delay_of(const on_time&, const setting&, std::size_t, std::uint64_t) {
  return nanoseconds(0);
}

nanoseconds delay_of(const random_delays& what, const setting& around, std::size_t rank,
                     std::uint64_t call) {
  using wide = unsigned __int128;
  const wide choices = wide{longest_ns(what.mif, around)} + 1;
  const auto ns = static_cast<std::int64_t>((drawn(around.seed, call, rank) * choices) >> 64);
  return nanoseconds(ns);
}

/// Late are the ranks that drew the least: so many at every call, and each as likely as another.
nanoseconds delay_of(const late_share& what, const setting& around, std::size_t rank,
                     std::uint64_t call) {
  const auto lot = [&](std::size_t of) { return std::pair(drawn(around.seed, call, of), of); };
  const auto mine = lot(rank);
  std::size_t before = 0;
  for (std::size_t other = 0; other < around.ranks; ++other) before += lot(other) < mine ? 1 : 0;
  const bool late = before < late_ranks(what, around.ranks);
  return nanoseconds(late ? static_cast<std::int64_t>(longest_ns(what.mif, around)) : 0);
}

nanoseconds delay_of(const recorded_delays& what, const setting&, std::size_t rank,
                     std::uint64_t call) {
  const std::size_t calls = what.delays.size() / what.ranks;
  return what.delays[call % calls * what.ranks + rank];
}

}  // namespace

pattern parse(std::string_view text) {
  pattern parsed;
  parsed.text = text;
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const std::string_view rest =
      colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
  if (text == "none") {
    parsed.how = on_time{};
  } else if (name == "random") {
    parsed.how = parse_random(rest, text);
  } else if (name == "late") {
    parsed.how = parse_late(rest, text);
  } else if (name == "file") {
    parsed.how = read_recording(rest, text);
  } else {
    refuse(text, "not a pattern of arrivals; expected one of " + std::string(forms));
  }
  return parsed;
}

void require_ranks(const pattern& what, std::size_t ranks) {
  const auto* const recorded = std::get_if<recorded_delays>(&what.how);
  if (recorded == nullptr || recorded->ranks == ranks) return;
  refuse(what.text, "it has the delays of " + std::to_string(recorded->ranks) +
                        " ranks; expected those of " + std::to_string(ranks));
}

std::size_t late_ranks(const late_share& what, std::size_t ranks) {
  if (ranks < 2) return 0;
  const double nearest = std::round(what.share * static_cast<double>(ranks));
  return std::clamp<std::size_t>(static_cast<std::size_t>(nearest), 1, ranks - 1);
}

nanoseconds delay(const pattern& what, const setting& around, std::size_t rank,
                  std::uint64_t call) {
  return std::visit([&](const auto& how) { return delay_of(how, around, rank, call); }, what.how);
}

}  // namespace muster::arrivals
