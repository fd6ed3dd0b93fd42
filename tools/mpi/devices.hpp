#pragma once

#include <link.h>

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include "tools/mpi/device_driver.hpp"

namespace muster::mpi {

/// A library that is loaded stays so.
class held_library {
public:
  held_library() = default;
  /// Empty where no such library is loaded.
  explicit held_library(const std::string& path) noexcept;
  held_library(held_library&& other) noexcept;
  held_library& operator=(held_library&& other) noexcept;
  ~held_library();

  void* handle() const noexcept { return handle_; }
  const link_map* entry() const noexcept;

private:
  void* handle_ = nullptr;
};

/// The accelerators of a process, as far as their drivers are loaded in it. Nothing is loaded for
/// their sake.
class devices {
public:
  /// Once the MPI has begun: looks for drivers, and whether one may come yet.
  devices();

  /// Whether the process may ever have memory of an accelerator. Stays as it is.
  bool possible() const noexcept { return possible_; }
  /// Looks for a driver that has come since, if one may; whether there is one.
  bool look() {
    if (awaits_any_ && has_new_libraries()) [[unlikely]]
      find_drivers();
    return has_any_;
  }
  /// Whose memory it is, if the CPU cannot read it; else null.
  const device_driver* owner_of(address at) const noexcept;

private:
  struct maker;
  /// What is known of one of the drivers.
  struct entry {
    bool may_come = false;
    held_library library;
    std::unique_ptr<device_driver> driver;
  };
  static const std::array<maker, 2>& makers() noexcept;

  bool has_new_libraries() const noexcept;
  void find_drivers();
  void watch(const link_map* last, const std::string& its_path);

  bool possible_ = false;
  bool has_any_ = false;
  bool awaits_any_ = false;
  std::array<entry, 2> all_;
  held_library last_library_;             // of those that are loaded; so it cannot go
  const link_map* last_entry_ = nullptr;  // in the loader's list; null: not known
};

}  // namespace muster::mpi
