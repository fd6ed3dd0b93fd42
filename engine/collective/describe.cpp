#include "engine/collective/describe.hpp"

#include <numeric>

#include "engine/random.hpp"

namespace muster {

recorded_call read_record(const wire::call_record& record) noexcept {
  // The reader's side of the sequence lock: each acquire keeps the loads after it after it.
  recorded_call call;
  call.sequence = record.sequence.load(std::memory_order_acquire);
  call.kind = record.kind.load(std::memory_order_acquire);
  call.count = record.count.load(std::memory_order_acquire);
  call.root = record.root.load(std::memory_order_acquire);
  call.details = record.details.load(std::memory_order_acquire);
  const bool torn = record.sequence.load(std::memory_order_relaxed) != call.sequence;
  if (torn) call.sequence = 0;
  return call;
}

namespace {

constexpr unsigned algorithm_bit = 24;
constexpr unsigned ports_bit = 40;
constexpr unsigned groups_bit = 48;
constexpr unsigned by_arrival_bit = 63;

/// The varying blocks whose lengths all ranks know.
const block_layout& agreed_blocks(const arguments& call) noexcept {
  return call.what == collective::allgatherv ? *call.receive_blocks : *call.send_blocks;
}

}  // namespace

std::uint64_t pack_kind(const arguments& call, std::size_t algorithm) noexcept {
  return static_cast<std::uint64_t>(call.what) | static_cast<std::uint64_t>(call.type) << 8 |
         static_cast<std::uint64_t>(call.op) << 16 |
         static_cast<std::uint64_t>(algorithm) << algorithm_bit |
         static_cast<std::uint64_t>(call.how.ports) << ports_bit |
         static_cast<std::uint64_t>(call.how.groups) << groups_bit |
         static_cast<std::uint64_t>(call.order) << by_arrival_bit;
}

bool agrees_on_count(collective what) noexcept {
  using enum collective;
  return what != scatterv && what != gatherv && what != alltoallv && !has_neighbors(what);
}

std::size_t agreed_count(const arguments& call) noexcept {
  if (!has_varying_blocks(call.what)) return call.count;
  if (!agrees_on_count(call.what)) return 0;
  const auto& counts = agreed_blocks(call).counts;
  return std::accumulate(counts.begin(), counts.end(), std::size_t{0});
}

bool moves_nothing(const arguments& call) noexcept {
  return call.what != collective::barrier && agrees_on_count(call.what) && agreed_count(call) == 0;
}

std::uint64_t agreed_details(const arguments& call) noexcept {
  std::uint64_t details = 0;
  if (call.custom != nullptr) {
    details = mix_bits(call.custom->element_bytes * 2 + (call.custom->commutative ? 1 : 0));
  }
  if (!has_varying_blocks(call.what) || !agrees_on_count(call.what)) return details;
  for (const std::size_t count : agreed_blocks(call).counts) details = mix_bits(details ^ count);
  return details;
}

std::string describe(const arguments& call) {
  if (call.what == collective::barrier) return "barrier()";
  std::string text(name(call.what));
  text += "(";
  if (agrees_on_count(call.what)) text += std::to_string(agreed_count(call)) + " x ";
  text += std::string(name(call.type));
  if (call.op != reduction::none) text += ", " + std::string(name(call.op));
  if (call.order == combining::by_arrival) text += " in arrival order";
  if (has_root(call.what)) text += ", root " + std::to_string(call.root);
  return text + ")";
}

std::string describe(const recorded_call& call) {
  arguments words;
  words.what = static_cast<collective>(call.kind & 0xff);
  words.type = static_cast<datatype>(call.kind >> 8 & 0xff);
  words.op = static_cast<reduction>(call.kind >> 16 & 0xff);
  words.order = static_cast<combining>(call.kind >> by_arrival_bit);
  words.root = call.root;
  // What is on record of varying blocks is their sum, as if there were one.
  words.count = call.count;
  const block_layout sum{.counts = {&words.count, 1}};
  words.send_blocks = words.receive_blocks = &sum;
  return describe(words);
}

std::string describe_choice(const recorded_call& call, catalog rows) {
  const std::size_t number = call.kind >> algorithm_bit & 0xffff;
  const std::size_t ports = call.kind >> ports_bit & 0xff;
  const std::size_t groups = call.kind >> groups_bit & 0xff;
  std::string text(number < rows.size() ? rows[number].id : "an algorithm unknown here");
  if (ports != 0) text += ":ports=" + std::to_string(ports);
  if (groups != 0) text += (ports != 0 ? ",groups=" : ":groups=") + std::to_string(groups);
  return text;
}

}  // namespace muster
