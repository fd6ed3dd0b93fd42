#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include <muster/base/descriptor.hpp>

#include "tools/command/run/launch.hpp"
#include "tools/library/launcher/meeting.hpp"
#include "tools/process/process.hpp"
#include "transports/cluster/rendezvous.hpp"

namespace muster::launch {

/// Which of a launcher's ranks are started again when they fail, and where these meet the others:
/// where all met at first, or, on one machine, here.
class respawn {
public:
  /// \param most how often each is; 0: not at all
  respawn(std::size_t most, const share& of);

  bool is_on() const noexcept { return most_ != 0; }
  /// A rank, by its place among those of the launcher.
  bool was_started_again(std::size_t local) const noexcept { return is_on() && times_[local] != 0; }
  std::size_t times(std::size_t local) const noexcept { return times_[local]; }
  std::size_t most() const noexcept { return most_; }
  /// One has failed. \returns whether it is to be started again
  bool takes(std::size_t local) noexcept;
  /// A signal that was sent to all: ranks that somebody wants to end stay ended.
  void note(int signal) noexcept;
  /// One has ended well: those that wait for it do so in vain.
  void tell_of_end(std::size_t local) const;
  /// What a rank's process needs to meet the others again.
  void add_to(process::plan& plan, std::size_t local) const;

private:
  std::size_t most_;
  std::size_t first_;
  meeting at_;
  descriptor key_;  // a file of its key
  std::optional<cluster::rendezvous_server> server_;
  std::vector<std::size_t> times_;
  bool is_to_end_ = false;
};

}  // namespace muster::launch
