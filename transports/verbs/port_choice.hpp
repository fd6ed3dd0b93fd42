// Which ports of a machine are a process's rails.
#pragma once

#include <optional>
#include <span>

#include "transports/verbs/device_ports.hpp"
#include "transports/verbs/port_list.hpp"
#include "transports/verbs/ports.hpp"

namespace muster::verbs {

/// Those that are named, each once. \throws error `errc::invalid_argument`
found_ports ports_named(std::span<const named_port> names, const machine_ports& here);

/// The best, without being told.
found_ports ports_chosen(const machine_ports& here);

/// Those of the two that the environment asks for. \throws error `errc::invalid_argument`
found_ports choose_ports(const machine_ports& here);

/// The partition's index: the first of which the port is a full member; else the first there is.
/// \param wanted its number, with or without the bit for full membership
std::optional<std::uint16_t> pkey_index(std::span<const std::uint16_t> all,
                                        std::optional<std::uint16_t> wanted);

}  // namespace muster::verbs
