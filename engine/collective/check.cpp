#include "engine/collective/check.hpp"

#include <limits>
#include <string>

#include "engine/collective/forms/elements.hpp"
#include "engine/collective/forms/reductions.hpp"

namespace muster {
namespace {

[[noreturn]] void reject(std::string_view call, const std::string& why) {
  throw error(errc::invalid_argument, std::string(call) + ": " + why);
}
[[noreturn]] void reject(const arguments& call, const std::string& why) {
  reject(name(call.what), why);
}

std::string number_of(std::size_t value) { return std::to_string(value); }

// Addresses are signed distances in C++: half of size_t is the most that a buffer can span.
constexpr std::size_t largest = std::numeric_limits<std::ptrdiff_t>::max();

void check_extent(const arguments& call, std::size_t ranks) {
  const bool blocks_alike = !has_varying_blocks(call.what);
  const std::size_t blocks =
      blocks_alike && (call.sends_blocks() || call.receives_blocks()) ? ranks : 1;
  const std::size_t bytes_a_count = call.element() * blocks;
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(call.count, bytes_a_count, &bytes) || bytes > largest) [[unlikely]] {
    reject(call, "count " + number_of(call.count) + " of " + std::string(name(call.type)) +
                     " for " + number_of(blocks) + " block(s) overflows; expected at most " +
                     number_of(largest / bytes_a_count));
  }
}

void check_layout(const arguments& call, const block_layout& blocks, std::string_view which,
                  std::size_t ranks) {
  const std::string argument = std::string(which) + "_blocks";
  if (blocks.counts.size() != ranks || blocks.displacements.size() != ranks) {
    reject(call, argument + " has " + number_of(blocks.counts.size()) + " counts and " +
                     number_of(blocks.displacements.size()) + " displacements; expected " +
                     number_of(ranks) + ", one for each rank");
  }
  std::size_t all = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::size_t bounds[] = {blocks.counts[rank], blocks.displacements[rank]};
    std::size_t end = 0;
    if (__builtin_add_overflow(bounds[0], bounds[1], &end) || end > largest / call.element() ||
        __builtin_add_overflow(all, bounds[0], &all) || all > largest / call.element()) {
      reject(call, argument + ": block " + number_of(rank) + " has count " + number_of(bounds[0]) +
                       " and displacement " + number_of(bounds[1]) +
                       ", which overflow; expected at most " + number_of(largest / call.element()) +
                       " elements");
    }
  }
}

/// That blocks are one vector, of which every rank knows how it is cut.
void check_contiguous(const arguments& call, const block_layout& blocks) {
  std::size_t end = 0;
  for (std::size_t rank = 0; rank < blocks.counts.size(); ++rank) {
    if (blocks.displacements[rank] != end) {
      reject(call, "send_blocks: block " + number_of(rank) + " begins at " +
                       number_of(blocks.displacements[rank]) + "; expected " + number_of(end) +
                       ", where the one before it ends");
    }
    end += blocks.counts[rank];
  }
}

/// The layouts that a rank must have, and no others.
void check_layouts(const arguments& call, std::size_t rank, std::size_t ranks) {
  using enum collective;
  const bool at_root = call.root == rank;
  const bool sends =
      (call.what == scatterv && at_root) || call.what == alltoallv || call.what == reduce_scatter;
  const bool receives =
      (call.what == gatherv && at_root) || call.what == alltoallv || call.what == allgatherv;
  const auto check_one = [&](const block_layout* blocks, bool expected, std::string_view which) {
    if ((blocks != nullptr) != expected) {
      reject(call, std::string(which) + "_blocks " + (expected ? "is missing" : "was given") +
                       "; expected " + (expected ? "one" : "none") + " at this rank");
    }
    if (expected) check_layout(call, *blocks, which, ranks);
  };
  check_one(call.send_blocks, sends, "send");
  check_one(call.receive_blocks, receives, "receive");
  if (call.what == reduce_scatter) check_contiguous(call, *call.send_blocks);
  const block_layout* own = sends ? call.send_blocks : call.receive_blocks;
  if (own == nullptr || call.what == alltoallv || own->counts[rank] == call.count) return;
  reject(call, "count is " + number_of(call.count) + "; expected " + number_of(own->counts[rank]) +
                   ", this rank's own block in the layout");
}

void check_buffers(const arguments& call, std::size_t rank, std::size_t ranks) {
  if (call.what == collective::barrier) return;
  const bool at_root = has_root(call.what) && call.root == rank;
  const std::size_t sent = call.sends(rank) ? call.contributed_bytes(ranks) : 0;
  const std::size_t received = call.receives(rank) ? call.received_bytes(ranks) : 0;
  const std::string with = " with count " + number_of(call.count);
  if (call.is_scatter()) {
    if (at_root && sent != 0 && call.send == nullptr) {
      reject(call, "send is null" + with + "; expected a buffer at the root");
    }
    if (!at_root && received != 0 && call.receive == nullptr) {
      reject(call, "receive is null" + with + "; expected a buffer to receive into");
    }
    return;
  }
  if (received != 0 && call.receive == nullptr) {
    reject(call, "receive is null" + with + "; expected a buffer" +
                     (call.in_place() ? "" : " to receive into"));
  }
  const bool may_be_in_place = !call.is_gather() || at_root;
  if (sent != 0 && call.send == nullptr && (call.receive == nullptr || !may_be_in_place)) {
    reject(call, "send is null" + with + "; expected a buffer");
  }
}

