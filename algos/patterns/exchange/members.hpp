#pragma once

#include <cstddef>
#include <span>

#include <muster/run/context.hpp>

/// What some ranks of a team, whatever their nodes, combine among themselves by messages.
namespace muster::algos {

/// Those ranks, numbered from 0 on, of which this one is number `mine`.
struct members {
  std::size_t count;
  std::size_t mine;
  std::size_t (*number_to_rank)(const context& me, std::size_t number);
};

members all_ranks(const context& me);

/// `to = lower op higher`, where `to` may be one of them.
wire::work_wait combine_ordered(context& me, std::span<std::byte> to, const std::byte* lower,
                                const std::byte* higher);

/// Combines the members' `own` bytes in their order over a binomial tree. Member 0 has the result
/// in `sum`, which may be its own bytes; that of others is working memory, or nothing where nobody
/// is below them in the tree. There is `room` as `room_to_reduce` makes it. ⌈log2 n⌉ steps, each of
/// all the bytes.
task<> reduce_members(context& me, members who, std::span<const std::byte> own,
                      std::span<std::byte> sum, std::span<std::byte> room);

/// Working memory for up to two others' bytes, so that one can come while another is combined;
/// empty where nobody is below this member.
std::span<std::byte> room_to_reduce(context& me, members who, std::size_t bytes);

/// The same with the result at every member, bitwise the same, by recursive doubling. Where their
/// number is no power of two, each member too many first gives its bytes to a neighbor and gets
/// the result back at the end. There is `room` for another's bytes.
task<> allreduce_members(context& me, members who, std::span<const std::byte> own,
                         std::span<std::byte> sum, std::span<std::byte> room);

}  // namespace muster::algos
