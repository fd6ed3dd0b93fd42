#include "algos/patterns/arrival/take_as_they_come.hpp"

namespace muster::algos {

task<> take_as_they_come(context& me, const arguments& call) {
  pooled_list<std::size_t> others;
  for (std::size_t step = 1; step < me.size(); ++step) {
    others.push_back((me.rank() + step) % me.size());
  }
  for (const std::size_t from : others) co_await me.invite(from, call.received_from(from));
  co_await me.copy(call.received_from(me.rank()), call.own_block(me.rank()));
  auto here = me.messages_from(std::move(others));
  while (const auto from = co_await here.next()) {
    co_await me.receive(*from, call.received_from(*from));
  }
}

}  // namespace muster::algos
