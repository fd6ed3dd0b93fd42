#include "transports/tcp/reactor.hpp"

#include <utility>

#include <muster/base/error.hpp>
#include <muster/environment/environment.hpp>

#include "transports/tcp/epoll_reactor.hpp"
#include "transports/tcp/uring_reactor.hpp"

namespace muster::tcp {

std::optional<reactor::kind> chosen_reactor() {
  const char* const set = environment::read(environment::reactor);
  if (set == nullptr) return std::nullopt;
  for (const reactor::kind each : {reactor::kind::epoll, reactor::kind::io_uring}) {
    if (name(each) == set) return each;
  }
  throw error(errc::invalid_argument,
              "MUSTER_REACTOR is '" + std::string(set) + "'; expected io_uring or epoll");
}

std::string_view name(reactor::kind which) noexcept {
  return which == reactor::kind::epoll ? "epoll" : "io_uring";
}

std::unique_ptr<reactor> make_reactor(std::optional<reactor::kind> chosen, std::string* why) {
  if (chosen != reactor::kind::epoll) {
    std::string refused;
    if (auto made = uring_reactor::try_make(refused)) return made;
    if (chosen) {
      throw error(errc::resource, "tcp: io_uring was asked for, and is not to be had: " + refused);
    }
    if (why != nullptr) *why = std::move(refused);
  }
  return std::make_unique<epoll_reactor>();
}

}  // namespace muster::tcp
