#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>

#include "tests/tools/mpi/stand_in.hpp"

namespace muster::testing {

/// A device's memory: the CPU faults where it touches it, and the driver reaches it elsewhere.
class stand_in_memory {
public:
  struct allocation {
    std::size_t bytes = 0;
    std::size_t number = 0;  ///< of all
    bool is_managed = false;
  };

  static stand_in_memory& own();

  void* allocate(std::size_t bytes, bool is_managed);
  void free(void* at);
  /// What an address is in, if it is in any.
  std::optional<allocation> find(std::uintptr_t at);
  /// Where the driver reaches so many bytes; null where they are not those of one allocation.
  std::byte* reach(std::uintptr_t at, std::size_t bytes);

  /// The driver's copies, for tests to count and to disturb.
  void refuse_after(std::size_t copies) noexcept { refuse_at_ = copies_ + copies + 1; }
  bool next_copy_works() noexcept { return ++copies_ != refuse_at_; }
  std::size_t copies() const noexcept { return copies_; }

private:
  stand_in_memory();
  std::map<std::uintptr_t, allocation>::iterator holder(std::uintptr_t at);

  std::mutex gate_;
  std::uintptr_t device_ = 0;
  std::byte* driver_ = nullptr;
  std::map<std::uintptr_t, allocation> all_;
  std::size_t made_ = 0;
  std::size_t copies_ = 0;
  std::size_t refuse_at_ = 0;
};

/// Bytes that both may touch.
void copy_rows(std::byte* to, std::size_t to_pitch, const std::byte* from, std::size_t from_pitch,
               std::size_t width, std::size_t rows);

/// A stand-in whose memory is `stand_in_memory::own()`.
stand_in stand_in_with_own_memory(bool (*is_untouched)());
/// An error's name, as long as a test wants it.
const char* name_at_length(const char* name);
/// Whether a test has called its `begin`.
bool is_begun() noexcept;

}  // namespace muster::testing
