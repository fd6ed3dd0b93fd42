#include "algos/patterns/node/node_messages.hpp"

#include "algos/patterns/node/copy_runs.hpp"

namespace muster::algos {
namespace {

bool follow_each_other(std::span<const std::size_t> ranks) {
  return ranks.back() - ranks.front() + 1 == ranks.size();
}

}  // namespace

std::span<std::byte> node_messages::place_of(std::size_t from) {
  const auto ranks = node_of(from);
  const std::size_t bytes = ranks.size() * call_.bytes();
  if (follow_each_other(ranks)) return {call_.received_from(ranks.front()).data(), bytes};
  const std::size_t whose = me_.is_zero_copy(bytes) ? from : me_.rank();
  std::span<std::byte>& room = rooms_[me_.shape().node_of(whose)];
  if (room.size() < bytes) room = me_.scratch(bytes);
  return room.first(bytes);
}

task<> node_messages::receive(std::size_t from) {
  const auto ranks = node_of(from);
  const std::span<std::byte> place = place_of(from);
  co_await me_.receive(from, place);
  if (follow_each_other(ranks)) co_return;
  const std::span<const std::byte> blocks = place;
  const auto to = [&](std::size_t i) { return call_.received_from(ranks[i]); };
  const auto block = [&](std::size_t i) {
    return blocks.subspan(i * call_.bytes(), call_.bytes());
  };
  co_await copy_runs(me_, ranks.size(), to, block);
}

}  // namespace muster::algos
