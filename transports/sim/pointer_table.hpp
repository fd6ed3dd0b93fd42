#pragma once

#include <cstddef>
#include <cstdint>
#include <memory_resource>
#include <vector>

#include <muster/base/random.hpp>

namespace muster::sim {

/// Objects by their keys. A look-up takes one cache line, nearly always: entries lie where their
/// keys' hashes say, or right behind.
template <class Object>
class pointer_table {
public:
  explicit pointer_table(std::pmr::memory_resource* memory) : entries_(first_size, memory) {}

  std::size_t size() const noexcept { return count_; }

  /// The object of this key; null where there is none.
  Object* find(std::uint64_t key) const noexcept { return entries_[place_of(key)].value; }

  /// Of a key that is not there.
  void insert(std::uint64_t key, Object& value) {
    if (2 * (count_ + 1) > entries_.size()) grow();
    entries_[place_of(key)] = {key, &value};
    ++count_;
  }

  /// Of a key that is there. Those behind it that it kept from their places move up.
  void erase(std::uint64_t key) noexcept {
    std::size_t hole = place_of(key);
    for (std::size_t at = next(hole); entries_[at].value != nullptr; at = next(at)) {
      if (distance(home(entries_[at].key), at) < distance(hole, at)) continue;
      entries_[hole] = entries_[at];
      hole = at;
    }
    entries_[hole].value = nullptr;
    --count_;
  }

private:
  static constexpr std::size_t first_size = 64;  // a power of two, as all sizes

  struct entry {
    std::uint64_t key;
    Object* value;  ///< null: nothing is here
  };

  std::size_t home(std::uint64_t key) const noexcept {
    return mix_bits(key) & (entries_.size() - 1);
  }
  std::size_t next(std::size_t at) const noexcept { return (at + 1) & (entries_.size() - 1); }
  /// From one place on to another, around the end.
  std::size_t distance(std::size_t from, std::size_t to) const noexcept {
    return (to - from) & (entries_.size() - 1);
  }
  /// Where the key is, or belongs.
  std::size_t place_of(std::uint64_t key) const noexcept {
    std::size_t at = home(key);
    while (entries_[at].value != nullptr && entries_[at].key != key) at = next(at);
    return at;
  }

  void grow() {
    std::pmr::vector<entry> before(2 * entries_.size(), entries_.get_allocator());
    before.swap(entries_);
    for (const entry& each : before) {
      if (each.value != nullptr) entries_[place_of(each.key)] = each;
    }
  }

  std::pmr::vector<entry> entries_;
  std::size_t count_ = 0;
};

}  // namespace muster::sim
