#pragma once

#include <cstddef>
#include <span>

#include <muster/run/context.hpp>

namespace muster::algos {

/// Sends a rank a message while one comes from a rank, perhaps the same. The invitation goes first:
/// behind a long message it would leave only after that, and so the two would go one after the
/// other.
task<> send_and_receive(context& me, std::size_t to, std::span<const std::byte> bytes,
                        std::size_t from, std::span<std::byte> place);

}  // namespace muster::algos
