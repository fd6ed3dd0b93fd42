#include <muster/run/check.hpp>

#include <algorithm>
#include <limits>
#include <string>

#include <muster/call/elements.hpp>

namespace muster {
namespace {

std::string text(std::string_view words) { return std::string(words); }
std::string text(std::size_t number) { return std::to_string(number); }

/// Every call is checked, so what makes the texts is kept out of the way of the good ones.
template <class... Parts>
[[noreturn, gnu::cold, gnu::noinline]] void reject(std::string_view call, const Parts&... parts) {
  throw error(errc::invalid_argument, (std::string(call) + ": " + ... + text(parts)));
}

template <class... Parts>
[[noreturn, gnu::cold, gnu::noinline]] void reject(collective call, const Parts&... parts) {
  reject(name(call), parts...);
}

// Addresses are signed distances in C++: half of size_t is the most that a buffer can span.
constexpr std::size_t largest = std::numeric_limits<std::ptrdiff_t>::max();
/// Elements of a program's own are cut at multiples of a cache line, too.
constexpr std::size_t largest_element = largest / 64;

void check_reduction(const arguments& call) {
  if (call.op == reduction::none || call.op > reduction::custom) [[unlikely]] {
    reject(call.what, "op is not a reduction; expected sum, product, min, max, …");
  }
  if (call.order > combining::by_arrival) [[unlikely]] {
    reject(call.what, "order is unknown; expected by_rank or by_arrival");
  }
  const bool own = call.op == reduction::custom;
  if (own != (call.custom != nullptr) || own != (call.type == datatype::custom)) [[unlikely]] {
    reject(call.what, "op is ", name(call.op), " of ", name(call.type),
           call.custom == nullptr ? " without" : " with",
           " a custom_reduction; expected one with op custom and type custom, else none");
  }
  if (!supports(call.op, call.type)) [[unlikely]] {
    reject(call.what, "op is ", name(call.op), ", which ", name(call.type),
           " does not have; expected one that it has");
  }
  if (!own) return;
  if (call.custom->apply == nullptr) [[unlikely]] {
    reject(call.what, "op is a custom_reduction without a function; expected one with apply set");
  }
  if (call.custom->element_bytes - 1 >= largest_element) [[unlikely]] {
    reject(call.what, "op is a custom_reduction of elements of ", call.custom->element_bytes,
           " bytes; expected 1 to ", largest_element);
  }
}

void check_no_reduction(const arguments& call) {
  if (call.custom != nullptr) [[unlikely]] {
    reject(call.what, "a custom_reduction was given; expected none");
  }
  if (call.op != reduction::none) [[unlikely]] {
    reject(call.what, "op is ", name(call.op), "; expected none");
  }
  if (call.type == datatype::custom) [[unlikely]] {
    reject(call.what, "type is custom; expected byte, or a type with a size");
  }
}

/// How many blocks as long as `count` says a buffer has.
std::size_t blocks_counted(const arguments& call, std::size_t ranks) {
  if (call.neighbors != nullptr) {
    return std::max(
        {std::size_t{1}, call.neighbors->sources.size(), call.neighbors->destinations.size()});
  }
  const bool has_blocks = call.sends_blocks() || call.receives_blocks();
  return has_blocks && !has_varying_blocks(call.what) ? ranks : 1;
}

void check_extent(const arguments& call, std::size_t ranks) {
  const std::size_t blocks = blocks_counted(call, ranks);
  std::size_t bytes = 0;
  if (__builtin_mul_overflow(call.count, call.element(), &bytes) ||
      __builtin_mul_overflow(bytes, blocks, &bytes) || bytes > largest) [[unlikely]] {
    reject(call.what, "count ", call.count, " of ", name(call.type), " for ", blocks,
           " block(s) overflows; expected at most ", largest / call.element() / blocks);
  }
}

void check_layout(const arguments& call, const block_layout& blocks, std::string_view which,
                  std::size_t ranks, std::string_view whose = "rank") {
  if (blocks.counts.size() != ranks || blocks.displacements.size() != ranks) [[unlikely]] {
    reject(call.what, which, " has ", blocks.counts.size(), " counts and ",
           blocks.displacements.size(), " displacements; expected ", ranks, ", one for each ",
           whose);
  }
  const std::size_t most = largest / call.element();
  std::size_t all = 0;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::size_t count = blocks.counts[rank];
    const std::size_t from = blocks.displacements[rank];
    // None of the sums wraps, as none of their parts is larger than half of what there is.
    if (count > most || from > most - count || count > most - all) [[unlikely]] {
      reject(call.what, which, ": block ", rank, " has count ", count, " and displacement ", from,
             ", which overflow; expected at most ", most, " elements in all");
    }
    all += count;
  }
}

void check_layout_if(bool expected, const arguments& call, const block_layout* blocks,
                     std::string_view which, std::size_t ranks) {
  if ((blocks != nullptr) != expected) [[unlikely]] {
    reject(call.what, which, expected ? " is missing" : " was given", "; expected ",
           expected ? "one" : "none", " at this rank");
  }
  if (expected) check_layout(call, *blocks, which, ranks);
}

/// In place, what is received takes the place of what is sent.
void check_in_place(const arguments& call) {
  const auto& [send_counts, send_displacements] = *call.send_blocks;
  const auto& [receive_counts, receive_displacements] = *call.receive_blocks;
  if (!std::ranges::equal(send_counts, receive_counts) ||
      !std::ranges::equal(send_displacements, receive_displacements)) [[unlikely]] {
    reject(call.what, "send_blocks differ from receive_blocks; expected the same, as send is null");
  }
}

/// That blocks are one vector, of which every rank knows how it is cut.
void check_contiguous(const arguments& call, const block_layout& blocks) {
  std::size_t end = 0;
  for (std::size_t rank = 0; rank < blocks.counts.size(); ++rank) {
    if (blocks.displacements[rank] != end) [[unlikely]] {
      reject(call.what, "send_blocks: block ", rank, " begins at ", blocks.displacements[rank],
             "; expected ", end, ", where the one before it ends");
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
  check_layout_if(sends, call, call.send_blocks, "send_blocks", ranks);
  check_layout_if(receives, call, call.receive_blocks, "receive_blocks", ranks);
  if (call.what == reduce_scatter) check_contiguous(call, *call.send_blocks);
  if (call.what == alltoallv) {
    const std::size_t given = call.send_blocks->counts[rank];
    const std::size_t taken = call.receive_blocks->counts[rank];
    if (given != taken) [[unlikely]] {
      reject(call.what, "send_blocks has ", given, " elements of this rank for itself; expected ",
             taken, ", as in receive_blocks");
    }
    // Where nothing is sent a null buffer may be an empty one.
    if (call.in_place() && call.contributed_bytes(ranks) != 0) check_in_place(call);
    return;
  }
  if (!sends && !receives) return;
  const std::size_t own = (sends ? call.send_blocks : call.receive_blocks)->counts[rank];
  if (call.count != own) [[unlikely]] {
    reject(call.what, "count is ", call.count, "; expected ", own,
           ", this rank's own block in the layout");
  }
}

[[noreturn, gnu::cold, gnu::noinline]] void reject_null(const arguments& call,
                                                        std::string_view buffer,
                                                        std::string_view expected) {
  if (has_varying_blocks(call.what)) {
    reject(call.what, buffer, " is null; expected ", expected);
  }
  reject(call.what, buffer, " is null with count ", call.count, "; expected ", expected);
}

void check_buffers(const arguments& call, std::size_t rank, std::size_t ranks) {
  const bool at_root = has_root(call.what) && call.root == rank;
  const bool has_send = call.send != nullptr;
  const bool has_receive = call.receive != nullptr;
  if (has_send && has_receive) return;
  const bool sends = call.sends(rank) && call.contributed_bytes(ranks) != 0;
  const bool receives = call.receives(rank) && call.received_bytes(ranks) != 0;
  // In place, the other buffer stands in: at the root of a scatter `send`, else `receive`.
  const bool may_lack_receive = call.is_scatter() && at_root;
  const bool may_lack_send = !call.is_scatter() && (!call.is_gather() || at_root);
  if (receives && !has_receive && !may_lack_receive) [[unlikely]] {
    reject_null(call, "receive", "a buffer to receive into");
  }
  if (sends && !has_send && !(may_lack_send && has_receive)) [[unlikely]] {
    reject_null(call, "send", "a buffer to send from");
  }
}

// ---- with local peers

void check_ranks(const arguments& call, std::span<const std::size_t> list, std::string_view which,
                 std::size_t ranks) {
  for (std::size_t i = 0; i < list.size(); ++i) {
    if (list[i] >= ranks && list[i] != no_rank) [[unlikely]] {
      reject(call.what, which, "[", i, "] is ", list[i], "; expected a rank from 0 to ", ranks - 1,
             ", or no_rank");
    }
  }
}

/// The next of the blocks from this rank to itself that is received; `sources.size()` if none is.
std::size_t next_own(const neighborhood& with, std::size_t from, std::size_t rank) {
  while (from < with.sources.size() && with.sources[with.source_at(from)] != rank) ++from;
  return from;
}

/// What a rank sends itself it receives, as long.
void check_own_blocks(const arguments& call, std::size_t rank) {
  const neighborhood& with = *call.neighbors;
  std::size_t from = next_own(with, 0, rank);
  for (std::size_t i = 0; i < with.destinations.size(); ++i) {
    if (with.destinations[i] != rank) continue;
    if (from == with.sources.size()) [[unlikely]] {
      reject(call.what, "destinations has this rank more often than sources; expected it as often");
    }
    const std::size_t sent = call.bytes_to_neighbor(i);
    const std::size_t received = call.bytes_from_neighbor(with.source_at(from));
    if (sent != received) [[unlikely]] {
      reject(call.what, "block ", i, " is ", sent, " bytes from this rank to itself; expected ",
             received, ", as it is received");
    }
    from = next_own(with, from + 1, rank);
  }
  if (from != with.sources.size()) [[unlikely]] {
    reject(call.what, "sources has this rank more often than destinations; expected it as often");
  }
}

void check_neighbor_buffers(const arguments& call) {
  const neighborhood& with = *call.neighbors;
  for (std::size_t i = 0; call.send == nullptr && i < with.destinations.size(); ++i) {
    if (with.destinations[i] != no_rank && call.bytes_to_neighbor(i) != 0) [[unlikely]] {
      reject(call.what, "send is null; expected a buffer to send from");
    }
  }
  for (std::size_t i = 0; call.receive == nullptr && i < with.sources.size(); ++i) {
    if (with.sources[i] != no_rank && call.bytes_from_neighbor(i) != 0) [[unlikely]] {
      reject(call.what, "receive is null; expected a buffer to receive into");
    }
  }
}

void check_neighbors(const arguments& call, std::size_t rank, std::size_t ranks) {
  const auto& [sources, destinations, pairs] = *call.neighbors;
  check_ranks(call, sources, "sources", ranks);
  check_ranks(call, destinations, "destinations", ranks);
  const bool in_pairs = sources.size() == destinations.size() && sources.size() % 2 == 0;
  if (pairs == pairing::opposite && !in_pairs) [[unlikely]] {
    reject(call.what, "sources has ", sources.size(), " ranks and destinations ",
           destinations.size(), "; expected pairs of opposite directions, as many in both");
  }
  if (call.send_blocks != nullptr) {
    if (call.sends_one_block()) reject(call.what, "send_blocks was given; expected none");
    check_layout(call, *call.send_blocks, "send_blocks", destinations.size(), "destination");
  }
  if (call.receive_blocks != nullptr) {
    check_layout(call, *call.receive_blocks, "receive_blocks", sources.size(), "source");
  }
  check_neighbor_buffers(call);
  check_own_blocks(call, rank);
}

}  // namespace

void check(const team& on, const arguments& call) {
  if (!exists(call.what)) [[unlikely]] {
    reject("perform", "what is unknown; expected a collective");
  }
  if (has_root(call.what) && call.root >= on.size()) [[unlikely]] {
    reject(call.what, "root is ", call.root, "; expected a rank from 0 to ", on.size() - 1);
  }
  if (call.type > datatype::custom) [[unlikely]] {
    reject(call.what, "type is unknown; expected a datatype");
  }
  has_op(call.what) ? check_reduction(call) : check_no_reduction(call);
  if (has_neighbors(call.what) != (call.neighbors != nullptr)) [[unlikely]] {
    reject(call.what, "a neighborhood ", call.neighbors == nullptr ? "is missing" : "was given",
           "; expected ", call.neighbors == nullptr ? "one" : "none");
  }
  check_extent(call, on.size());
  if (call.neighbors != nullptr) return check_neighbors(call, on.rank(), on.size());
  if (has_varying_blocks(call.what) || call.send_blocks != nullptr ||
      call.receive_blocks != nullptr) {
    check_layouts(call, on.rank(), on.size());
  }
  if (call.what != collective::barrier) check_buffers(call, on.rank(), on.size());
}

namespace detail {

void reject_size(std::string_view call, std::string_view argument, std::size_t has,
                 std::size_t expected, std::string_view because) {
  reject(call, argument, " has ", has, " elements; expected ", expected, ", ", because);
}

void reject_blocks(std::string_view call, std::size_t has, std::size_t ranks) {
  reject(call, "the buffer has ", has, " elements; expected a multiple of the ", ranks,
         " ranks, one block a rank");
}

void reject_neighbor_blocks(std::string_view call, std::string_view argument, std::size_t has,
                            std::size_t neighbors) {
  reject(call, argument, " has ", has, " elements; expected a multiple of ", neighbors,
         ", one block a neighbor");
}

std::size_t require_counts(std::string_view call, std::span<const std::size_t> counts,
                           std::size_t ranks, std::string_view because) {
  require_size(call, "counts", counts.size(), ranks, because);
  std::size_t all = 0;
  for (const std::size_t count : counts) {
    if (count > largest - all) [[unlikely]] {
      reject(call, "counts add up to more than a buffer can hold; expected at most ", largest,
             " elements");
    }
    all += count;
  }
  return all;
}

void require_within(std::string_view call, std::string_view argument, std::size_t has,
                    const block_layout& blocks, std::size_t ranks, std::string_view because) {
  const std::size_t all = require_counts(call, blocks.counts, ranks, because);
  if (blocks.displacements.empty()) {
    if (all <= has) return;
    reject(call, argument, " has ", has, " elements; expected at least ", all, ", all blocks");
  }
  require_size(call, "displacements", blocks.displacements.size(), ranks, because);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::size_t count = blocks.counts[rank];
    const std::size_t from = blocks.displacements[rank];
    if (count == 0 || (from <= has && count <= has - from)) continue;
    reject(call, argument, ": block ", rank, " is ", count, " elements from ", from,
           "; expected it within the buffer's ", has);
  }
}

void reject_reduction(collective what, const reducer& op, std::size_t element_bytes) {
  if (op.custom == nullptr) {
    reject(what, "op is ", name(op.op),
           ", the elements of a type of the program's own; expected a custom_reduction");
  }
  reject(what, "op combines elements of ", op.custom->element_bytes, " bytes; expected ",
         element_bytes, ", as in the buffers");
}

}  // namespace detail
}  // namespace muster
