#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <span>
#include <string_view>

#include <muster/api/collectives.hpp>
#include <muster/call/arguments.hpp>
#include <muster/call/elements.hpp>
#include <muster/coro/pooled.hpp>
#include <muster/coro/task.hpp>
#include <muster/kokkos/door.hpp>
#include <muster/kokkos/operation.hpp>
#include <muster/run/team.hpp>

/// Collectives on Views whose blocks are of different lengths. Layouts count in elements of the
/// Views, in their order. What lies between blocks that are received stays as it was.
namespace muster::kokkos {
namespace detail {

/// Elements as the engine counts those of varying blocks: numbers, or bytes.
template <number W>
std::span<W> units_of(std::span<W> all) noexcept {
  return all;
}
template <class W>
std::span<std::byte> units_of(std::span<W> all) noexcept {
  return std::as_writable_bytes(all);
}

/// A layout in those, of one in elements. Lives while the call is made, which copies it.
template <class W>
class unit_layout {
public:
  explicit unit_layout(const block_layout& given)
      : counts_(given.counts.size()), displacements_(given.displacements.size()) {
    scale(given.counts, counts_);
    scale(given.displacements, displacements_);
  }
  block_layout get() const noexcept { return {.counts = counts_, .displacements = displacements_}; }

private:
  static void scale(std::span<const std::size_t> from, pooled<std::size_t>& to) {
    constexpr std::size_t each = number<W> ? 1 : sizeof(W);
    std::ranges::transform(from, to.data(), [](std::size_t count) { return count * each; });
  }

