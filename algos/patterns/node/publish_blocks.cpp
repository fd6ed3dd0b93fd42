#include "algos/patterns/node/publish_blocks.hpp"

namespace muster::algos {

task<> publish_blocks(context& me, const arguments& call) {
  const auto own = call.own_block(me.rank());
  me.publish(own);
  co_await me.copy(call.received_from(me.rank()), own);
  auto here = me.here();
  while (const auto from = co_await here.next()) {
    const auto place = call.received_from(*from);
    co_await me.copy(place, me.published(*from, place.size()));
  }
}

bool publish_blocks_at_once(context& me, const arguments& call) {
  me.publish(call.own_block(me.rank()));
  if (!me.are_all_here()) return false;
  for (std::size_t from = 0; from < me.size(); ++from) {
    const auto place = call.received_from(from);
    me.copy(place, me.published(from, place.size()));
  }
  return true;
}

}  // namespace muster::algos
