#pragma once

#include <cstddef>
#include <cstdint>
#include <thread>

#include <muster/base/descriptor.hpp>

#include "transports/cluster/rendezvous.hpp"
#include "transports/tcp/admission.hpp"
#include "transports/tcp/socket.hpp"

namespace muster::launch {

/// Passes this process's standard input on to rank 0 on another host, which connects to get it. As
/// long as there is a descriptor to read from and somebody to read it, and no longer than this.
class input_server {
public:
  input_server(tcp::listener at, std::size_t ranks, const tcp::job_key& key);
  ~input_server();
  input_server(const input_server&) = delete;
  input_server& operator=(const input_server&) = delete;

private:
  void run() noexcept;
  /// Until whoever starts rank 0 has connected. Empty where this ends first.
  descriptor let_in() noexcept;
  void pass_on(int to) noexcept;
  /// Until that may be done; false where this ends first.
  bool wait_for(int which, short what) const noexcept;
  /// Waits a moment; false where this ends meanwhile.
  bool go_on_later() const noexcept;

  tcp::listener at_;
  std::size_t ranks_;
  tcp::job_key key_;
  descriptor end_;  // readable when this is to end
  std::jthread thread_;
};

/// The other end, as a descriptor that blocks, for rank 0 of `ranks`.
/// \param where its port is the input's \throws error `errc::bootstrap`
descriptor connect_to_input(const cluster::meeting_place& where, std::size_t ranks);

}  // namespace muster::launch
