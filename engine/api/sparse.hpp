#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <muster/call/elements.hpp>
#include <muster/coro/task.hpp>
#include <muster/coro/when_all.hpp>
#include <muster/run/team.hpp>

namespace muster {

/// What a rank sends another.
template <class T>
struct block_to {
  std::size_t rank;
  std::span<const T> data;  ///< stays in place until the exchange is complete
};
/// What a rank has received from another.
template <class T>
struct block_from {
  std::size_t rank;
  std::vector<T> data;
};

namespace detail {

/// Tells every rank how many elements come from each other: 0 where nothing does, else one more.
/// Before it waits it takes its place in the team's order, and `number` among its exchanges.
task<std::vector<std::uint64_t>> tell_counts(team& on, std::vector<std::uint64_t> to,
                                             std::uint64_t& number);
task<> send_sparse(team& on, std::size_t to, std::uint64_t number,
                   std::span<const std::byte> bytes);
task<> receive_sparse(team& on, std::size_t from, std::uint64_t number, std::span<std::byte> bytes);
/// \throws error `errc::invalid_argument` where a rank does not exist, or is named twice.
void count_block(const team& on, std::vector<std::uint64_t>& to, std::size_t rank,
                 std::size_t count);

}  // namespace detail

/// Sends blocks of any length to any ranks, which need not know who sends them anything: a
/// collective of the team, which all ranks call with elements of one type. Blocks may be empty.
///
/// All ranks tell each other how many elements go where, in an alltoall of a word for each pair;
/// then the blocks go straight to where they are received. For few blocks a rank: where most ranks
/// send to most others, alltoallv is faster. (Hoefler, Siebert, Lumsdaine 2010 call the problem
/// dynamic sparse data exchange; this is their first protocol.)
///
/// \returns the blocks for this rank, in the order of their senders
/// \throws as `perform`
template <movable_element T>
task<std::vector<block_from<T>>> sparse_alltoallv(team& on, std::vector<block_to<T>> blocks) {
  std::vector<std::uint64_t> counts(on.size());
  for (const block_to<T>& each : blocks) {
    detail::count_block(on, counts, each.rank, each.data.size());
  }
  std::uint64_t number = 0;
  const auto come = co_await detail::tell_counts(on, std::move(counts), number);
  std::vector<block_from<T>> received;
  for (std::size_t rank = 0; rank < come.size(); ++rank) {
    if (come[rank] != 0) received.push_back({rank, std::vector<T>(come[rank] - 1)});
  }
  std::vector<task<>> parts;
  for (block_from<T>& each : received) {
    parts.push_back(detail::receive_sparse(on, each.rank, number,
                                           std::as_writable_bytes(std::span(each.data))));
  }
  for (const block_to<T>& each : blocks) {
    parts.push_back(detail::send_sparse(on, each.rank, number, std::as_bytes(each.data)));
  }
  co_await when_all(std::move(parts));
  co_return received;
}

}  // namespace muster