  pooled<std::size_t> counts_;
  pooled<std::size_t> displacements_;
};

/// How blocks are received into a View: where they do not fill it, what it has goes through the
/// memory that it is packed into.
inline access receives_blocks(const placement& into, const block_layout& blocks) noexcept {
  const std::size_t all = std::reduce(blocks.counts.begin(), blocks.counts.end(), std::size_t{0});
  const bool fill = blocks.displacements.empty() && all == into.size();
  return fill ? writes : reads_and_writes;
}

struct scatterv_call {
  template <class At, class S, class R>
  static task<> make(const At& at, team& on, const S& send, const block_layout& blocks,
                     const R& receive, std::size_t root) {
    check_blocks<S, R>();
    const bool sends = on.rank() == root;
    const used<S> from{send, only_if(sends, reads)};
    const used<R> to{receive, writes};
    if (sends) {
      require_one_order("scatterv", from.where, to.where);
      muster::detail::require_within("scatterv", "send", from.where.size(), blocks, on.size());
    }
    const unit_layout<wire_of<S>> units(blocks);
    return between(at, on, nothing_to_combine(), from, to, from.where.by, to.where.by, whole,
                   [&](auto all, auto mine) {
                     return muster::scatterv(on, units_of(all), units.get(), units_of(mine), root);
                   });
  }
  template <class At, class V>
  static task<> make(const At& at, team& on, const V& data, const block_layout& blocks,
                     std::size_t root) {
    check_receive<V>();
    const used<V> all{data, on.rank() == root ? reads : writes};
    const unit_layout<wire_of<V>> units(blocks);
    return alone(at, on, nothing_to_combine(), all, whole, [&](auto elements) {
      return muster::scatterv(on, units_of(elements), units.get(), root);
    });
  }
};

struct gatherv_call {
  template <class At, class S, class R>
  static task<> make(const At& at, team& on, const S& send, const R& receive,
                     const block_layout& blocks, std::size_t root) {
    check_blocks<S, R>();
    const bool receives = on.rank() == root;
    const used<S> from{send, reads};
    used<R> to{receive, {}};
    if (receives) {
      to.how = receives_blocks(to.where, blocks);
      require_one_order("gatherv", from.where, to.where);
      muster::detail::require_within("gatherv", "receive", to.where.size(), blocks, on.size());
    }
    const unit_layout<wire_of<R>> units(blocks);
    return between(at, on, nothing_to_combine(), from, to, from.where.by, to.where.by, whole,
                   [&](auto mine, auto all) {
                     return muster::gatherv(on, units_of(mine), units_of(all), units.get(), root);
                   });
  }
  template <class At, class V>
  static task<> make(const At& at, team& on, const V& data, const block_layout& blocks,
                     std::size_t root) {
    check_receive<V>();
    const used<V> all{data, on.rank() == root ? reads_and_writes : reads};
    const unit_layout<wire_of<V>> units(blocks);
    return alone(at, on, nothing_to_combine(), all, whole, [&](auto elements) {
      return muster::gatherv(on, units_of(elements), units.get(), root);
    });
  }
};

struct allgatherv_call {
  template <class At, class S, class R>
  static task<> make(const At& at, team& on, const S& send, const R& receive,
                     const block_layout& blocks) {
    check_blocks<S, R>();
    const used<S> from{send, reads};
    used<R> to{receive, {}};
    to.how = receives_blocks(to.where, blocks);
    require_one_order("allgatherv", from.where, to.where);
    muster::detail::require_within("allgatherv", "receive", to.where.size(), blocks, on.size());
    const unit_layout<wire_of<R>> units(blocks);
    return between(at, on, nothing_to_combine(), from, to, from.where.by, to.where.by, whole,
                   [&](auto mine, auto all) {
                     return muster::allgatherv(on, units_of(mine), units_of(all), units.get());
                   });
  }
  template <class At, class V>
  static task<> make(const At& at, team& on, const V& data, const block_layout& blocks) {
    check_receive<V>();
    const used<V> all{data, reads_and_writes};
    const unit_layout<wire_of<V>> units(blocks);
    return alone(at, on, nothing_to_combine(), all, whole, [&](auto elements) {
      return muster::allgatherv(on, units_of(elements), units.get());
    });
  }
};

struct alltoallv_call {
  template <class At, class S, class R>
  static task<> make(const At& at, team& on, const S& send, const block_layout& send_blocks,
                     const R& receive, const block_layout& receive_blocks) {
    check_blocks<S, R>();
    const used<S> from{send, reads};
    used<R> to{receive, {}};
    to.how = receives_blocks(to.where, receive_blocks);
    require_one_order("alltoallv", from.where, to.where);
    muster::detail::require_within("alltoallv", "send", from.where.size(), send_blocks, on.size());
    muster::detail::require_within("alltoallv", "receive", to.where.size(), receive_blocks,
                                   on.size());
    const unit_layout<wire_of<S>> sent(send_blocks);
    const unit_layout<wire_of<R>> received(receive_blocks);
    return between(at, on, nothing_to_combine(), from, to, from.where.by, to.where.by, whole,
                   [&](auto mine, auto theirs) {
                     return muster::alltoallv(on, units_of(mine), sent.get(), units_of(theirs),
                                              received.get());
                   });
  }
  template <class At, class V>
  static task<> make(const At& at, team& on, const V& data, const block_layout& blocks) {
    check_receive<V>();
    const used<V> all{data, reads_and_writes};
    const unit_layout<wire_of<V>> units(blocks);
    return alone(at, on, nothing_to_combine(), all, whole, [&](auto elements) {
      return muster::alltoallv(on, units_of(elements), units.get());
    });
  }
};

}  // namespace detail

/// `scatterv([instance,] team, send, blocks, receive, root)`; in place `scatterv(…, data, blocks,
/// root)`.
/// \see muster::scatterv
inline constexpr detail::door<detail::scatterv_call> scatterv{};
/// `gatherv([instance,] team, send, receive, blocks, root)`; in place `gatherv(…, data, blocks,
/// root)`.
/// \see muster::gatherv
inline constexpr detail::door<detail::gatherv_call> gatherv{};
/// `allgatherv([instance,] team, send, receive, blocks)`; in place `allgatherv(…, data, blocks)`.
/// \see muster::allgatherv
inline constexpr detail::door<detail::allgatherv_call> allgatherv{};
/// `alltoallv([instance,] team, send, blocks, receive, blocks)`; in place `alltoallv(…, data,
/// blocks)`.
/// \see muster::alltoallv
inline constexpr detail::door<detail::alltoallv_call> alltoallv{};

}  // namespace muster::kokkos
