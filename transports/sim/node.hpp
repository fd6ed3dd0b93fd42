#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <unordered_map>
#include <vector>

#include <muster/wire/board.hpp>

#include "transports/sim/clock.hpp"
#include "transports/sim/failure_record.hpp"
#include "transports/sim/network.hpp"
#include "transports/sim/unannounced.hpp"

namespace muster::sim {

class core;
class rank;

/// Zeroed memory. Where it is long, it takes memory only where it is touched.
class pages {
public:
  explicit pages(std::size_t bytes);
  ~pages();
  pages(pages&& other) noexcept;
  pages& operator=(pages&&) = delete;

  std::byte* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return bytes_; }

private:
  std::byte* data_;
  std::size_t bytes_;
};

/// What the ranks of one node share: memory, its bandwidth, the network interfaces.
class node {
public:
  node(const model& of, std::size_t ranks);

  wire::board board() const noexcept { return {shared_.data(), ranks_}; }
  /// The board of a team made from another, in memory of its own, until it is removed.
  void add(const wire::board& one);
  void remove(const wire::board& one);

  bool is_shared(const std::byte* address) const noexcept { return area_of(address) != nullptr; }
  /// Whether it lies beyond the flags.
  bool is_stage(const std::byte* address) const noexcept {
    const area* const in = area_of(address);
    return in != nullptr && address >= in->stages;
  }
  /// Takes note that shared memory was written; how many bytes of pages that were not before.
  std::size_t touch(std::span<const std::byte> written) noexcept;

  /// Whether it is a rank's shared scratch, of any size.
  bool is_shared_scratch(const std::byte* address) const noexcept {
    const area* const in = area_of(address);
    return in != nullptr && !in->used_at.empty();
  }
  /// Takes note that shared scratch is read or written; how many bytes the node's ranks have moved
  /// in shared scratch since they last used it, all of its bytes for what is new.
  std::size_t use_shared_scratch(std::span<const std::byte> part) noexcept;

  /// When memory traffic of `bytes` that begins at `now` can have ended, with all cores' before it.
  picoseconds use_memory(picoseconds now, std::size_t bytes, double gbs) noexcept;

  /// When a rank has read a line that it asks for at `begins`, after those that are served before
  /// it, one after another, for `each`. Nobody asks before `now` any more.
  picoseconds read_line(const void* in, picoseconds now, picoseconds begins, picoseconds each);

  /// When a core that asks at `begins` for a line, to change it, has done so: not before it has
  /// come from the core that changed it last, which takes a `trip`, nor before `earliest`.
  picoseconds take_line(const void* in, const core& by, picoseconds begins, picoseconds trip,
                        picoseconds earliest);

  /// Memory for shared buffers, or for shared scratch, which is accounted for like the boards'
  /// stages.
  std::span<std::byte> allocate(std::size_t bytes, bool for_shared_scratch);
  void deallocate(std::span<std::byte> memory) noexcept;
  bool is_allocated(std::span<const std::byte> bytes) const noexcept;

  failure_record failure;  ///< the job's
  bool is_gone = false;    ///< has no power
  node_interfaces interfaces;
  unannounced_writes writes;
  std::vector<rank*> ranks;

private:
  static constexpr std::size_t page_bytes = 4096;

  /// A board's memory.
  struct area {
    std::span<std::byte> bytes;
    const std::byte* stages;
    std::vector<bool> touched;  ///< pages
    /// Of shared scratch, a page each: bytes moved in all shared scratch before it was last used,
    /// and 1; 0: never.
    std::vector<std::uint64_t> used_at = {};
    bool contains(const std::byte* address) const noexcept {
      return address >= bytes.data() && address < bytes.data() + bytes.size();
    }
  };
  static std::span<std::byte> memory_of(const wire::board& one) noexcept;
  static area area_for(const wire::board& one);
  static area area_of_stages(std::span<std::byte> bytes);
  void add(area made);
  const area* area_of(const std::byte* address) const noexcept;

  std::size_t ranks_;
  pages shared_;
  area own_;
  std::map<const std::byte*, area> others_;  // of teams made from others, by their ends
  std::map<const std::byte*, pages> buffers_;
  std::uint64_t shared_scratch_moved_ = 0;  // bytes
  picoseconds memory_free_ = 0;
  std::unordered_map<std::uintptr_t, std::vector<picoseconds>>
      line_reads_;  // their ends, ascending
  /// Of lines that several cores change: who did last, and when.
  struct last_change {
    const core* by = nullptr;
    picoseconds when = 0;
  };
  std::unordered_map<std::uintptr_t, last_change> line_changes_;
};

}  // namespace muster::sim
