#pragma once

#include <cstddef>
#include <ranges>

#include <muster/call/elements.hpp>
#include <muster/run/perform.hpp>

/// Collectives that move blocks of one length. See `perform` for what completes them and how they
/// fail.
namespace muster {
namespace detail {

/// Numbers keep their type in the call's fingerprint; other elements travel as bytes.
template <class T>
arguments elements(collective what, std::size_t count) noexcept {
  arguments call;
  call.what = what;
  if constexpr (number<T>) {
    call.type = datatype_of<T>();
    call.count = count;
  } else {
    call.count = count * sizeof(T);
  }
  return call;
}

}  // namespace detail

/// Copies `data` of rank `root` to `data` of every rank; the same length everywhere. The root's
/// operation completes when its buffer may change, which may be before anyone has received it.
template <receive_buffer R>
task<> bcast(team& on, R&& data, std::size_t root) {
  using T = detail::element_of<R>;
  arguments call = detail::elements<T>(collective::bcast, std::ranges::size(data));
  call.root = root;
  call.receive = detail::write_to(data);
  return perform(on, call);
}

/// Sends block i of `send` of rank `root` to `receive` of rank i. `send`, which only the root need
/// have, is `team.size()` times as long as `receive`.
template <send_buffer S, receive_buffer R>
  requires send_buffer_for<S, R>
task<> scatter(team& on, S&& send, R&& receive, std::size_t root) {
  using T = detail::element_of<R>;
  const std::size_t count = std::ranges::size(receive);
  arguments call = detail::elements<T>(collective::scatter, count);
  if (on.rank() == root) {
    detail::require_size("scatter", "send", std::ranges::size(send), count * on.size(),
                         "a block as long as receive for each rank, at the root");
    call.send = detail::read_from(send);
  }
  call.root = root;
  call.receive = detail::write_to(receive);
  return perform(on, call);
}

/// In place: at the root `data` is a block for each rank, of which its own stays where it is;
/// elsewhere it is the block received.
template <receive_buffer R>
task<> scatter(team& on, R&& data, std::size_t root) {
  using T = detail::element_of<R>;
  const std::size_t has = std::ranges::size(data);
  const bool is_root = on.rank() == root;
  const std::size_t count = is_root ? detail::require_blocks("scatter", has, on.size()) : has;
  arguments call = detail::elements<T>(collective::scatter, count);
  call.root = root;
  if (is_root) {
    call.send = detail::read_from(data);
  } else {
    call.receive = detail::write_to(data);
  }
  return perform(on, call);
}

/// Gathers the `send` of all ranks, in rank order, into `receive` of rank `root`, which is
/// `team.size()` times as long; elsewhere `receive` is ignored.
template <send_buffer S, receive_buffer R>
  requires send_buffer_for<S, R>
task<> gather(team& on, S&& send, R&& receive, std::size_t root) {
  using T = detail::element_of<R>;
  const std::size_t count = std::ranges::size(send);
  arguments call = detail::elements<T>(collective::gather, count);
  if (on.rank() == root) {
    detail::require_size("gather", "receive", std::ranges::size(receive), count * on.size(),
                         "a block as long as send for each rank, at the root");
    call.receive = detail::write_to(receive);
  }
  call.root = root;
  call.send = detail::read_from(send);
  return perform(on, call);
}

/// In place: at the root `data` is a block from each rank, its own already filled in; elsewhere it
/// is the block to send.
template <receive_buffer R>
task<> gather(team& on, R&& data, std::size_t root) {
  using T = detail::element_of<R>;
  const std::size_t has = std::ranges::size(data);
  const bool is_root = on.rank() == root;
  const std::size_t count = is_root ? detail::require_blocks("gather", has, on.size()) : has;
  arguments call = detail::elements<T>(collective::gather, count);
  call.root = root;
  if (is_root) {
    call.receive = detail::write_to(data);
  } else {
    call.send = detail::read_from(data);
  }
  return perform(on, call);
}

/// Gathers the `send` of all ranks, in rank order, into `receive` of every rank, which is
/// `team.size()` times as long.
template <send_buffer S, receive_buffer R>
  requires send_buffer_for<S, R>
task<> allgather(team& on, S&& send, R&& receive) {
  using T = detail::element_of<S>;
  const std::size_t count = std::ranges::size(send);
  detail::require_size("allgather", "receive", std::ranges::size(receive), count * on.size(),
                       "a block as long as send for each rank");
  arguments call = detail::elements<T>(collective::allgather, count);
  call.send = detail::read_from(send);
  call.receive = detail::write_to(receive);
  return perform(on, call);
}

/// In place: `data` is one block a rank, this rank's already filled in.
template <receive_buffer R>
task<> allgather(team& on, R&& data) {
  using T = detail::element_of<R>;
  const std::size_t count = detail::require_blocks("allgather", std::ranges::size(data), on.size());
  arguments call = detail::elements<T>(collective::allgather, count);
  call.receive = detail::write_to(data);
  return perform(on, call);
}

/// Sends block i of `send` to rank i and receives rank i's block for this rank as block i of
/// `receive`. Both are one block a rank, all blocks of one length.
template <send_buffer S, receive_buffer R>
  requires send_buffer_for<S, R>
task<> alltoall(team& on, S&& send, R&& receive) {
  using T = detail::element_of<S>;
  const std::size_t count = detail::require_blocks("alltoall", std::ranges::size(send), on.size());
  detail::require_size("alltoall", "receive", std::ranges::size(receive), std::ranges::size(send),
                       "as many as in send");
  arguments call = detail::elements<T>(collective::alltoall, count);
  call.send = detail::read_from(send);
  call.receive = detail::write_to(receive);
  return perform(on, call);
}

/// In place: the blocks of `data` are replaced by those received.
template <receive_buffer R>
task<> alltoall(team& on, R&& data) {
  using T = detail::element_of<R>;
  const std::size_t count = detail::require_blocks("alltoall", std::ranges::size(data), on.size());
  arguments call = detail::elements<T>(collective::alltoall, count);
  call.receive = detail::write_to(data);
  return perform(on, call);
}

}  // namespace muster
