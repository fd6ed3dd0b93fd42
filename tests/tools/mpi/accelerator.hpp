#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "tests/tools/mpi/stand_in.hpp"

namespace muster::testing {

/// The driver's stand-in that a test's arguments name, if they do.
class accelerator {
public:
  /// The library is loaded later than MPI begins: then the MPI says that it takes such memory.
  static void expect(const std::string& path);
  static void load(const std::string& path);
  /// Null where there is none.
  static const stand_in* driver() noexcept;
  /// What chance decides follows from it.
  static void seed(std::uint64_t of);
  /// Whether the next buffer is to be in its memory: every other, where there is one.
  static bool is_next();
};

/// A copy of a buffer that MPI is given instead, in an accelerator's memory, if chance wants it
/// there.
class far_copy {
public:
  /// \param may_be whether it may be there at all
  explicit far_copy(std::size_t bytes, bool may_be = true);
  ~far_copy();
  far_copy(const far_copy&) = delete;
  far_copy& operator=(const far_copy&) = delete;

  /// Where MPI finds what is at `offset` of the buffer, which begins at `near`.
  void* place(void* near, std::ptrdiff_t offset) const noexcept {
    return static_cast<std::byte*>(far_ == nullptr ? near : far_) + offset;
  }
  void upload(const void* from) const;
  void download(void* to) const;

private:
  void* far_ = nullptr;
  std::size_t bytes_;
};

}  // namespace muster::testing
