#include <muster/select/recorded_call.hpp>

#include <muster/call/describe.hpp>

namespace muster {

namespace {

constexpr unsigned algorithm_bit = 24;
constexpr unsigned ports_bit = 40;
constexpr unsigned groups_bit = 48;
constexpr unsigned by_arrival_bit = 63;

}  // namespace

std::uint64_t pack_kind(const arguments& call, std::size_t algorithm) noexcept {
  return static_cast<std::uint64_t>(call.what) | static_cast<std::uint64_t>(call.type) << 8 |
         static_cast<std::uint64_t>(call.op) << 16 |
         static_cast<std::uint64_t>(algorithm) << algorithm_bit |
         static_cast<std::uint64_t>(call.how.ports) << ports_bit |
         static_cast<std::uint64_t>(call.how.groups) << groups_bit |
         static_cast<std::uint64_t>(call.order) << by_arrival_bit;
}

std::string describe(const wire::recorded_call& call) {
  arguments words;
  words.what = collective_of(call.kind);
  words.type = type_of(call.kind);
  words.op = op_of(call.kind);
  words.order = static_cast<combining>(call.kind >> by_arrival_bit);
  words.root = call.root;
  // What is on record of varying blocks is their sum, as if there were one.
  words.count = call.count;
  const block_layout sum{.counts = {&words.count, 1}};
  words.send_blocks = words.receive_blocks = &sum;
  return describe(words);
}

std::string describe_choice(const wire::recorded_call& call, catalog rows) {
  const std::size_t number = call.kind >> algorithm_bit & 0xffff;
  const std::size_t ports = call.kind >> ports_bit & 0xff;
  const std::size_t groups = call.kind >> groups_bit & 0xff;
  std::string text(number < rows.size() ? rows[number].id : "an algorithm unknown here");
  if (ports != 0) text += ":ports=" + std::to_string(ports);
  if (groups != 0) text += (ports != 0 ? ",groups=" : ":groups=") + std::to_string(groups);
  return text;
}

}  // namespace muster
