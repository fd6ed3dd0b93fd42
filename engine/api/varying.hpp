#pragma once

#include <cstddef>
#include <ranges>
#include <span>

#include <muster/api/movement.hpp>

/// Collectives whose blocks are of different lengths, any of which may be 0. Layouts count in
/// elements; blocks that a rank receives must not overlap. See `perform` for what completes them
/// and how they fail. A block must be as long where it is received as where it is sent.
namespace muster {
namespace detail {

/// How many of the units in which `elements` counts an element is.
template <class T>
inline constexpr std::size_t units = number<T> ? 1 : sizeof(T);
template <class T>
concept unit = units<T> == 1;

}  // namespace detail

/// Elements of the varying collectives: numbers and bytes. Blocks of anything else are sent as
/// bytes.
template <class R>
concept varying_send_buffer = send_buffer<R> && detail::unit<detail::element_of<R>>;
template <class R>
concept varying_receive_buffer = receive_buffer<R> && detail::unit<detail::element_of<R>>;

/// Sends the blocks of `send` of rank `root`, which alone need know `send` and `blocks`, to
/// `receive` of each rank, which is as long as its block.
template <varying_send_buffer S, varying_receive_buffer R>
  requires send_buffer_for<S, R>
task<> scatterv(team& on, S&& send, block_layout blocks, R&& receive, std::size_t root) {
  using T = detail::element_of<R>;
  arguments call = detail::elements<T>(collective::scatterv, std::ranges::size(receive));
  call.root = root;
  call.receive = detail::write_to(receive);
  if (on.rank() != root) return perform(on, call, {}, {});
  detail::require_within("scatterv", "send", std::ranges::size(send), blocks, on.size());
  detail::require_size("scatterv", "receive", call.count, blocks.counts[root],
                       "the root's own block");
  call.send = detail::read_from(send);
  return perform(on, call, blocks, {});
}

/// In place: at the root `data` is all blocks, of which its own stays where it is; elsewhere it is
/// the block received, and `blocks` is ignored.
template <varying_receive_buffer R>
task<> scatterv(team& on, R&& data, block_layout blocks, std::size_t root) {
  using T = detail::element_of<R>;
  arguments call = detail::elements<T>(collective::scatterv, std::ranges::size(data));
  call.root = root;
  if (on.rank() != root) {
    call.receive = detail::write_to(data);
    return perform(on, call, {}, {});
  }
  detail::require_within("scatterv", "data", std::ranges::size(data), blocks, on.size());
  call.send = detail::read_from(data);
  call.count = blocks.counts[root];
  return perform(on, call, blocks, {});
}

/// Gathers the `send` of all ranks into the blocks of `receive` of rank `root`, which alone need
/// know `receive` and `blocks`.
template <varying_send_buffer S, varying_receive_buffer R>
  requires send_buffer_for<S, R>
task<> gatherv(team& on, S&& send, R&& receive, block_layout blocks, std::size_t root) {
  using T = detail::element_of<R>;
  arguments call = detail::elements<T>(collective::gatherv, std::ranges::size(send));
  call.root = root;
  call.send = detail::read_from(send);
  if (on.rank() != root) return perform(on, call, {}, {});
  detail::require_within("gatherv", "receive", std::ranges::size(receive), blocks, on.size());
  detail::require_size("gatherv", "send", call.count, blocks.counts[root], "the root's own block");
  call.receive = detail::write_to(receive);
  return perform(on, call, {}, blocks);
}

/// In place: at the root `data` is all blocks, its own already filled in; elsewhere it is the block
/// to send, and `blocks` is ignored.
template <varying_receive_buffer R>
task<> gatherv(team& on, R&& data, block_layout blocks, std::size_t root) {
  using T = detail::element_of<R>;
  arguments call = detail::elements<T>(collective::gatherv, std::ranges::size(data));
  call.root = root;
  if (on.rank() != root) {
    call.send = detail::read_from(data);
    return perform(on, call, {}, {});
  }
  detail::require_within("gatherv", "data", std::ranges::size(data), blocks, on.size());
  call.receive = detail::write_to(data);
  call.count = blocks.counts[root];
  return perform(on, call, {}, blocks);
}

/// Gathers the `send` of all ranks into the blocks of `receive` of every rank. `blocks.counts` is
/// the same on all of them.
template <varying_send_buffer S, varying_receive_buffer R>
  requires send_buffer_for<S, R>
task<> allgatherv(team& on, S&& send, R&& receive, block_layout blocks) {
  using T = detail::element_of<R>;
  arguments call = detail::elements<T>(collective::allgatherv, std::ranges::size(send));
  detail::require_within("allgatherv", "receive", std::ranges::size(receive), blocks, on.size());
  detail::require_size("allgatherv", "send", call.count, blocks.counts[on.rank()],
                       "this rank's own block");
  call.send = detail::read_from(send);
  call.receive = detail::write_to(receive);
  return perform(on, call, {}, blocks);
}

/// In place: `data` is all blocks, this rank's already filled in.
template <varying_receive_buffer R>
task<> allgatherv(team& on, R&& data, block_layout blocks) {
  using T = detail::element_of<R>;
  detail::require_within("allgatherv", "data", std::ranges::size(data), blocks, on.size());
  arguments call = detail::elements<T>(collective::allgatherv, blocks.counts[on.rank()]);
  call.receive = detail::write_to(data);
  return perform(on, call, {}, blocks);
}

/// Sends block i of `send` to rank i and receives rank i's block for this rank as block i of
/// `receive`. Each rank knows its own layouts only.
template <varying_send_buffer S, varying_receive_buffer R>
  requires send_buffer_for<S, R>
task<> alltoallv(team& on, S&& send, block_layout send_blocks, R&& receive,
                 block_layout receive_blocks) {
  using T = detail::element_of<R>;
  arguments call = detail::elements<T>(collective::alltoallv, 0);
  detail::require_within("alltoallv", "send", std::ranges::size(send), send_blocks, on.size());
  detail::require_within("alltoallv", "receive", std::ranges::size(receive), receive_blocks,
                         on.size());
  call.send = detail::read_from(send);
  call.receive = detail::write_to(receive);
  return perform(on, call, send_blocks, receive_blocks);
}

/// In place: the blocks of `data` are replaced by those received, as long as those sent.
template <varying_receive_buffer R>
task<> alltoallv(team& on, R&& data, block_layout blocks) {
  using T = detail::element_of<R>;
  arguments call = detail::elements<T>(collective::alltoallv, 0);
  detail::require_within("alltoallv", "data", std::ranges::size(data), blocks, on.size());
  call.receive = detail::write_to(data);
  return perform(on, call, blocks, blocks);
}

/// As alltoallv, with layouts in bytes, for blocks of different types: MPI's alltoallw.
inline task<> alltoallw(team& on, std::span<const std::byte> send, block_layout send_blocks,
                        std::span<std::byte> receive, block_layout receive_blocks) {
  return alltoallv(on, send, send_blocks, receive, receive_blocks);
}

}  // namespace muster
