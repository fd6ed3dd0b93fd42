// A rank's side of the benchmark: connect to the coordinator, then sleep in recv until an order
// comes, so that a job waiting for its turn costs the machine nothing.
#pragma once

#include <exception>
#include <optional>

#include <muster/base/descriptor.hpp>

#include "tools/command/bench/loop.hpp"
#include "tools/command/bench/wire.hpp"

namespace muster::bench {

class coordinator_channel {
public:
  /// Connects to the socket that the environment names. Throws std::runtime_error with a text for
  /// people when there is none: workers are started by `muster bench`, not by hand.
  static coordinator_channel connect(const hello& handshake);

  /// Sleeps until the next order; nothing when the coordinator is gone or wants the rank to leave.
  std::optional<order> next_order();
  void reply(const answer& result);

private:
  explicit coordinator_channel(descriptor socket) : socket_(std::move(socket)) {}
  descriptor socket_;
};

template <measurable L>
answer answer_to(const order& job, L& library, buffer_ring& ring) {
  answer result;
  try {
    result.algorithm = std::string_view(library.choose(job));
  } catch (const std::exception& error) {
    result.refused = true;
    result.error = std::string_view(error.what());
    return result;
  }
  try {
    const outcome found = obey(library, ring, job);
    result.mean_us = found.mean_us;
    result.period_us = found.period_us;
    result.sent = found.sent;
    result.verified = found.verified;
  } catch (const std::exception& error) {
    result.verified = false;
    result.error = std::string_view(error.what());
  }
  return result;
}

/// Serves orders until the coordinator has no more.
template <measurable L>
void serve(L& library) {
  hello handshake;
  handshake.rank = static_cast<std::int32_t>(library.rank());
  handshake.ranks = static_cast<std::int32_t>(library.size());
  handshake.version = std::string_view(library.version());
  auto channel = coordinator_channel::connect(handshake);
  buffer_ring ring;
  while (const auto job = channel.next_order()) channel.reply(answer_to(*job, library, ring));
}

}  // namespace muster::bench
