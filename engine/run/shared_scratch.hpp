#pragma once

#include <cstddef>
#include <span>

#include <muster/wire/board.hpp>

namespace muster {

class context;

/// Memory of any size that one rank provides, and that all ranks of its node write and read, for as
/// long as an operation lasts:
///
///     shared_scratch shared(me, bytes);                        // the provider's
///     shared.announce();                                // this rank's arrival
///     …
///     co_await done.taken(last);                        // until nobody uses it any more
///     shared.release();
///
///     const auto shared = co_await me.shared_scratch_of(provider, bytes);  // of the other ranks
///
/// Of more that is provided later, the others are told `where` it is through memory that they share
/// already; then `context::shared_scratch_at` finds it.
///
/// Where an operation fails, what it used is never used again: somebody may still be at it.
class shared_scratch {
public:
  /// \throws error `errc::resource` when this rank's share of the node's memory is used up.
  shared_scratch(context& me, std::size_t bytes);
  ~shared_scratch();
  shared_scratch(const shared_scratch&) = delete;
  shared_scratch& operator=(const shared_scratch&) = delete;

  std::span<std::byte> bytes() const noexcept { return memory_.first(bytes_); }
  /// The provider arrives, and tells where it is.
  void announce() noexcept;
  /// For local peers; like an address, no payload.
  wire::origin where() const noexcept;
  /// Nobody uses it any more.
  void release() noexcept { released_ = true; }

private:
  context& me_;
  std::size_t bytes_;
  std::span<std::byte> memory_;
  bool released_ = false;
};

}  // namespace muster
