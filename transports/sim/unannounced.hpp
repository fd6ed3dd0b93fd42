#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <optional>
#include <span>

namespace muster::sim {

/// What the ranks of a node have written into its shared memory, and which announcement covers it.
/// Who reads that without having read the announcement reads too early, or what is being
/// overwritten: on hardware, a race.
class unannounced_writes {
public:
  /// A rank writes; its `covering`th announcement will be the next.
  void write(std::span<const std::byte> bytes, std::size_t rank, std::uint64_t covering) {
    if (bytes.empty()) return;
    forget_overlapping(bytes);
    writes_[bytes.data()] = {bytes.data() + bytes.size(), rank, covering};
  }

  /// The memory is put to another use.
  void forget(std::span<const std::byte> bytes) { forget_overlapping(bytes); }

  /// The rank whose announcement of what `reader` is about to read that one does not know, if there
  /// is one. `known(rank)` says how many announcements of a rank `reader` knows.
  template <class Known>
  std::optional<std::size_t> premature(std::span<const std::byte> bytes, std::size_t reader,
                                       Known known) {
    for (auto each = first_overlapping(bytes); each != writes_.end() && overlaps(*each, bytes);
         ++each) {
      const one_write& by = each->second;
      if (by.rank != reader && known(by.rank) < by.covering) return by.rank;
    }
    return std::nullopt;
  }

private:
  struct one_write {
    const std::byte* end;
    std::size_t rank;
    std::uint64_t covering;
  };
  using by_begin = std::map<const std::byte*, one_write>;  // none overlap

  static bool overlaps(const by_begin::value_type& one, std::span<const std::byte> bytes) {
    return one.first < bytes.data() + bytes.size() && one.second.end > bytes.data();
  }

  by_begin::iterator first_overlapping(std::span<const std::byte> bytes) {
    auto each = writes_.lower_bound(bytes.data());
    if (each != writes_.begin() && overlaps(*std::prev(each), bytes)) --each;
    return each;
  }

  void forget_overlapping(std::span<const std::byte> bytes) {
    for (auto each = first_overlapping(bytes); each != writes_.end() && overlaps(*each, bytes);) {
      each = writes_.erase(each);
    }
  }

  by_begin writes_;
};

}  // namespace muster::sim
