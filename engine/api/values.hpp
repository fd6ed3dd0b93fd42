#pragma once

#include <concepts>
#include <cstddef>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <muster/api/movement.hpp>
#include <muster/api/reductions.hpp>

/// Collectives that own what they use: a value in and a value out, or a vector that is moved in and
/// out. They complete and fail as the forms with buffers do; what is wrong with their arguments
/// they throw when awaited.
namespace muster {

/// A value that travels by itself, as opposed to a range of them. No pointer: an array is a range.
template <class T>
concept movable_value = movable_element<T> && !std::ranges::range<T> && !std::is_pointer_v<T>;

/// The combination of the `value` of all ranks, on every rank.
template <number T>
task<T> allreduce(team& on, T value, reducer op) {
  co_await allreduce(on, std::span(&value, 1), op);
  co_return value;
}

/// Element by element, of vectors of one length.
template <movable_element T>
task<std::vector<T>> allreduce(team& on, std::vector<T>&& values, reducer op) {
  // Moved before the first wait: a task that is begun later has them, too.
  return [](team& of, std::vector<T> own, reducer by) -> task<std::vector<T>> {
    co_await allreduce(of, std::span(own), by);
    co_return own;
  }(on, std::move(values), op);
}

/// The `value` of rank `root`, on every rank; that of others is ignored.
template <movable_value T>
task<T> bcast(team& on, T value, std::size_t root) {
  co_await bcast(on, std::span(&value, 1), root);
  co_return value;
}

/// The vector of rank `root`; those of others have its length.
template <movable_element T>
task<std::vector<T>> bcast(team& on, std::vector<T>&& values, std::size_t root) {
  return [](team& of, std::vector<T> own, std::size_t from) -> task<std::vector<T>> {
    co_await bcast(of, std::span(own), from);
    co_return own;
  }(on, std::move(values), root);
}

/// The `value` of each rank, in rank order.
template <movable_value T>
task<std::vector<T>> allgather(team& on, T value) {
  std::vector<T> all(on.size());
  co_await allgather(on, std::span<const T>(&value, 1), std::span(all));
  co_return all;
}

/// The vectors of all ranks, of one length, in rank order.
template <movable_element T>
task<std::vector<T>> allgather(team& on, std::vector<T>&& values) {
  return [](team& of, std::vector<T> own) -> task<std::vector<T>> {
    std::vector<T> all(own.size() * of.size());
    co_await allgather(of, std::span<const T>(own), std::span(all));
    co_return all;
  }(on, std::move(values));
}

/// Block i of every rank's `blocks`, which all are of one length, on rank i in rank order.
template <movable_element T>
task<std::vector<T>> alltoall(team& on, std::vector<T>&& blocks) {
  return [](team& of, std::vector<T> own) -> task<std::vector<T>> {
    std::vector<T> received(own.size());
    co_await alltoall(of, std::span<const T>(own), std::span(received));
    co_return received;
  }(on, std::move(blocks));
}

}  // namespace muster
