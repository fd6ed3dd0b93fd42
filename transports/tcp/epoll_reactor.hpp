#pragma once

#include <cstdint>

#include <muster/base/descriptor.hpp>

#include "transports/tcp/reactor.hpp"

namespace muster::tcp {

/// Asks the system by epoll, whose events are edges: each change is told once.
class epoll_reactor final : public reactor {
public:
  /// \throws error `errc::resource`
  epoll_reactor();

  kind which() const noexcept override { return kind::epoll; }
  void look(handler& who) noexcept override;
  int descriptor() const noexcept override { return events_.get(); }
  void arm() noexcept override {}
  void disarm() noexcept override { polls_ = 0; }

  std::uint32_t add(int descriptor, std::uint64_t what, interest in) noexcept override;
  void remove(std::uint32_t watch) noexcept override;
  // Edges are told in any case.
  void await_readable(std::uint32_t, bool) noexcept override {}
  void await_writable(std::uint32_t) noexcept override {}
  void await_report(std::uint32_t) noexcept override {}
  void begin_bringing(std::uint32_t) noexcept override {}
  void end_bringing(std::uint32_t) noexcept override {}

private:
  bool is_due() noexcept;

  muster::descriptor events_;
  unsigned polls_ = 0;           // since something happened
  std::uint64_t last_look_ = 0;  // in ticks
};

}  // namespace muster::tcp
