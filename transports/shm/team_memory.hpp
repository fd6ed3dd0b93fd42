#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include <muster/wire/board.hpp>
#include <muster/wire/call_record.hpp>
#include <muster/wire/membership.hpp>

#include "transports/shm/lots.hpp"
#include "transports/shm/ring.hpp"

namespace muster::shm {

/// Why a team, or a job, is broken.
struct failure_record {
  enum : std::uint32_t { whole = 0, being_written, written };

  /// False where it says something already: the first failure wins.
  bool write(const wire::failure& why) noexcept;
  std::optional<wire::failure> read() const;

  std::atomic<std::uint32_t> state;
  errc code;
  std::uint64_t rank;
  std::array<char, 1024> text;
};

/// Rings for whoever needs one, in memory that all processes have mapped. Taken and given back by
/// any rank at any time.
class ring_pool {
public:
  struct head {
    /// The first free ring by number + 1, and a count of changes above it, against ABA.
    alignas(wire::cache_line) std::atomic<std::uint64_t> free;
    std::atomic<std::uint64_t> used;  ///< rings ever, so far; those beyond have never been touched
  };

  ring_pool() = default;
  ring_pool(head& at, ring* first, std::size_t count) noexcept
      : head_(&at), rings_(first), count_(count) {}

  /// One that is empty; its number. \throws error `errc::resource`
  std::uint32_t take();
  void give_back(std::uint32_t number) noexcept;
  ring& operator[](std::uint32_t number) const noexcept { return rings_[number]; }

private:
  head* head_ = nullptr;
  ring* rings_ = nullptr;
  std::size_t count_ = 0;
};

/// What all ranks of a team share, of whatever node: its failure, records of calls, and which rings
/// they speak through. Only knows the layout; the memory is zeroed by whoever provides it.
class team_memory {
public:
  team_memory(std::byte* base, std::size_t ranks, wire::extent much) noexcept;
  static std::size_t bytes(std::size_t ranks, wire::extent much) noexcept;

  std::byte* base() const noexcept { return base_; }
  failure_record& failure() const noexcept;
  wire::call_record* records() const noexcept { return records_; }  ///< by lane, then rank

  /// The team's ring for a lane's stream and a pair, taken from the pool when it is first asked
  /// for. \throws error `errc::resource`
  ring& ring_of(ring_pool& from, std::size_t which, std::size_t sender, std::size_t receiver) const;
  /// The same, if it was asked for; else null.
  ring* find_ring(const ring_pool& in, std::size_t which, std::size_t sender,
                  std::size_t receiver) const noexcept;
  /// Gives all rings back that the team has. No other rank uses any more.
  void give_back(ring_pool to) const noexcept;

private:
  struct head;
  head& front() const noexcept;
  std::atomic<std::uint32_t>& ring_number(std::size_t which, std::size_t sender,
                                          std::size_t receiver) const noexcept {
    return rings_[(which * ranks_ + receiver) * ranks_ + sender];
  }
  static std::size_t ring_numbers(std::size_t ranks, wire::extent much) noexcept;

  std::byte* base_;
  std::size_t ranks_;
  wire::call_record* records_;
  std::atomic<std::uint32_t>* rings_;  // number + 1, by lane and stream, receiver and sender
};

}  // namespace muster::shm
