// What the processes of a program find out together before the shim begins.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <span>
#include <string>

#include <muster/team/bootstrap.hpp>

#include "tools/mpi/next.hpp"
#include "tools/mpi/settings.hpp"

namespace muster::mpi {

/// Connects the ranks of a communicator through the MPI.
class communicator_bootstrap final : public bootstrap {
public:
  explicit communicator_bootstrap(MPI_Comm of);
  std::size_t rank() const noexcept override { return static_cast<std::size_t>(rank_); }
  std::size_t size() const noexcept override { return static_cast<std::size_t>(size_); }
  void allgather(std::span<const std::byte> mine, std::span<std::byte> all) override;

private:
  MPI_Comm of_;
  int rank_ = 0;
  int size_ = 0;
};

/// The settings of all, from each one's environment. Ends the program where one of them has no
/// meaning, or ranks have different ones: they would wait for each other for ever.
settings agree_on_settings(communicator_bootstrap& world);

/// What is so whatever users say.
struct conditions {
  bool some_have_threads;  ///< of some process many may call the MPI at once
  bool all_have_threads;   ///< of every process
  progress_hook hook;      ///< what can be done in the MPI's progress, on all ranks
};
conditions agree_on_conditions(communicator_bootstrap& world, const tending& tend);

/// How joining the ranks of a machine went, on one of them.
enum class joining : std::uint8_t { done, failed, wrong_setting };

/// Whether it went well on all. A setting that one of them cannot follow ends the program; of
/// anything else the first to meet it says why, if `tells`.
bool all_joined(communicator_bootstrap& near, joining mine, const std::string& why, bool tells);

}  // namespace muster::mpi
