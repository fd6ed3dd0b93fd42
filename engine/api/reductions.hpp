#pragma once

#include <cstddef>
#include <ranges>
#include <span>
#include <string_view>

#include <muster/call/elements.hpp>
#include <muster/run/perform.hpp>

/// Collectives that combine, element by element. Those that do not commute are combined in rank
/// order; others may be combined by node first, in an order that depends on nothing but the call
/// and where the team's ranks are, unless `in_arrival_order` allows any. Results are the same to
/// the bit on every rank and, but for that, from run to run. See `perform` for what completes them
/// and how they fail.
namespace muster {
namespace detail {

[[noreturn]] void reject_reduction(collective what, const reducer& op, std::size_t element_bytes);

/// Throws unless `op` is made for these elements, or built in where they are of a type of Muster's.
inline void require_reduction(collective what, const reducer& op, std::size_t element_bytes,
                              datatype type) {
  const bool fits =
      op.custom == nullptr ? type != datatype::custom : op.custom->element_bytes == element_bytes;
  if (!fits) [[unlikely]] {
    reject_reduction(what, op, element_bytes);
  }
}

template <class T>
arguments reducing(collective what, std::size_t count, const reducer& op) {
  constexpr datatype type = type_of<std::remove_cv_t<T>>;
  require_reduction(what, op, sizeof(T), type);
  arguments call;
  call.what = what;
  call.type = op.custom == nullptr ? type : datatype::custom;
  call.op = op.op;
  call.order = op.order;
  call.custom = op.custom;
  call.count = count;
  return call;
}

/// Elements of each block, one a rank, and all of them.
std::size_t require_counts(std::string_view call, std::span<const std::size_t> counts,
                           std::size_t ranks, std::string_view because = "one for each rank");

}  // namespace detail

/// Combines the `send` of all ranks into `receive` of rank `root`, which is as long as `send`;
/// elsewhere `receive` is ignored.
template <send_buffer S, receive_buffer R>
  requires send_buffer_for<S, R>
task<> reduce(team& on, S&& send, R&& receive, reducer op, std::size_t root) {
  using T = detail::element_of<S>;
  const std::size_t count = std::ranges::size(send);
  if (on.rank() == root) {
    detail::require_size("reduce", "receive", std::ranges::size(receive), count,
                         "as many as in send, at the root");
  }
  arguments call = detail::reducing<T>(collective::reduce, count, op);
  call.root = root;
  call.send = detail::read_from(send);
  call.receive = on.rank() == root ? detail::write_to(receive) : nullptr;
  return perform(on, call);
}

/// In place: `data` is every rank's contribution and, at the root, becomes the result. Elsewhere it
/// is left as it was.
template <receive_buffer R>
task<> reduce(team& on, R&& data, reducer op, std::size_t root) {
  using T = detail::element_of<R>;
  arguments call = detail::reducing<T>(collective::reduce, std::ranges::size(data), op);
  call.root = root;
  call.receive = detail::write_to(data);
  return perform(on, call);
}

/// Combines the `send` of all ranks into `receive` of every rank, as long as `send`.
template <send_buffer S, receive_buffer R>
  requires send_buffer_for<S, R>
task<> allreduce(team& on, S&& send, R&& receive, reducer op) {
  using T = detail::element_of<S>;
  const std::size_t count = std::ranges::size(send);
  detail::require_size("allreduce", "receive", std::ranges::size(receive), count,
                       "as many as in send");
  arguments call = detail::reducing<T>(collective::allreduce, count, op);
  call.send = detail::read_from(send);
  call.receive = detail::write_to(receive);
  return perform(on, call);
}

/// In place: `data` is the contribution and becomes the result.
template <receive_buffer R>
task<> allreduce(team& on, R&& data, reducer op) {
  using T = detail::element_of<R>;
  arguments call = detail::reducing<T>(collective::allreduce, std::ranges::size(data), op);
  call.receive = detail::write_to(data);
  return perform(on, call);
}

/// Combines the `send` of all ranks, one block for each, and gives block i of the result to rank i:
/// `send` is `team.size()` times as long as `receive`.
template <send_buffer S, receive_buffer R>
  requires send_buffer_for<S, R>
task<> reduce_scatter_block(team& on, S&& send, R&& receive, reducer op) {
  using T = detail::element_of<S>;
  const std::size_t count = std::ranges::size(receive);
  detail::require_size("reduce_scatter_block", "send", std::ranges::size(send), count * on.size(),
                       "a block as long as receive for each rank");
  arguments call = detail::reducing<T>(collective::reduce_scatter_block, count, op);
  call.send = detail::read_from(send);
  call.receive = detail::write_to(receive);
  return perform(on, call);
}

/// In place: `data` is the contribution; its first block becomes this rank's block of the result,
/// what the others hold then is unspecified.
template <receive_buffer R>
task<> reduce_scatter_block(team& on, R&& data, reducer op) {
  using T = detail::element_of<R>;
  const std::size_t count =
      detail::require_blocks("reduce_scatter_block", std::ranges::size(data), on.size());
  arguments call = detail::reducing<T>(collective::reduce_scatter_block, count, op);
  call.receive = detail::write_to(data);
  return perform(on, call);
}

/// The same with blocks of `counts[i]` elements for rank i, one after the other; `counts` is the
/// same on every rank and must stay until the call is complete.
template <send_buffer S, receive_buffer R>
  requires send_buffer_for<S, R>
task<> reduce_scatter(team& on, S&& send, std::span<const std::size_t> counts, R&& receive,
                      reducer op) {
  using T = detail::element_of<S>;
  const std::size_t all = detail::require_counts("reduce_scatter", counts, on.size());
  detail::require_size("reduce_scatter", "send", std::ranges::size(send), all, "all blocks");
  detail::require_size("reduce_scatter", "receive", std::ranges::size(receive), counts[on.rank()],
                       "this rank's own block");
  arguments call = detail::reducing<T>(collective::reduce_scatter, counts[on.rank()], op);
  call.send = detail::read_from(send);
  call.receive = detail::write_to(receive);
  return perform(on, call, {counts}, {});
}

/// In place: `data` is the contribution; its first elements become this rank's block of the result,
/// what the others hold then is unspecified.
template <receive_buffer R>
task<> reduce_scatter(team& on, R&& data, std::span<const std::size_t> counts, reducer op) {
  using T = detail::element_of<R>;
  const std::size_t all = detail::require_counts("reduce_scatter", counts, on.size());
  detail::require_size("reduce_scatter", "data", std::ranges::size(data), all, "all blocks");
  arguments call = detail::reducing<T>(collective::reduce_scatter, counts[on.rank()], op);
  call.receive = detail::write_to(data);
  return perform(on, call, {counts}, {});
}

/// Combines the `send` of ranks 0 to i into `receive` of rank i, as long as `send`.
template <send_buffer S, receive_buffer R>
  requires send_buffer_for<S, R>
task<> scan(team& on, S&& send, R&& receive, reducer op) {
  using T = detail::element_of<S>;
  const std::size_t count = std::ranges::size(send);
  detail::require_size("scan", "receive", std::ranges::size(receive), count, "as many as in send");
  arguments call = detail::reducing<T>(collective::scan, count, op);
  call.send = detail::read_from(send);
  call.receive = detail::write_to(receive);
  return perform(on, call);
}

/// In place: `data` is the contribution and becomes the result.
template <receive_buffer R>
task<> scan(team& on, R&& data, reducer op) {
  using T = detail::element_of<R>;
  arguments call = detail::reducing<T>(collective::scan, std::ranges::size(data), op);
  call.receive = detail::write_to(data);
  return perform(on, call);
}

/// Combines the `send` of ranks 0 to i - 1 into `receive` of rank i; that of rank 0 is left as it
/// was.
template <send_buffer S, receive_buffer R>
  requires send_buffer_for<S, R>
task<> exscan(team& on, S&& send, R&& receive, reducer op) {
  using T = detail::element_of<S>;
  const std::size_t count = std::ranges::size(send);
  detail::require_size("exscan", "receive", std::ranges::size(receive), count,
                       "as many as in send");
  arguments call = detail::reducing<T>(collective::exscan, count, op);
  call.send = detail::read_from(send);
  call.receive = detail::write_to(receive);
  return perform(on, call);
}

/// In place: `data` is the contribution and becomes the result; that of rank 0 is left as it was.
template <receive_buffer R>
task<> exscan(team& on, R&& data, reducer op) {
  using T = detail::element_of<R>;
  arguments call = detail::reducing<T>(collective::exscan, std::ranges::size(data), op);
  call.receive = detail::write_to(data);
  return perform(on, call);
}

}  // namespace muster
