// What the processes of a program find out together before the shim begins.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

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

/// What a process says of itself to all others.
struct introduction {
  std::uint64_t settings;  ///< their digest; 0: one has no meaning
  bool has_threads;
  bool has_hook;
  whereabouts where;
};
/// The same, with what it keeps to itself.
struct self_introduction {
  introduction said;
  settings own = {};
  std::string wrong = {};  ///< which setting has no meaning, and why
};
self_introduction introduce_self();

struct agreement {
  settings own;
  conditions found;
  neighbors_here here;
};
/// What follows from what all say. Ends the program where a setting has no meaning, or ranks have
/// different ones: they would wait for each other for ever.
agreement agree(const self_introduction& self, std::size_t rank,
                const std::vector<introduction>& all);

/// How joining the ranks of a machine went, on one of them.
enum class joining : std::uint8_t { done, failed, wrong_setting };

/// Whether it went well on all. A setting that one of them cannot follow ends the program; of
/// anything else the first to meet it says why, if `tells`.
bool all_joined(bootstrap& near, joining mine, const std::string& why, bool tells);

}  // namespace muster::mpi