void check_reduction(const arguments& call) {
  if (!has_op(call.what)) return;
  if (call.op == reduction::none || call.op > reduction::custom) {
    reject(call, "op is not a reduction; expected sum, product, min, max, …");
  }
  const bool own = call.op == reduction::custom;
  if (own != (call.custom != nullptr) || own != (call.type == datatype::custom)) {
    reject(call, "op is " + std::string(name(call.op)) + " of " + std::string(name(call.type)) +
                     "; expected a custom_reduction and elements of type custom, or neither");
  }
  if (own && (call.custom->apply == nullptr || call.custom->element_bytes == 0)) {
    reject(call, "op is a custom_reduction without a function or of elements of 0 bytes");
  }
  if (!supports(call.op, call.type)) {
    reject(call, "op is " + std::string(name(call.op)) + ", which " + std::string(name(call.type)) +
                     " has not; expected another");
  }
}

}  // namespace

void check(const team& on, const arguments& call) {
  if (call.what > collective::reduce_scatter) reject(call, "expected a collective");
  if (has_root(call.what) && call.root >= on.size()) {
    reject(call, "root is " + number_of(call.root) + "; expected a rank from 0 to " +
                     number_of(on.size() - 1));
  }
  if (call.type > datatype::custom) reject(call, "type is unknown; expected a datatype");
  check_reduction(call);
  if (call.custom != nullptr && !has_op(call.what)) {
    reject(call, "a custom_reduction was given; expected none");
  }
  if (call.type == datatype::custom && call.custom == nullptr) {
    reject(call, "type is custom; expected byte, or a type with a size");
  }
  check_extent(call, on.size());
  if (has_varying_blocks(call.what) || call.send_blocks != nullptr ||
      call.receive_blocks != nullptr) {
    check_layouts(call, on.rank(), on.size());
  }
  check_buffers(call, on.rank(), on.size());
}

namespace detail {

void require_size(std::string_view call, std::string_view argument, std::size_t has,
                  std::size_t expected, std::string_view because) {
  if (has == expected) return;
  reject(call, std::string(argument) + " has " + number_of(has) + " elements, expected " +
                   number_of(expected) + " (" + std::string(because) + ")");
}

std::size_t require_blocks(std::string_view call, std::size_t has, std::size_t ranks) {
  if (has % ranks == 0) return has / ranks;
  reject(call, "the buffer has " + number_of(has) + " elements, expected a multiple of the " +
                   number_of(ranks) + " ranks (one block a rank)");
}

std::size_t require_counts(std::string_view call, std::span<const std::size_t> counts,
                           std::size_t ranks) {
  require_size(call, "counts", counts.size(), ranks, "one for each rank");
  std::size_t all = 0;
  for (const std::size_t count : counts) {
    if (__builtin_add_overflow(all, count, &all)) {
      reject(call, "counts add up to more than a buffer can hold");
    }
  }
  return all;
}

void require_within(std::string_view call, std::string_view argument, std::size_t has,
                    const block_layout& blocks, std::size_t ranks) {
  const std::size_t all = require_counts(call, blocks.counts, ranks);
  if (blocks.displacements.empty()) {
    if (all <= has) return;
    reject(call, std::string(argument) + " has " + number_of(has) +
                     " elements, expected at least " + number_of(all) + " (all blocks)");
  }
  require_size(call, "displacements", blocks.displacements.size(), ranks, "one for each rank");
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::size_t count = blocks.counts[rank];
    const std::size_t from = blocks.displacements[rank];
    if (count == 0 || (from <= has && count <= has - from)) continue;
    reject(call, std::string(argument) + ": block " + number_of(rank) + " is " + number_of(count) +
                     " elements from " + number_of(from) + "; expected it within the buffer's " +
                     number_of(has));
  }
}

void require_reduction(collective what, const reducer& op, std::size_t element_bytes,
                       datatype type) {
  if (op.custom == nullptr) {
    if (type != datatype::custom) return;  // whether it has this op, `check` says
    reject(name(what), "op is " + std::string(name(op.op)) +
                           ", the elements of a type of the program's own; expected a "
                           "custom_reduction");
  }
  if (op.custom->element_bytes == element_bytes) return;
  reject(name(what), "op combines elements of " + number_of(op.custom->element_bytes) +
                         " bytes; expected " + number_of(element_bytes) + ", as in the buffers");
}

}  // namespace detail
}  // namespace muster
