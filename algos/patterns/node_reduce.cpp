#include "algos/patterns/node_reduce.hpp"

#include "algos/patterns/combine_arrivals.hpp"

namespace muster::algos {

task<> combine_node(context& me, track& in, std::span<const std::byte> own, std::size_t item,
                    std::span<std::byte> to) {
  co_await combine_arrivals(me, item_inputs{in, item}, own.data() + in.cut().offset(item),
                            to.data(), to.size() / me.call().element());
  in.take(item);
}

}  // namespace muster::algos
