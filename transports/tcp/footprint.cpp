#include "transports/tcp/footprint.hpp"

#include <algorithm>
#include <bit>

#include <muster/wire/link.hpp>

#include "transports/tcp/subflow.hpp"

namespace muster::tcp {
namespace {

/// A single subflow reads into the connection's own buffer.
std::size_t subflow_bytes(std::size_t subflows) noexcept {
  return subflows > 1 ? subflows * subflow::most_bytes : 0;
}

}  // namespace

std::size_t connection_bytes(std::size_t window, std::size_t subflows) noexcept {
  return 4 * window + subflow_bytes(subflows);
}

std::size_t window_within(std::size_t bytes, std::size_t peers, std::size_t subflows) noexcept {
  const std::size_t each = bytes / std::max<std::size_t>(1, peers);
  const std::size_t rest = each - std::min(each, subflow_bytes(subflows));
  return std::clamp(std::bit_floor(rest / 4), least_window, wire::link::capacity);
}

}  // namespace muster::tcp
