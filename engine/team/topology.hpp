#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <muster/team/shape.hpp>

namespace muster {

/// A core of this machine.
struct core {
  int processor;  ///< the operating system's number of its first processing unit
  place where;    ///< package, NUMA node, third-level cache and core, as hwloc numbers them
};

/// Cores of this machine by hwloc, in its order: those that follow each other are near each other.
class topology {
public:
  /// Of the cores that the calling process may use, or of all, whatever it is bound to.
  /// \throws error `errc::resource` where hwloc cannot read the machine.
  enum class of { process, machine };
  static topology read(of which = of::process);

  const std::vector<core>& cores() const noexcept { return cores_; }
  std::size_t processors() const noexcept { return processors_; }

  /// What is known of where a rank runs that may use any core: what all cores have in common.
  place anywhere() const noexcept;

  /// The places of `ranks` ranks on `nodes` made-up nodes, in runs as equal as possible. `bound`:
  /// rank r has core r modulo the number of cores.
  std::vector<place> places(std::size_t ranks, std::size_t nodes, bool bound) const;

private:
  std::vector<core> cores_;
  std::size_t processors_ = 0;
};

}  // namespace muster
