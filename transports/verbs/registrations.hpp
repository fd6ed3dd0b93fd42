#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <span>
#include <vector>

#include "transports/verbs/address_range.hpp"
#include "transports/verbs/memory_monitor.hpp"

namespace muster::verbs {

/// Memory that devices may use, until this ends.
class region {
public:
  virtual ~region() = default;
};

/// Makes memory known to all devices of a rank.
class registrar {
public:
  enum class access : std::uint8_t {
    read,  ///< devices read it
    write  ///< or write it, too
  };

  virtual ~registrar() = default;
  /// \param pages whole ones
  /// \returns null where the system refuses: errno says why
  virtual std::unique_ptr<region> enroll(std::span<std::byte> pages, access how) noexcept = 0;
};

/// The memory that devices may use. What was registered for a message is kept for the next one from
/// the same place, until the program gives that memory back to the system, or there is too much.
///
/// For one thread, and not for a forked child.
class registrations {
public:
  /// A region that has the bytes asked for, for as long as the transfer of these bytes takes: the
  /// program keeps them in place meanwhile.
  using held = std::shared_ptr<region>;
  using access = registrar::access;

  /// What is kept at most.
  struct limits {
    std::size_t bytes = 0;  ///< of whole pages; twice where regions overlap
    std::size_t regions = 0;
  };
  struct counts {
    std::uint64_t hits = 0;
    std::uint64_t misses = 0;
    std::uint64_t evictions = 0;    ///< for room
    std::uint64_t invalidated = 0;  ///< as the memory went back
  };

  /// \param by outlives this, and what is held
  /// \param monitor none: only what is held is known
  registrations(registrar& by, std::unique_ptr<memory_monitor> monitor, const limits& most);
  registrations(const registrations&) = delete;
  registrations& operator=(const registrations&) = delete;

  /// \param how what the system must allow: of memory that cannot be written, only `read`
  /// \param bytes one at least
  /// \returns null where the system refuses, and letting go of all that nobody holds does not help:
  ///     errno says why
  held hold(std::span<const std::byte> bytes, access how) noexcept;

  const counts& statistics() const noexcept { return counts_; }
  limits kept() const noexcept { return {bytes_, kept_.size()}; }

private:
  struct entry {
    address_range pages;
    access how = access::read;
    held memory;
  };
  using entries = std::list<entry>;
  /// None covers another, so that they ascend by where they end, too.
  using shelf = std::map<std::uintptr_t, entries::iterator>;
  /// A region that is not kept, for others who want the very same pages meanwhile.
  struct passing {
    address_range pages;
    access how;
    std::weak_ptr<region> memory;
  };

  static shelf::const_iterator covering(const shelf& some, const address_range& pages) noexcept;
  static shelf::const_iterator first_overlapping(const shelf& some,
                                                 const address_range& pages) noexcept;
  shelf& shelf_of(access how) noexcept { return shelves_[static_cast<std::size_t>(how)]; }
  bool is_overlapping(const address_range& pages) const noexcept;

  held find(const address_range& pages, access how) noexcept;
  held find_passing(const address_range& pages, access how) const noexcept;
  held add(const address_range& pages, access how, bool may_stay);
  void put(const address_range& pages, access how, const held& memory);
  void pass(const address_range& pages, access how, const held& memory);

  /// \returns whether all that is kept is known to be in place
  bool drop_what_went_back() noexcept;
  void drop(const address_range& gone) noexcept;
  void drop_covered(access how, const address_range& by) noexcept;
  shelf::const_iterator remove(shelf& from, shelf::const_iterator which) noexcept;

  bool make_room_for(const address_range& pages) noexcept;
  bool let_others_go(std::size_t bytes) noexcept;
  bool evict_oldest() noexcept;
  void unwatch(const address_range& pages) noexcept;

  registrar& by_;
  std::unique_ptr<memory_monitor> monitor_;
  limits most_;
  std::size_t page_;
  counts counts_;
  entries kept_;  // the last one used is the first
  std::size_t bytes_ = 0;
  std::array<shelf, 2> shelves_;  // by access
  std::vector<passing> passing_;
};

}  // namespace muster::verbs
