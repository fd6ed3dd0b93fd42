#pragma once

#include <cstddef>
#include <ranges>
#include <span>

#include <muster/api/varying.hpp>
#include <muster/call/neighborhood.hpp>

/// Collectives in which each rank exchanges blocks with its neighbors alone, and waits for nobody
/// else. All ranks of the team make the call, also those that have no neighbors, with the same
/// type of elements.
///
/// A block must be as long where it is received as where it is sent; another length is
/// `errc::mismatched_call`. Where a rank has no destinations, or no sources, the buffer for these
/// is ignored. See `perform_with` for what completes them and how they fail; the lists need only be
/// there while the call is made.
namespace muster {

/// Sends `send` to all destinations, and receives the block of each source into one of those of
/// `receive`, which are all of one length.
template <send_buffer S, receive_buffer R>
  requires send_buffer_for<S, R>
task<> neighbor_allgather(team& on, S&& send, R&& receive, const neighborhood& with) {
  using T = detail::element_of<S>;
  const std::size_t received = detail::require_neighbor_blocks(
      "neighbor_allgather", "receive", std::ranges::size(receive), with.sources.size());
  arguments call = detail::elements<T>(collective::neighbor_allgather, std::ranges::size(send));
  call.send = detail::read_from(send);
  call.receive = detail::write_to(receive);
  return perform_with(on, call, with, received * detail::units<T>);
}

/// Sends block i of `send` to destination i and receives the block of source i as block i of
/// `receive`. All blocks of a buffer are of one length.
template <send_buffer S, receive_buffer R>
  requires send_buffer_for<S, R>
task<> neighbor_alltoall(team& on, S&& send, R&& receive, const neighborhood& with) {
  using T = detail::element_of<S>;
  const std::size_t sent = detail::require_neighbor_blocks(
      "neighbor_alltoall", "send", std::ranges::size(send), with.destinations.size());
  const std::size_t received = detail::require_neighbor_blocks(
      "neighbor_alltoall", "receive", std::ranges::size(receive), with.sources.size());
  arguments call = detail::elements<T>(collective::neighbor_alltoall, sent);
  call.send = detail::read_from(send);
  call.receive = detail::write_to(receive);
  return perform_with(on, call, with, received * detail::units<T>);
}

/// As neighbor_allgather, with blocks of any lengths in `receive`, one a source.
template <varying_send_buffer S, varying_receive_buffer R>
  requires send_buffer_for<S, R>
task<> neighbor_allgatherv(team& on, S&& send, R&& receive, block_layout blocks,
                           const neighborhood& with) {
  using T = detail::element_of<R>;
  detail::require_within("neighbor_allgatherv", "receive", std::ranges::size(receive), blocks,
                         with.sources.size(), "one for each source");
  arguments call = detail::elements<T>(collective::neighbor_allgatherv, std::ranges::size(send));
  call.send = detail::read_from(send);
  call.receive = detail::write_to(receive);
  return perform_with(on, call, with, {}, blocks);
}

/// As neighbor_alltoall, with blocks of any lengths, one a destination and one a source.
template <varying_send_buffer S, varying_receive_buffer R>
  requires send_buffer_for<S, R>
task<> neighbor_alltoallv(team& on, S&& send, block_layout send_blocks, R&& receive,
                          block_layout receive_blocks, const neighborhood& with) {
  using T = detail::element_of<R>;
  detail::require_within("neighbor_alltoallv", "send", std::ranges::size(send), send_blocks,
                         with.destinations.size(), "one for each destination");
  detail::require_within("neighbor_alltoallv", "receive", std::ranges::size(receive),
                         receive_blocks, with.sources.size(), "one for each source");
  arguments call = detail::elements<T>(collective::neighbor_alltoallv, 0);
  call.send = detail::read_from(send);
  call.receive = detail::write_to(receive);
  return perform_with(on, call, with, send_blocks, receive_blocks);
}

/// As neighbor_alltoallv, with layouts in bytes, for blocks of different types.
inline task<> neighbor_alltoallw(team& on, std::span<const std::byte> send,
                                 block_layout send_blocks, std::span<std::byte> receive,
                                 block_layout receive_blocks, const neighborhood& with) {
  return neighbor_alltoallv(on, send, send_blocks, receive, receive_blocks, with);
}

}  // namespace muster
