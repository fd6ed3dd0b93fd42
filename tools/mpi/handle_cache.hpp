#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

namespace muster::mpi {

/// What was found last for handles of the MPI's, so that a program which uses few of them finds it
/// at once.
template <class Handle, class Value>
class handle_cache {
public:
  /// Null where it is not among the last.
  const Value* find(Handle of) const noexcept {
    const entry& last = last_[slot(of)];
    if (last.handle != of) [[unlikely]]
      return nullptr;
    return last.is;
  }
  void keep(Handle of, const Value& is) noexcept { last_[slot(of)] = {of, &is}; }
  void forget(const Value& is) noexcept {
    for (entry& last : last_) {
      if (last.is == &is) last = {};
    }
  }

private:
  struct entry {
    Handle handle{};
    const Value* is = nullptr;
  };

  // Handles are pointers or numbers, which differ in few bits.
  static std::size_t slot(Handle of) noexcept {
    std::uint64_t bits = 0;
    static_assert(sizeof of <= sizeof bits);
    std::copy_n(reinterpret_cast<const std::byte*>(&of), sizeof of,
                reinterpret_cast<std::byte*>(&bits));
    constexpr std::uint64_t golden_ratio = 0x9e37'79b9'7f4a'7c15;
    return bits * golden_ratio >> (64 - entry_bits);
  }

  static constexpr unsigned entry_bits = 4;
  static constexpr std::size_t entries = 1u << entry_bits;
  std::array<entry, entries> last_{};
};

}  // namespace muster::mpi
