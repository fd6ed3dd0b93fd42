#include "algos/patterns/exchange/send_and_receive.hpp"

#include <muster/coro/when_all.hpp>

namespace muster::algos {

task<> send_and_receive(context& me, std::size_t to, std::span<const std::byte> bytes,
                        std::size_t from, std::span<std::byte> place) {
  co_await me.invite(from, place);
  auto outgoing = me.send(to, bytes);
  auto incoming = me.receive(from, place);
  co_await when_all(std::move(outgoing), std::move(incoming));
}

}  // namespace muster::algos
