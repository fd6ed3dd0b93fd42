#include "algos/patterns/exchange/simultaneous.hpp"

#include <muster/coro/when_all.hpp>

namespace muster::algos {

task<> simultaneous::invite() {
  for (const incoming& each : in_) co_await me_.invite(each.from, each.place);
}

task<> simultaneous::run() {
  pooled_list<task<>> all;
  for (const outgoing& each : out_) all.push_back(me_.send(each.to, each.bytes));
  for (const incoming& each : in_) all.push_back(me_.receive(each.from, each.place));
  co_await when_all(std::move(all));
}

}  // namespace muster::algos
