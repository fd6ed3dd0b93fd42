#include "tools/library/record.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <ios>
#include <iterator>
#include <map>
#include <sstream>
#include <stdexcept>
#include <system_error>

namespace muster::profile {
namespace {

constexpr std::string_view first_line = "muster arrivals 1";

/// Takes a record's text apart.
class reader {
public:
  explicit reader(std::string_view text) : rest_(text) { next_line(); }

  bool at_end() const { return ended_; }
  void next_line() {
    ended_ = rest_.empty();
    line_ = rest_.substr(0, rest_.find('\n'));
    rest_.remove_prefix(std::min(rest_.size(), line_.size() + 1));
    ++number_;
  }
  /// Whether the line goes on with this, which is then behind.
  bool take(std::string_view words) {
    if (!line_.starts_with(words)) return false;
    line_.remove_prefix(words.size());
    return true;
  }
  void expect(std::string_view words) {
    if (!take(words)) complain("expected '" + std::string(words) + "'");
  }
  template <class T>
  T number(auto... how) {
    T value{};
    const auto [end, why] =
        std::from_chars(line_.data(), line_.data() + line_.size(), value, how...);
    if (why != std::errc{}) complain("expected a number");
    line_.remove_prefix(static_cast<std::size_t>(end - line_.data()));
    return value;
  }
  /// What comes before a mark, which is behind then, too.
  std::string until(std::string_view mark) {
    const std::size_t end = line_.find(mark);
    if (end == std::string_view::npos) complain("expected '" + std::string(mark) + "'");
    std::string text(line_.substr(0, end));
    line_.remove_prefix(end + mark.size());
    return text;
  }
  std::string rest_of_line() { return std::string(line_); }
  void end_line() {
    if (!line_.empty()) complain("did not expect '" + std::string(line_) + "'");
    next_line();
  }
  [[noreturn]] void complain(const std::string& what) const {
    throw std::invalid_argument("line " + std::to_string(number_) + ": " + what);
  }

private:
  std::string_view rest_;
  std::string_view line_;
  std::size_t number_ = 0;
  bool ended_ = false;
};

constexpr int hexadecimal = 16;

void read_head(reader& in, rank_record& record) {
  in.expect(first_line);
  in.end_line();
  in.expect("rank ");
  record.rank = in.number<std::size_t>();
  in.expect(" of ");
  record.ranks = in.number<std::size_t>();
  if (record.rank >= record.ranks) in.complain("there is no such rank");
  in.end_line();
  if (in.take("clock ")) {
    record.clock.emplace().offset_ns = in.number<std::int64_t>();
    in.expect(" ");
    record.clock->error_ns = in.number<std::int64_t>();
    in.end_line();
  }
  in.expect("machine ");
  record.machine.trip_ns = in.number<double>();
  in.expect(" ");
  record.machine.yield_ns = in.number<double>();
  in.expect(" ");
  record.machine.cache_bytes = in.number<std::uint64_t>();
  in.expect(" ");
  record.machine.in_cache.staged = in.number<double>();
  in.expect(" ");
  record.machine.beyond_cache.staged = in.number<double>();
  in.end_line();
  in.expect("left out ");
  record.left_out = in.number<std::uint64_t>();
  in.end_line();
}

arrival_log::site read_site(reader& in) {
  arrival_log::site one;
  one.team = in.number<std::uint64_t>(hexadecimal);
  in.expect(" ");
  one.fingerprint = in.number<std::uint64_t>(hexadecimal);
  in.expect(" rank ");
  one.rank = in.number<std::size_t>();
  in.expect(" of ");
  one.ranks = in.number<std::size_t>();
  if (one.rank >= one.ranks) in.complain("there is no such rank");
  in.expect(" calls ");
  one.calls = in.number<std::uint64_t>();
  in.expect(" bytes ");
  one.bytes = in.number<std::uint64_t>();
  in.expect(" by ");
  one.algorithm = in.until(": ");
  one.what = in.rest_of_line();
  in.next_line();
  return one;
}

arrival_log::call read_call(reader& in) {
  arrival_log::call one{};
  one.sequence = in.number<std::uint64_t>();
  in.expect(" ");
  one.arrived = in.number<std::int64_t>();
  in.expect(" ");
  one.left = in.number<std::int64_t>();
  one.failed = in.take(" failed");
  in.end_line();
  return one;
}

std::string read_file(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(file), {}};
  if (!file) throw std::runtime_error(path.string() + ": cannot be read");
  return text;
}

}  // namespace

std::string to_text(const rank_record& record) {
  std::ostringstream text;
  const muster::machine& seen = record.machine;
  text << first_line << "\nrank " << record.rank << " of " << record.ranks << '\n';
  if (record.clock) {
    text << "clock " << record.clock->offset_ns << ' ' << record.clock->error_ns << '\n';
  }
  text << "machine " << seen.trip_ns << ' ' << seen.yield_ns << ' ' << seen.cache_bytes << ' '
       << seen.in_cache.staged << ' ' << seen.beyond_cache.staged << "\nleft out "
       << record.left_out << '\n';
  for (const arrival_log::site& one : record.sites) {
    text << "site " << std::hex << one.team << ' ' << one.fingerprint << std::dec << " rank "
         << one.rank << " of " << one.ranks << " calls " << one.calls << " bytes " << one.bytes
         << " by " << one.algorithm << ": " << one.what << '\n';
    for (const arrival_log::call& each : one.kept) {
      text << each.sequence << ' ' << each.arrived << ' ' << each.left
           << (each.failed ? " failed\n" : "\n");
    }
  }
  text << "end\n";
  return std::move(text).str();
}

rank_record parse_record(std::string_view text) {
  reader in(text);
  rank_record record;
  read_head(in, record);
  while (!in.take("end")) {
    if (in.at_end()) in.complain("expected 'end'");
    if (in.take("site ")) {
      record.sites.push_back(read_site(in));
    } else if (!record.sites.empty()) {
      record.sites.back().kept.push_back(read_call(in));
    } else {
      in.complain("expected 'site'");
    }
  }
  return record;
}

std::filesystem::path record_file(const std::filesystem::path& folder, std::size_t rank) {
  return folder / ("rank-" + std::to_string(rank));
}

std::vector<rank_record> read_records(const std::filesystem::path& folder) {
  std::map<std::size_t, rank_record> found;
  std::error_code unreadable;
  for (const auto& entry : std::filesystem::directory_iterator(folder, unreadable)) {
    if (!entry.path().filename().string().starts_with("rank-")) continue;
    const std::string text = read_file(entry.path());
    if (text.empty()) continue;  // it did not come to its end
    try {
      rank_record one = parse_record(text);
      found[one.rank] = std::move(one);
    } catch (const std::invalid_argument& why) {
      throw std::runtime_error(entry.path().string() + ", " + why.what());
    }
  }
  if (unreadable) {
    throw std::runtime_error(folder.string() + ": " + unreadable.message());
  }
  if (found.empty()) {
    throw std::runtime_error(folder.string() +
                             ": no rank has left a record; expected what muster run "
                             "--record-arrivals leaves");
  }
  std::vector<rank_record> records;
  for (auto& [rank, one] : found) {
    if (one.ranks != found.begin()->second.ranks) {
      throw std::runtime_error(folder.string() + ": the records are of jobs of " +
                               std::to_string(found.begin()->second.ranks) + " and of " +
                               std::to_string(one.ranks) + " ranks");
    }
    records.push_back(std::move(one));
  }
  return records;
}

}  // namespace muster::profile
