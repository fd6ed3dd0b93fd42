#include "transports/verbs/device_ports.hpp"

#include <endian.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <system_error>
#include <tuple>

#include <muster/base/error.hpp>

#include "transports/verbs/nearness.hpp"

namespace muster::verbs {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view devices_folder = "/sys/class/infiniband";

std::string words_of(int code) { return std::generic_category().message(code); }

std::vector<std::string> names_of_devices() {
  std::error_code none;
  std::vector<std::string> names;
  for (const auto& each : fs::directory_iterator(devices_folder, none)) {
    names.push_back(each.path().filename());
  }
  return names;
}

std::string line_of(const fs::path& file) {
  std::ifstream from(file);
  std::string line;
  std::getline(from, line);
  return line;
}

/// Devices that libibverbs sees.
class device_list {
public:
  device_list() : devices_(::ibv_get_device_list(&count_)) {
    if (devices_ == nullptr) code_ = errno;
  }
  device_list(const device_list&) = delete;
  device_list& operator=(const device_list&) = delete;
  ~device_list() {
    if (devices_ != nullptr) ::ibv_free_device_list(devices_);
  }

  ibv_device* find(const std::string& name) const {
    const std::span all(devices_, devices_ == nullptr ? 0 : static_cast<std::size_t>(count_));
    const auto found = std::ranges::find_if(
        all, [&](ibv_device* each) { return name == ::ibv_get_device_name(each); });
    return found == all.end() ? nullptr : *found;
  }
  /// Of `errno`, where there is no list.
  int code() const noexcept { return code_; }

private:
  int count_ = 0;
  ibv_device** devices_ = nullptr;
  int code_ = 0;
};

/// "/dev/infiniband/uverbs0"
std::string special_file_of(const std::string& device) {
  const fs::path folder = "/dev/infiniband";
  std::error_code none;
  for (const auto& each : fs::directory_iterator("/sys/class/infiniband_verbs", none)) {
    if (line_of(each.path() / "ibdev") == device) return folder / each.path().filename();
  }
  return folder / "uverbs*";
}

std::string why_unseen(const std::string& name, const device_list& all) {
  if (all.code() != 0) return "libibverbs lists no device: " + words_of(all.code());
  const std::string file = special_file_of(name);
  std::error_code none;
  return fs::exists(file, none)
             ? "libibverbs knows no driver for " + name
             : name + " cannot be used without " + file + ", which this system or container lacks";
}

/// \param code of `errno`. That of libibverbs is of the last of several attempts.
std::string why_closed(const std::string& name, int code) {
  const std::string file = special_file_of(name);
  if (::access(file.c_str(), R_OK | W_OK) != 0) code = errno;
  return name + " cannot be opened by " + file + ": " + words_of(code);
}

/// The PCI function that the device is, or on whose network interface the kernel emulates it.
fs::path function_of(const std::string& device) {
  const fs::path its = fs::path(devices_folder) / device / "device";
  std::error_code none;
  if (fs::exists(its, none)) return its;
  return fs::path("/sys/class/net") / line_of(fs::path(devices_folder) / device / "parent") /
         "device";
}

/// Of a PCI function, virtual ones included, the card; else the device by itself.
std::string card_of(const std::string& device) {
  const fs::path function = function_of(device);
  std::error_code none;
  fs::path at = fs::canonical(function / "physfn", none);
  if (none) at = fs::canonical(function, none);
  if (none) return device;
  const std::string address = at.filename();
  return address.substr(0, address.rfind('.'));
}

int node_of(const std::string& device) {
  std::ifstream from(function_of(device) / "numa_node");
  int node = -1;
  return from >> node ? node : -1;
}

gid_kind kind_of(const ibv_gid_entry& one, const device_port& of) {
  if (!of.is_ethernet) return gid_kind::infiniband;
  return one.gid_type == IBV_GID_TYPE_ROCE_V2 ? gid_kind::roce_v2 : gid_kind::roce_v1;
}

/// Of all ports: the kernel refuses to fill a table that is too short for that.
std::vector<ibv_gid_entry> table_of_gids(ibv_context* context, std::size_t most) {
  std::vector<ibv_gid_entry> all(most);
  const ssize_t count = ::ibv_query_gid_table(context, all.data(), all.size(), 0);
  all.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
  return all;
}

gid_entry entry_of(const ibv_gid_entry& one, const device_port& of) {
  gid_entry made{.index = one.gid_index, .kind = kind_of(one, of)};
  std::memcpy(made.gid.data(), one.gid.raw, made.gid.size());
  return made;
}

std::vector<std::uint16_t> pkeys_of(ibv_context* context, std::uint8_t port, int count) {
  std::vector<std::uint16_t> all;
  for (int i = 0; i < count; ++i) {
    std::uint16_t key = 0;
    all.push_back(::ibv_query_pkey(context, port, i, &key) == 0 ? be16toh(key) : 0);
  }
  return all;
}

std::string state_of(ibv_port_state state) {
  switch (state) {
    case IBV_PORT_DOWN:
      return "down";
    case IBV_PORT_INIT:
      return "initializing: no subnet manager has set it up";
    case IBV_PORT_ARMED:
      return "armed: no subnet manager has made it active";
    case IBV_PORT_ACTIVE:
      return "active";
    default:
      return "in no state that leads anywhere";
  }
}

device_port port_of(const std::string& device, std::uint8_t number, const ibv_port_attr& seen) {
  const std::string rate =
      line_of(fs::path(devices_folder) / device / "ports" / std::to_string(number) / "rate");
  return {.device = device,
          .number = number,
          .is_active = seen.state == IBV_PORT_ACTIVE,
          .is_ethernet = seen.link_layer == IBV_LINK_LAYER_ETHERNET,
          .state = state_of(seen.state),
          .speed = parse_rate(rate),
          .lid = seen.lid,
          .mtu = static_cast<std::uint8_t>(seen.active_mtu),
          .gids = {},
          .pkeys = {},
          .card = card_of(device),
          .node = node_of(device)};
}

std::vector<device_port> ports_of(const std::string& device, ibv_context* context) {
  ibv_device_attr attributes{};
  if (::ibv_query_device(context, &attributes) != 0) return {};
  std::vector<device_port> all;
  std::size_t gids = 0;
  for (unsigned number = 1; number <= attributes.phys_port_cnt; ++number) {
    const auto port = static_cast<std::uint8_t>(number);
    ibv_port_attr seen{};
    if (::ibv_query_port(context, port, &seen) != 0) continue;
    all.push_back(port_of(device, port, seen));
    all.back().pkeys = pkeys_of(context, port, seen.pkey_tbl_len);
    gids += static_cast<std::size_t>(std::max(seen.gid_tbl_len, 0));
  }
  for (const ibv_gid_entry& each : table_of_gids(context, gids)) {
    const auto of = std::ranges::find_if(
        all, [&](const device_port& one) { return one.number == each.port_num; });
    if (of != all.end() && each.gid_index <= UINT8_MAX) of->gids.push_back(entry_of(each, *of));
  }
  return all;
}

/// Others than InfiniBand and RoCE make their connections otherwise.
std::optional<std::string> why_useless(const ibv_device* device) {
  if (device->transport_type == IBV_TRANSPORT_IB) return std::nullopt;
  const std::string name = device->name;
  return name + (device->transport_type == IBV_TRANSPORT_IWARP
                     ? " speaks iWARP, and not InfiniBand or RoCE"
                     : " speaks neither InfiniBand nor RoCE");
}

void add_device(const std::string& name, const device_list& all, machine_ports& here) {
  ibv_device* const device = all.find(name);
  if (device == nullptr) return here.useless.push_back({name, why_unseen(name, all)});
  if (const auto why = why_useless(device)) return here.useless.push_back({name, *why});
  const context_handle context(::ibv_open_device(device));
  if (!context) return here.useless.push_back({name, why_closed(name, errno)});
  std::vector<device_port> ports = ports_of(name, context.get());
  if (ports.empty()) here.useless.push_back({name, name + " tells nothing of its ports"});
  std::ranges::move(ports, std::back_inserter(here.ports));
}

/// As people count: mlx5_2 before mlx5_10.
auto key_of(const std::string& name) { return std::tuple(name.size(), name); }

}  // namespace

machine_ports read_ports() {
  std::vector<std::string> names = names_of_devices();
  if (names.empty()) return {};
  std::ranges::sort(names, {}, key_of);
  machine_ports here{.ports = {}, .useless = {}, .networks = interface_networks()};
  const device_list all;
  for (const std::string& each : names) add_device(each, all, here);
  for (device_port& each : here.ports) each.distance = distance_to(each.node);
  return here;
}

context_handle open_device(const std::string& name) {
  const device_list all;
  ibv_device* const device = all.find(name);
  if (device == nullptr) throw error(errc::resource, "verbs: " + why_unseen(name, all));
  context_handle made(::ibv_open_device(device));
  if (made) return made;
  throw error(errc::resource, "verbs: " + why_closed(name, errno));
}

std::uint32_t parse_rate(const std::string& text) {
  constexpr double megabits = 1000;
  double gigabits = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), gigabits);
  const bool is_rate = code == std::errc{} && std::string_view(end).starts_with(" Gb/sec");
  return is_rate && gigabits > 0 ? static_cast<std::uint32_t>(gigabits * megabits) : 0;
}

}  // namespace muster::verbs
