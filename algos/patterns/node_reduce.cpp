#include "algos/patterns/node_reduce.hpp"

namespace muster::algos {

task<> combine_node(context& me, track& in, std::span<const std::byte> own, std::size_t item,
                    std::span<std::byte> to) {
  pooled<const std::byte*> inputs(me.node().size());
  inputs[0] = own.data() + in.cut().offset(item);  // the leader is its node's first rank
  co_await in.all_here(item);
  for (std::size_t i = 1; i < me.node().size(); ++i) inputs[i] = in.piece(i, item, 0);
  co_await me.combine(to.data(), inputs, to.size() / me.call().element());
  in.take(item);
}

}  // namespace muster::algos
