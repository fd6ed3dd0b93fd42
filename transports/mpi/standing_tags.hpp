#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>

namespace muster::stream {
class link;
}

namespace muster::mpi {

/// The tags by which long messages come, or go, for whose length an invitation to their link
/// stands. All messages of a tag are of one length and of one part.
class standing_tags {
public:
  struct entry {
    std::uint32_t tag;
    std::uint64_t parts = 0;  ///< that were posted, or put, ever
  };

  /// A link whose messages have more lengths than this invites each of the others.
  static constexpr std::size_t most_lengths = 8;

  /// Null: none stands.
  entry* find(const stream::link& of, std::size_t bytes) noexcept;
  const entry* find(const stream::link& of, std::size_t bytes) const noexcept;
  /// Whether another may stand for this link.
  bool has_room(const stream::link& of) const noexcept;
  entry& add(const stream::link& of, std::size_t bytes, std::uint32_t tag);
  /// \returns the link of the tag; null: it is not known
  const stream::link* link_of(std::uint32_t tag) const noexcept;
  /// \returns its parts; nothing: it was not known
  std::optional<std::uint64_t> erase(std::uint32_t tag) noexcept;
  /// `see(entry)` for all of a link's.
  template <class See>
  void of_link(const stream::link& of, See see) const {
    for (auto at = first_of(of); at != all_.end() && at->first.of == &of; ++at) see(at->second);
  }
  void erase_link(const stream::link& of) noexcept;
  std::size_t size() const noexcept { return all_.size(); }

private:
  struct key {
    const stream::link* of;
    std::size_t bytes;
    auto operator<=>(const key&) const = default;
  };
  using map = std::map<key, entry>;

  map::const_iterator first_of(const stream::link& of) const noexcept {
    return all_.lower_bound({&of, 0});
  }
  map::const_iterator at(std::uint32_t tag) const noexcept;

  map all_;
};

}  // namespace muster::mpi
