#include <muster/call/describe.hpp>

#include <numeric>

#include <muster/base/random.hpp>

namespace muster {

namespace {

/// The varying blocks whose lengths all ranks know.
const block_layout& agreed_blocks(const arguments& call) noexcept {
  return call.what == collective::allgatherv ? *call.receive_blocks : *call.send_blocks;
}

}  // namespace

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

}  // namespace muster
