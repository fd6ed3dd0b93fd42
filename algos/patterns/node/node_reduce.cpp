#include "algos/patterns/node/node_reduce.hpp"

#include <muster/coro/when_all.hpp>

#include "algos/patterns/node/combine_arrivals.hpp"
#include "algos/patterns/node/reduce_slices.hpp"

namespace muster::algos {
namespace {

task<> collect_from_leader(context& me, const arguments& call, track& out) {
  co_await me.read(0, 0);
  for (std::size_t k = 0; k < out.cut().count(); ++k) {
    co_await out.arrived(0, k);
    co_await out.copy(0, k, 0, call.result());
    out.take(k);
  }
}

}  // namespace

task<> combine_node(context& me, track& in, std::span<const std::byte> own, std::size_t item,
                    std::span<std::byte> to) {
  co_await combine_arrivals(me, item_inputs{in, item}, own.data() + in.cut().offset(item),
                            to.data(), to.size() / me.call().element());
  in.take(item);
}

task<> contribute_to_leader(context& me, const arguments& call, track& in) {
  in.lend(call.contribution(), track::lending::for_loads);
  for (std::size_t k = 0; k < in.cut().count(); ++k) {
    co_await contribute(me, in, call.contribution(), k, 0);
  }
  co_await in.returned(0);
}

// In place, an item's result may overwrite its contribution: it comes only after that was read.
task<> contribute_and_collect(context& me, const arguments& call, track& in, track& out) {
  auto outgoing = contribute_to_leader(me, call, in);
  auto incoming = collect_from_leader(me, call, out);
  co_await when_all(std::move(outgoing), std::move(incoming));
}

task<> share_with_node(context& me, track& out, std::span<const std::byte> result,
                       std::size_t item) {
  std::byte* room = co_await out.room(item);
  co_await me.stage({room, result.size()}, result);
  out.post(item);
}

}  // namespace muster::algos
