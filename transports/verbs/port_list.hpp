#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace muster::verbs {

/// A port as somebody names it: `mlx5_0`, `mlx5_0:1`, `mlx5_0:1:gid=3:pkey=0x8001`.
struct named_port {
  std::string text;
  std::string device;
  std::uint8_t number = 1;
  std::optional<std::uint8_t> gid_index;
  std::optional<std::uint16_t> pkey;
};

/// Those of `MUSTER_VERBS_DEVICES`, separated by commas. \throws error `errc::invalid_argument`
std::vector<named_port> parse_port_list(std::string_view text);

/// "0x8001"
std::string key_text(std::uint16_t pkey);

/// What is thrown where one of them cannot be had.
[[noreturn]] void refuse(const named_port& one, const std::string& why);

}  // namespace muster::verbs
