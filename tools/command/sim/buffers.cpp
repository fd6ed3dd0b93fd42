#include "tools/command/sim/buffers.hpp"

#include <algorithm>

namespace muster::simulator {
namespace {

using bench::word_bytes;

// Beyond all addresses that x86-64 can map.
constexpr std::uintptr_t nowhere = std::uintptr_t{1} << 58;

/// The root has the longest buffers; all ranks have room for as much.
std::size_t words_a_rank(const bench::call_shape& shape) {
  return shape.send_words + shape.recv_words;
}

}  // namespace

call_buffers::call_buffers(const point& at, std::size_t ranks, bool payload)
    : what_(at.what), ranks_(ranks), words_(at.bytes / word_bytes) {
  blocks_.arrange(words_, ranks_);
  layout_ = {blocks_.counts(), blocks_.displacements()};
  if (payload) memory_.resize(ranks * words_a_rank(shape_of(bench::root_rank)) + 1);
}

std::size_t call_buffers::bytes(const point& at, std::size_t ranks) {
  return ranks * word_bytes *
         words_a_rank(bench::shape_of(at.what, at.bytes / word_bytes, bench::root_rank, ranks));
}

bench::call_shape call_buffers::shape_of(std::size_t rank) const {
  return bench::shape_of(what_, words_, rank, ranks_);
}

bench::checked_call call_buffers::checked(std::size_t rank, std::size_t number) const {
  return {what_, rank, ranks_, words_, number};
}

std::uintptr_t call_buffers::send_address(std::size_t rank) const {
  const std::uintptr_t first =
      memory_.empty() ? nowhere : reinterpret_cast<std::uintptr_t>(memory_.data());
  return first + rank * words_a_rank(shape_of(bench::root_rank)) * word_bytes;
}

std::uintptr_t call_buffers::receive_address(std::size_t rank) const {
  return send_address(rank) + shape_of(rank).send_words * word_bytes;
}

std::span<double> call_buffers::send(std::size_t rank) const {
  return {reinterpret_cast<double*>(send_address(rank)), shape_of(rank).send_words};
}

std::span<double> call_buffers::receive(std::size_t rank) const {
  return {reinterpret_cast<double*>(receive_address(rank)), shape_of(rank).recv_words};
}

bool call_buffers::sums() const {
  return what_ == collective::reduce || what_ == collective::allreduce;
}

arguments call_buffers::call_of(std::size_t rank) const {
  arguments call = bench::call_of(what_, words_);
  bench::lay_out(call, rank, layout_);
  if (what_ == collective::barrier) return call;
  if (what_ == collective::bcast) {
    call.receive = reinterpret_cast<std::byte*>(send_address(rank));
    return call;
  }
  if (call.sends(rank)) call.send = reinterpret_cast<const std::byte*>(send_address(rank));
  if (call.receives(rank)) call.receive = reinterpret_cast<std::byte*>(receive_address(rank));
  return call;
}

void call_buffers::prepare(std::size_t rank, std::size_t number) {
  if (!memory_.empty()) bench::prepare(checked(rank, number), send(rank), receive(rank));
}

bool call_buffers::is_right(std::size_t rank, std::size_t number) {
  if (memory_.empty()) return true;
  const bench::checked_call call = checked(rank, number);
  if (!sums()) return bench::is_right(call, send(rank), receive(rank));
  const bool receives = what_ == collective::allreduce || rank == std::size_t{bench::root_rank};
  return bench::is_right(call, send(rank), {}) &&
         (!receives || std::ranges::equal(receive(rank), expected_sums(number)));
}

std::span<const double> call_buffers::expected_sums(std::size_t number) {
  if (sums_of_ == number) return sums_;
  sums_of_ = number;
  sums_.resize(words_);
  for (std::size_t at = 0; at < words_; ++at) {
    sums_[at] = bench::expected_sum<double>(checked(0, number), ranks_, at);
  }
  return sums_;
}

}  // namespace muster::simulator
