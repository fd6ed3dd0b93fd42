// What the checked calls send, and whether what arrived is right.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>

#include "tools/command/bench/measured.hpp"

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
inline constexpr int poison = -1;

/// One checked call as one rank sees it.
struct checked_call {
  collective what;
  std::size_t rank;
  std::size_t ranks;
  std::size_t count;   ///< elements of the message, or of one block
  std::size_t number;  ///< which checked call this is, from 0
  datatype type = datatype::float64;
};

/// The values up to here are exact in an element.
template <class Element>
constexpr std::uint64_t exact_up_to() {
  using limits = std::numeric_limits<Element>;
  if constexpr (std::is_integral_v<Element>) {
    return static_cast<std::uint64_t>(limits::max());
  } else {
    return std::uint64_t{1} << limits::digits;
  }
}

/// A pattern that is added up over all ranks without being rounded or leaving the type's range.
template <class Element>
Element small_pattern(const checked_call& call, std::size_t from, std::size_t to,
                      std::size_t position) {
  constexpr std::uint64_t most_patterns = std::uint64_t{1} << 20;
  const double plain = pattern(from, to, position, call.number);
  const std::uint64_t most = exact_up_to<Element>() / call.ranks;
  if (most >= most_patterns) return static_cast<Element>(plain);
  if (most == 0 && from >= exact_up_to<Element>()) return 0;
  const std::uint64_t values = std::max<std::uint64_t>(most, 1) + 1;
  return static_cast<Element>(static_cast<std::uint64_t>(plain) % values);
}

/// What `from` sends at `position` of its buffer in this call.
template <class Element>
Element sent_at(const checked_call& call, std::size_t from, std::size_t position) {
  const bool blocks = call_of(call.what, call.count).sends_blocks();
  const std::size_t to = blocks ? position / call.count : 0;
  return small_pattern<Element>(call, from, to, blocks ? position % call.count : position);
}

/// The elements of a buffer, which is made of words whatever they are.
template <class Element>
class elements_of {
public:
  explicit elements_of(std::span<const double> words)
      : bytes_(std::as_bytes(words)), count_(bytes_.size() / sizeof(Element)) {}

  std::size_t size() const { return count_; }
  Element operator[](std::size_t at) const {
    Element one;
    std::memcpy(&one, bytes_.data() + at * sizeof one, sizeof one);
    return one;
  }

  static void set(std::span<double> words, std::size_t at, Element value) {
    std::memcpy(std::as_writable_bytes(words).data() + at * sizeof value, &value, sizeof value);
  }

private:
  std::span<const std::byte> bytes_;
  std::size_t count_;
};

template <class Element>
void prepare_elements(const checked_call& call, std::span<double> send, std::span<double> recv) {
  using elements = elements_of<Element>;
  const bool receives_in_place =
      call.what == collective::bcast && call.rank != std::size_t{root_rank};
  for (std::size_t at = 0; at < elements(send).size(); ++at) {
    elements::set(send, at,
                  receives_in_place ? Element{poison} : sent_at<Element>(call, call.rank, at));
  }
  for (std::size_t at = 0; at < elements(recv).size(); ++at) elements::set(recv, at, poison);
}

/// Fills what the rank sends and poisons what it receives. For bcast both are the same memory.
inline void prepare(const checked_call& call, std::span<double> send, std::span<double> recv) {
  with_element(call.type,
               [&](auto element) { prepare_elements<decltype(element)>(call, send, recv); });
}

/// What the first `ranks` ranks send at `position` of their buffers, added up.
template <class Element>
Element expected_sum(const checked_call& call, std::size_t ranks, std::size_t position) {
  Element sum = 0;
  for (std::size_t from = 0; from < ranks; ++from) {
    sum = static_cast<Element>(sum + sent_at<Element>(call, from, position));
  }
  return sum;
}

/// What the rank receives at `position`.
template <class Element>
Element expected_at(const checked_call& call, std::size_t position) {
  const arguments asked = call_of(call.what, call.count);
  const std::size_t in_block = position % call.count;
  const std::size_t in_own_block =
      asked.sends_blocks() ? call.rank * call.count + in_block : in_block;
  if (call.what == collective::scan) return expected_sum<Element>(call, call.rank + 1, position);
  if (call.what == collective::exscan) return expected_sum<Element>(call, call.rank, position);
  if (has_op(call.what)) return expected_sum<Element>(call, call.ranks, in_own_block);
  const std::size_t from = asked.is_scatter() ? std::size_t{root_rank} : position / call.count;
  return sent_at<Element>(call, from, in_own_block);
}

/// Whether the rank gets a result at all.
inline bool receives(const checked_call& call) {
  if (call.what == collective::exscan) return call.rank > 0;
  return call_of(call.what, call.count).receives(call.rank);
}

template <class Element>
bool has_right_elements(const checked_call& call, std::span<const double> send,
                        std::span<const double> recv) {
  const elements_of<Element> sent(send);
  const elements_of<Element> received(recv);
  const std::size_t sender = call.what == collective::bcast ? root_rank : call.rank;
  for (std::size_t at = 0; at < sent.size(); ++at) {
    if (sent[at] != sent_at<Element>(call, sender, at)) return false;
  }
  if (!receives(call)) return true;
  for (std::size_t at = 0; at < received.size(); ++at) {
    if (received[at] != expected_at<Element>(call, at)) return false;
  }
  return true;
}

/// Every element of the result, and that the library left the send buffer alone.
inline bool is_right(const checked_call& call, std::span<const double> send,
                     std::span<const double> recv) {
  return with_element(call.type, [&](auto element) {
    return has_right_elements<decltype(element)>(call, send, recv);
  });
}

}  // namespace muster::bench
