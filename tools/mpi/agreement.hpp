// What the processes of a program find out together before the shim begins.
#pragma once

#include <mpi.h>

#include <string>

#include <muster/team/bootstrap.hpp>

#include "tools/mpi/node.hpp"
#include "tools/mpi/settings.hpp"

namespace muster::mpi {

/// What is so whatever users say.
struct conditions {
  bool some_have_threads;  ///< of some process many may call the MPI at once
  bool all_have_threads;   ///< of every process
  bool all_have_hooks;     ///< every process's MPI offers a way into its progress
};

struct agreement {
  settings own;
  conditions found;
  neighbors_here here;
};
/// The settings of all, from each one's environment, and what else each says of itself. Ends the
/// program where a setting has no meaning, or ranks have different ones: they would wait for each
/// other for ever.
agreement agree(bootstrap& world);

/// How joining the ranks of a machine went, on one of them.
enum class joining : std::uint8_t { done, failed, wrong_setting };

/// Whether it went well on all. A setting that one of them cannot follow ends the program; of
/// anything else the first to meet it says why, if `tells`.
bool all_joined(bootstrap& near, joining mine, const std::string& why, bool tells);

}  // namespace muster::mpi
