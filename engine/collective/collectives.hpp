#pragma once

#include <concepts>
#include <cstddef>
#include <ranges>
#include <span>
#include <string_view>
#include <type_traits>

#include "engine/collective/arguments.hpp"
#include "engine/coro/task.hpp"
#include "engine/team/team.hpp"

namespace muster {

/// Runs any collective from its plain arguments; the typed forms below end here.
///
/// Begins when awaited or started: then, in the order of these beginnings, it takes its place among
/// the team's operations, which must be the same on all ranks. Completes on the thread that drives
/// the team's engine, when this rank's buffers may be used again and its results are in place;
/// other ranks may still be at work. Buffers belong to the operation until then.
///
/// \throws error
///   - `errc::invalid_argument`: an argument is wrong; nothing was sent and the team is whole;
///   - `errc::mismatched_call`: another rank called something else; the text names both;
///   - `errc::rank_died`, `errc::rank_left`: a rank that is needed is gone;
///   - `errc::stopped`, `errc::deadline_exceeded`: see `with_stop`, `with_timeout`.
///
/// All but the first break the team on every rank.
task<> perform(team& on, arguments call);

/// The id of the algorithm that would run this call.
std::string_view chosen_algorithm(const team& on, const arguments& call);

namespace detail {

template <class T>
inline constexpr bool is_number = false;
template <class T>
  requires std::integral<T>
inline constexpr bool is_number<T> = !std::same_as<T, bool> && (sizeof(T) == 1 || sizeof(T) == 2 ||
                                                                sizeof(T) == 4 || sizeof(T) == 8);
template <>
inline constexpr bool is_number<float> = true;
template <>
inline constexpr bool is_number<double> = true;

template <class T>
consteval datatype integer_type() {
  constexpr bool is_signed = std::is_signed_v<T>;
  if (sizeof(T) == 1) return is_signed ? datatype::int8 : datatype::uint8;
  if (sizeof(T) == 2) return is_signed ? datatype::int16 : datatype::uint16;
  if (sizeof(T) == 4) return is_signed ? datatype::int32 : datatype::uint32;
  return is_signed ? datatype::int64 : datatype::uint64;
}

}  // namespace detail

/// Types that reduce and allreduce combine: all integers, float, double.
template <class T>
concept number = detail::is_number<std::remove_cv_t<T>>;

/// Types that collectives move: anything trivially copyable.
template <class T>
concept movable_element = std::is_trivially_copyable_v<std::remove_cv_t<T>>;

template <number T>
consteval datatype datatype_of() {
  using plain = std::remove_cv_t<T>;
  if constexpr (std::same_as<plain, float>) {
    return datatype::float32;
  } else if constexpr (std::same_as<plain, double>) {
    return datatype::float64;
  } else {
    return detail::integer_type<plain>();
  }
}

/// A buffer to read from: a contiguous range that outlives the call (an lvalue, a span, a view).
template <class R>
concept send_buffer = std::ranges::contiguous_range<R> && std::ranges::borrowed_range<R> &&
                      std::ranges::sized_range<R> && movable_element<std::ranges::range_value_t<R>>;
/// A buffer to write to.
template <class R>
concept receive_buffer =
    send_buffer<R> && !std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

namespace detail {

template <class R>
using element_of = std::ranges::range_value_t<R>;

template <class R>
const std::byte* read_from(R&& range) noexcept {
  return reinterpret_cast<const std::byte*>(std::ranges::data(range));
}
template <class R>
std::byte* write_to(R&& range) noexcept {
  return reinterpret_cast<std::byte*>(std::ranges::data(range));
}

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

/// Throws `errc::invalid_argument`: "allgather: receive buffer has 3 elements, expected 4 (…)".
void require_size(std::string_view call, std::string_view argument, std::size_t has,
                  std::size_t expected, std::string_view because);
/// Throws unless a buffer of `has` elements divides into one block a rank.
std::size_t require_blocks(std::string_view call, std::size_t has, std::size_t ranks);

}  // namespace detail

/// Completes when every rank of the team has called it. (Tipparaju, Nieplocha, Panda 2003, 2.2)
task<> barrier(team& on);

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

/// Combines the `send` of all ranks, element by element, in rank order, into `receive` of rank
/// `root`. `receive` is as long as `send` at the root and ignored elsewhere.
template <send_buffer S, receive_buffer R>
  requires number<detail::element_of<S>> &&
           std::same_as<detail::element_of<S>, detail::element_of<R>>
task<> reduce(team& on, S&& send, R&& receive, reduction op, std::size_t root) {
  using T = detail::element_of<S>;
  const std::size_t count = std::ranges::size(send);
  if (on.rank() == root) {
    detail::require_size("reduce", "receive", std::ranges::size(receive), count,
                         "as many as in send, at the root");
  }
  arguments call = detail::elements<T>(collective::reduce, count);
  call.op = op;
  call.root = root;
  call.send = detail::read_from(send);
  call.receive = on.rank() == root ? detail::write_to(receive) : nullptr;
  return perform(on, call);
}

/// In place: `data` is every rank's contribution and, at the root, becomes the result. Elsewhere it
/// is left as it was.
template <receive_buffer R>
  requires number<detail::element_of<R>>
task<> reduce(team& on, R&& data, reduction op, std::size_t root) {
  using T = detail::element_of<R>;
  arguments call = detail::elements<T>(collective::reduce, std::ranges::size(data));
  call.op = op;
  call.root = root;
  call.receive = detail::write_to(data);
  return perform(on, call);
}

/// Combines the `send` of all ranks, element by element, in rank order, into `receive` of every
/// rank; bitwise the same everywhere and from run to run.
template <send_buffer S, receive_buffer R>
  requires number<detail::element_of<S>> &&
           std::same_as<detail::element_of<S>, detail::element_of<R>>
task<> allreduce(team& on, S&& send, R&& receive, reduction op) {
  using T = detail::element_of<S>;
  const std::size_t count = std::ranges::size(send);
  detail::require_size("allreduce", "receive", std::ranges::size(receive), count,
                       "as many as in send");
  arguments call = detail::elements<T>(collective::allreduce, count);
  call.op = op;
  call.send = detail::read_from(send);
  call.receive = detail::write_to(receive);
  return perform(on, call);
}

/// In place: `data` is the contribution and becomes the result.
template <receive_buffer R>
  requires number<detail::element_of<R>>
task<> allreduce(team& on, R&& data, reduction op) {
  using T = detail::element_of<R>;
  arguments call = detail::elements<T>(collective::allreduce, std::ranges::size(data));
  call.op = op;
  call.receive = detail::write_to(data);
  return perform(on, call);
}

/// Gathers the `send` of all ranks, in rank order, into `receive` of every rank, which is
/// `team.size()` times as long.
template <send_buffer S, receive_buffer R>
  requires std::same_as<detail::element_of<S>, detail::element_of<R>>
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
  requires std::same_as<detail::element_of<S>, detail::element_of<R>>
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
