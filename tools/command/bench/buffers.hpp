// The buffers that the measuring loop rotates through. A benchmark that sends one unmodified
// buffer again and again measures its caches; here every call takes the next slot and changes it,
// unless the other is asked for.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tools/command/bench/measured.hpp"

namespace muster::bench {

inline constexpr std::size_t word_bytes = sizeof(double);
inline constexpr std::size_t page_bytes = 4096;

/// Elements that one rank's buffers hold for one call.
struct call_shape {
  std::size_t send_words = 0;
  std::size_t recv_words = 0;
  bool stamps = true;  ///< whether this rank's send buffer is data (not so for bcast's receivers)
};

/// `words` is the message's size, or one block's of those that have blocks.
inline call_shape shape_of(collective what, std::size_t words, std::size_t rank,
                           std::size_t ranks) {
  if (!has_sizes(what)) return {};
  const arguments call = call_of(what, words);
  const bool data_is_its_own = call.sends(rank);
  if (what == collective::bcast) return {words, 0, data_is_its_own};
  // Ranks that give or receive no blocks have no buffer for them; a vector's every rank has.
  const std::size_t sent = call.sends_blocks() ? ranks : 1;
  const std::size_t received = call.receives_blocks() ? ranks : 1;
  return {call.is_scatter() && !data_is_its_own ? 0 : words * sent,
          call.is_gather() && !call.receives(rank) ? 0 : words * received, true};
}

/// What all ranks' buffers for one call take.
inline std::size_t call_bytes(collective what, std::size_t bytes, std::size_t ranks) {
  std::size_t words = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const call_shape shape = shape_of(what, bytes / word_bytes, rank, ranks);
    words += shape.send_words + shape.recv_words;
  }
  return words * word_bytes;
}

/// From here on no cache holds what a slot has: one is enough.
inline constexpr std::size_t one_slot_bytes = std::size_t{64} << 20;

/// What one rank spends on its slots unless two of them need more: together the ranks go well
/// beyond the last-level cache, and one rank stays within 64 MiB.
constexpr std::size_t ring_budget_bytes(std::size_t ranks) {
  constexpr std::size_t mebibyte = std::size_t{1} << 20;
  return std::clamp(128 * mebibyte / ranks, 4 * mebibyte, 64 * mebibyte);
}

struct slot {
  std::span<double> send;
  std::span<double> recv;
};

class buffer_ring {
public:
  /// Lays out slots for calls of this shape; keeps what it has if the shape is the same.
  void arrange(const call_shape& shape, std::size_t ranks, const calling& how = {}) {
    stamps_ = shape.stamps && !how.same_buffers;
    type_ = how.type;
    next_ = 0;
    const std::size_t words = padded(shape.send_words) + padded(shape.recv_words);
    const std::size_t count = how.same_buffers ? 1 : slot_count(words * word_bytes, ranks);
    if (slots_.size() == count && slots_[0].send.size() == shape.send_words &&
        slots_[0].recv.size() == shape.recv_words && offset_ == how.offset) {
      return;
    }
    offset_ = how.offset;
    slots_.clear();
    memory_ = {};
    memory_.resize(count * (room(shape.send_words) + room(shape.recv_words)) + words_in_page);
    double* at = memory_.data();
    for (std::size_t i = 0; i < count; ++i) {
      const std::span<double> send = place(at, shape.send_words);
      slots_.push_back({send, place(at, shape.recv_words)});
    }
  }

  /// The next slot, its contents changed. Alike for every library.
  slot next() {
    const slot taken = slots_[next_];
    next_ = next_ + 1 == slots_.size() ? 0 : next_ + 1;
    if (stamps_) stamp(taken.send);
    return taken;
  }

  std::span<const slot> slots() const { return slots_; }

  static std::size_t slot_count(std::size_t slot_bytes, std::size_t ranks) {
    constexpr std::size_t fewest = 2;
    constexpr std::size_t most = 64;
    if (slot_bytes == 0 || slot_bytes >= one_slot_bytes) return 1;
    return std::clamp(ring_budget_bytes(ranks) / slot_bytes, fewest, most);
  }

private:
  static constexpr std::size_t line_bytes = 64;
  static constexpr std::size_t words_in_line = line_bytes / word_bytes;
  static constexpr std::size_t words_in_page = page_bytes / word_bytes;

  /// One word in every cache line of a small message; at most 256 words spread over a large one.
  void stamp(std::span<double> data) {
    constexpr std::size_t most_stamps = 256;
    const std::size_t stride = std::max(words_in_line, data.size() / most_stamps);
    turn_ = turn_ >= 1024 ? 0 : turn_ + 1;
    const double word = with_element(type_, [this](auto element) { return word_of(element); });
    for (std::size_t at = 0; at < data.size(); at += stride) data[at] = word;
  }

  /// Elements of a type that fill a word, small enough to be added up.
  template <class Element>
  double word_of(Element) const {
    constexpr unsigned small = sizeof(Element) == 1 ? 7 : 2047;
    std::array<Element, word_bytes / sizeof(Element)> elements;
    elements.fill(static_cast<Element>(turn_ & small));
    return std::bit_cast<double>(elements);
  }

  /// An odd number of lines, so that the slots don't all compete for the same cache sets.
  static constexpr std::size_t padded(std::size_t words) {
    if (words == 0) return 0;
    const std::size_t lines = (words + words_in_line - 1) / words_in_line;
    return (lines | 1) * words_in_line;
  }

  /// What a buffer begins `offset_` bytes into.
  std::size_t unit_bytes(std::size_t words) const {
    constexpr std::size_t asked_of_the_system = std::size_t{128} << 10;  // by malloc
    return offset_ != 0 && words * word_bytes >= asked_of_the_system ? page_bytes : line_bytes;
  }

  /// Words that a buffer takes at most, wherever it may begin.
  std::size_t room(std::size_t words) const {
    if (words == 0) return 0;
    return padded(words) + (offset_ == 0 ? 0 : (unit_bytes(words) + offset_) / word_bytes);
  }

  /// The next buffer, at or behind `at`, which goes behind it.
  std::span<double> place(double*& at, std::size_t words) const {
    if (words == 0) return {at, 0};
    const std::size_t unit = unit_bytes(words);
    const auto address = reinterpret_cast<std::uintptr_t>(at);
    at += ((unit - address % unit) % unit + offset_) / word_bytes;
    const std::span<double> placed(at, words);
    at += padded(words);
    return placed;
  }

  std::vector<double> memory_;
  std::vector<slot> slots_;
  std::size_t offset_ = 0;
  std::size_t next_ = 0;
  unsigned turn_ = 0;
  datatype type_ = datatype::float64;  ///< of the elements
  bool stamps_ = true;
};

}  // namespace muster::bench
