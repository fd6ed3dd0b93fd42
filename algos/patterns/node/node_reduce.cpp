#include "algos/patterns/node/node_reduce.hpp"

#include <muster/coro/when_all.hpp>

#include "algos/patterns/node/combine_arrivals.hpp"
#include "algos/patterns/node/leaders.hpp"
#include "algos/patterns/node/reduce_slices.hpp"

namespace muster::algos {
namespace {

task<> collect_from_leader(context& me, const arguments& call, pipeline& out) {
  co_await me.read(0, 0);
  for (std::size_t k = 0; k < out.cut().count(); ++k) {
    co_await out.arrived(0, k);
    co_await out.copy(0, k, 0, call.result());
    out.take(k);
  }
}

}  // namespace

task<> combine_node(context& me, pipeline& in, std::span<const std::byte> own, std::size_t segment,
                    std::span<std::byte> to) {
  co_await combine_arrivals(me, segment_inputs{in, segment}, own.data() + in.cut().offset(segment),
                            to.data(), to.size() / me.call().element());
  in.take(segment);
}

task<> contribute_to_leader(context& me, const arguments& call, pipeline& in) {
  in.lend(call.contribution(), pipeline::lending::for_loads);
  for (std::size_t k = 0; k < in.cut().count(); ++k) {
    co_await contribute(me, in, call.contribution(), k, 0);
  }
  co_await in.returned(0);
}

// In place, a segment's result may overwrite its contribution: it comes only after that was read.
task<> contribute_and_collect(context& me, const arguments& call, pipeline& in, pipeline& out) {
  auto outgoing = contribute_to_leader(me, call, in);
  auto incoming = collect_from_leader(me, call, out);
  co_await when_all(std::move(outgoing), std::move(incoming));
}

task<> share_with_node(context& me, pipeline& out, std::span<const std::byte> result,
                       std::size_t segment) {
  std::byte* slot = co_await out.slot(segment);
  co_await me.stage({slot, result.size()}, result);
  out.post(segment);
}

task<> allreduce_by_leaders(context& me, const arguments& call, leaders_part lead) {
  const segments cut(call.bytes(), 1, segments::in_step, call.grain());
  pipeline in(me, 0, cut);
  pipeline out(me, 1, cut);
  me.arrive();
  if (is_leader(me)) {
    co_await lead(me, call, in, out);
  } else {
    co_await contribute_and_collect(me, call, in, out);
  }
}

}  // namespace muster::algos
