#include "transports/sim/trace.hpp"

#include <algorithm>
#include <array>
#include <cstdio>

namespace muster::sim {
namespace {

/// Microseconds with all digits of a picosecond.
std::string microseconds(picoseconds time) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "%lld.%06lld", static_cast<long long>(time / 1'000'000),
                static_cast<long long>(time % 1'000'000));
  return text.data();
}

std::string lane(const shape& ranks, std::size_t rank) {
  return "\"pid\":" + std::to_string(ranks.node_of(rank)) + ",\"tid\":" + std::to_string(rank);
}

std::string metadata(const std::string& what, const std::string& where, const std::string& name) {
  return "{\"name\":\"" + what + "\",\"ph\":\"M\"," + where + ",\"args\":{\"name\":\"" + name +
         "\"}},\n";
}

}  // namespace

std::uint32_t trace::name_index(std::string_view name) {
  // A handful of names, the last used most likely next.
  const auto known = std::find(names_.rbegin(), names_.rend(), name);
  if (known != names_.rend()) {
    return static_cast<std::uint32_t>(names_.rend() - known - 1);
  }
  names_.emplace_back(name);
  return static_cast<std::uint32_t>(names_.size() - 1);
}

void trace::slice(std::size_t rank, std::string_view name, picoseconds begins, picoseconds ends,
                  std::size_t bytes) {
  entries_.push_back(
      {'X', static_cast<std::uint32_t>(rank), name_index(name), begins, ends - begins, bytes});
}

void trace::operation_begins(std::size_t rank, std::string_view name, std::string_view algorithm,
                             std::uint64_t sequence, picoseconds when) {
  entries_.push_back({'b', static_cast<std::uint32_t>(rank), name_index(name), when, 0, sequence,
                      name_index(algorithm)});
}

void trace::operation_ends(std::size_t rank, std::string_view name, std::uint64_t sequence,
                           picoseconds when) {
  entries_.push_back({'e', static_cast<std::uint32_t>(rank), name_index(name), when, 0, sequence});
}

void trace::leaves(std::size_t rank, std::uint64_t number, picoseconds when) {
  entries_.push_back({'s', static_cast<std::uint32_t>(rank), name_index("put"), when, 0, number});
}

void trace::arrives(std::size_t rank, std::uint64_t number, picoseconds when) {
  entries_.push_back({'f', static_cast<std::uint32_t>(rank), name_index("put"), when, 0, number});
}

std::string trace::to_json(const shape& ranks) const {
  std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  for (std::size_t node = 0; node < ranks.nodes(); ++node) {
    text +=
        metadata("process_name", "\"pid\":" + std::to_string(node), "node " + std::to_string(node));
  }
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    text += metadata("thread_name", lane(ranks, rank), "rank " + std::to_string(rank));
  }
  for (const entry& each : entries_) {
    text += "{\"name\":\"" + names_[each.name] + "\",\"ph\":\"" + each.phase + "\"," +
            lane(ranks, each.rank) + ",\"ts\":" + microseconds(each.begins);
    if (each.phase == 'X') {
      text += ",\"dur\":" + microseconds(each.lasts);
      if (each.number != 0) text += ",\"args\":{\"bytes\":" + std::to_string(each.number) + "}";
    } else if (each.phase == 'b' || each.phase == 'e') {
      text += ",\"cat\":\"operation\",\"id\":\"" + std::to_string(each.rank) + "." +
              std::to_string(each.number) + "\"";
      if (each.phase == 'b') {
        text += ",\"args\":{\"algorithm\":\"" + names_[each.algorithm] + "\"}";
      }
    } else {
      text += ",\"cat\":\"put\",\"id\":" + std::to_string(each.number);
      if (each.phase == 'f') text += ",\"bp\":\"e\"";
    }
    text += "},\n";
  }
  // A last one without a comma.
  return text + "{\"name\":\"end\",\"ph\":\"M\",\"pid\":0}]}\n";
}

}  // namespace muster::sim
