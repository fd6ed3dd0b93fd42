// What the checked calls send, and whether what arrived is right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tools/bench/measured.hpp"

namespace muster::bench {

/// The element at `position` of the block that `from` sends to `to` in checked call `call`.
/// A whole number below 2^20, so that sums over any number of ranks are exact in a double.
inline double pattern(std::size_t from, std::size_t to, std::size_t position, std::size_t call) {
  std::uint64_t mixed = position * 0x9e3779b97f4a7c15u + from * 0xc2b2ae3d27d4eb4fu +
                        to * 0x165667b19e3779f9u + call * 0x27d4eb2f165667c5u;
  mixed = (mixed ^ (mixed >> 31)) * 0xbf58476d1ce4e5b9u;
  return static_cast<double>(mixed >> 44);
}

/// What no pattern and no sum of patterns ever is; fills receive buffers before a checked call.
inline constexpr double poison = -1.0;

/// One checked call as one rank sees it.
struct checked_call {
  collective what;
  std::size_t rank;
  std::size_t ranks;
  std::size_t words;   ///< elements of the message, or of one block
  std::size_t number;  ///< which checked call this is, from 0
};

/// What `from` sends at `position` of its buffer in this call.
inline double sent_at(const checked_call& call, std::size_t from, std::size_t position) {
  const bool blocks = call_of(call.what, call.words).sends_blocks();
  const std::size_t to = blocks ? position / call.words : 0;
  return pattern(from, to, blocks ? position % call.words : position, call.number);
}

/// Fills what the rank sends and poisons what it receives. For bcast both are the same memory.
inline void prepare(const checked_call& call, std::span<double> send, std::span<double> recv) {
  const bool receives_in_place =
      call.what == collective::bcast && call.rank != std::size_t{root_rank};
  for (std::size_t at = 0; at < send.size(); ++at) {
    send[at] = receives_in_place ? poison : sent_at(call, call.rank, at);
  }
  for (double& element : recv) element = poison;
}

/// What the first `ranks` ranks send at `position` of their buffers, added up.
inline double expected_sum(const checked_call& call, std::size_t ranks, std::size_t position) {
  double sum = 0;
  for (std::size_t from = 0; from < ranks; ++from) sum += sent_at(call, from, position);
  return sum;
}

/// What the rank receives at `position`.
inline double expected_at(const checked_call& call, std::size_t position) {
  const arguments asked = call_of(call.what, call.words);
  const std::size_t in_own_block =
      asked.sends_blocks() ? call.rank * call.words + position % call.words : position % call.words;
  if (call.what == collective::scan) return expected_sum(call, call.rank + 1, position);
  if (call.what == collective::exscan) return expected_sum(call, call.rank, position);
  if (has_op(call.what)) return expected_sum(call, call.ranks, in_own_block);
  return sent_at(call, asked.is_scatter() ? root_rank : position / call.words, in_own_block);
}

/// Whether the rank gets a result at all.
inline bool receives(const checked_call& call) {
  if (call.what == collective::exscan) return call.rank > 0;
  return call_of(call.what, call.words).receives(call.rank);
}

/// Every element of the result, and that the library left the send buffer alone.
inline bool is_right(const checked_call& call, std::span<const double> send,
                     std::span<const double> recv) {
  const std::size_t sender = call.what == collective::bcast ? root_rank : call.rank;
  for (std::size_t at = 0; at < send.size(); ++at) {
    if (send[at] != sent_at(call, sender, at)) return false;
  }
  if (!receives(call)) return true;
  for (std::size_t at = 0; at < recv.size(); ++at) {
    if (recv[at] != expected_at(call, at)) return false;
  }
  return true;
}

}  // namespace muster::bench
