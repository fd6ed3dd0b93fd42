#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

namespace muster::made_hosts {

/// Where the first interface of each is.
inline constexpr const char* network = "10.77.0.0/24";
inline constexpr const char* interface = "eth0";

/// Whether hosts are made of nodes with RDMA devices: MUSTER_FABRIC is `verbs`.
bool have_rdma();

/// How many ranks each host has, evenly spread.
std::vector<std::size_t> spread(std::size_t ranks, std::size_t hosts);
/// The same as launchers want it: `h0:2,h1:3`. Hosts without ranks are left out.
std::string list(std::size_t ranks, std::size_t hosts);

/// The script that makes hosts: tools/hosts, beside this program.
std::filesystem::path script();

/// A remote shell to them, as `muster run --remote-shell` takes it.
std::string remote_shell();

/// Hosts to be made.
struct wanted {
  std::size_t count = 0;
  std::string link_rate = {};  ///< that each sends and receives at most, as tc has it; empty: any
};

/// Replaces this process by one that runs this program with these arguments where hosts are made.
/// \throws error `errc::resource`
[[noreturn]] void run_self_among(const wanted& hosts, const std::vector<std::string>& arguments);

/// The same with this process's own arguments and one more, by which it knows that it is there.
[[noreturn]] void run_again_among(const wanted& hosts);
inline constexpr const char* inside = "--hosts-are-made";

/// One that needs no argument of its own, as launchers of MPIs want one:
/// an executable file. \param folder where to put it
std::filesystem::path write_remote_shell(const std::filesystem::path& folder);

}  // namespace muster::made_hosts
