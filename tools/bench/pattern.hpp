// What the checked calls send, and whether what arrived is right.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tools/bench/operation.hpp"

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
  operation what;
  std::size_t rank;
  std::size_t ranks;
  std::size_t words;   ///< elements of the message, or of one block
  std::size_t number;  ///< which checked call this is, from 0
};

/// Fills what the rank sends and poisons what it receives. For bcast both are the same memory.
inline void prepare(const checked_call& call, std::span<double> send, std::span<double> recv) {
  const bool receives_in_place =
      call.what == operation::bcast && call.rank != std::size_t{root_rank};
  for (std::size_t at = 0; at < send.size(); ++at) {
    const std::size_t to = call.what == operation::alltoall ? at / call.words : 0;
    const std::size_t position = call.what == operation::alltoall ? at % call.words : at;
    send[at] = receives_in_place ? poison : pattern(call.rank, to, position, call.number);
  }
  for (double& element : recv) element = poison;
}

inline double expected_sum(const checked_call& call, std::size_t position) {
  double sum = 0;
  for (std::size_t from = 0; from < call.ranks; ++from) {
    sum += pattern(from, 0, position, call.number);
  }
  return sum;
}

/// Every element of the result, and that the library left the send buffer alone.
inline bool is_right(const checked_call& call, std::span<const double> send,
                     std::span<const double> recv) {
  const bool all_to_all = call.what == operation::alltoall;
  const std::size_t sender = call.what == operation::bcast ? root_rank : call.rank;
  for (std::size_t at = 0; at < send.size(); ++at) {
    const double sent = all_to_all ? pattern(sender, at / call.words, at % call.words, call.number)
                                   : pattern(sender, 0, at, call.number);
    if (send[at] != sent) return false;
  }
  if (call.what == operation::reduce && call.rank != std::size_t{root_rank}) return true;
  const bool sums = call.what == operation::reduce || call.what == operation::allreduce;
  for (std::size_t at = 0; at < recv.size(); ++at) {
    const double wanted =
        sums ? expected_sum(call, at)
             : pattern(at / call.words, all_to_all ? call.rank : 0, at % call.words, call.number);
    if (recv[at] != wanted) return false;
  }
  return true;
}

}  // namespace muster::bench
