#pragma once

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>

#include <muster/kokkos/buffers.hpp>
#include <muster/kokkos/packing.hpp>
#include <muster/kokkos/view.hpp>

/// The Views of one call: where the engine finds their elements, what goes before and after.
namespace muster::kokkos::detail {

template <class Exec, class V>
inline constexpr bool can_access =
    Kokkos::SpaceAccessibility<Exec, typename V::memory_space>::accessible;

/// Where a call's kernels and copies run, and what it comes after: nothing, for its caller has
/// fenced.
struct default_instances {
  void fence() const {}
  template <class V>
  typename V::execution_space of() const {
    return {};
  }
};

/// An instance of the caller's: all that it has been given so far.
template <class Exec>
struct given_instance {
  Exec exec;

  void fence() const { exec.fence(); }
  /// That instance, where it can access the View.
  template <class V>
  auto of() const {
    if constexpr (can_access<Exec, V>) {
      return exec;
    } else {
      return typename V::execution_space();
    }
  }
};

template <class At, class V>
using exec_of = std::remove_cvref_t<decltype(std::declval<const At&>().template of<V>())>;

/// What a call does with a View on this rank; neither: it is ignored.
struct access {
  bool reads = false;
  bool writes = false;
};
inline constexpr access reads{.reads = true};
inline constexpr access writes{.writes = true};
inline constexpr access reads_and_writes{.reads = true, .writes = true};
constexpr access only_if(bool condition, access how) { return condition ? how : access{}; }

/// Where buffers of no elements are: a null pointer would say that a call is in place.
std::byte* nowhere() noexcept;

/// Where a View is packed: memory that its kernels can access, and the host where it can access the
/// View.
template <class Exec, class V>
const memory_source& packing_memory() noexcept {
  constexpr bool by_host = Kokkos::SpaceAccessibility<Exec, Kokkos::HostSpace>::accessible;
  if constexpr (by_host && is_reachable<V>) {
    return host_memory;
  } else {
    return memory_of<typename V::memory_space>;
  }
}

/// A View that the host can access, whose elements travel in some order: as it is, or packed.
template <class At, class V>
class side {
  using exec = exec_of<At, V>;
  using element = value_of<V>;
  using on_wire = wire_of<V>;

public:
  side(const V& of, const placement& where, order in, access how)
      : view_(of), how_(how), count_(where.size()) {
    const bool is_used = (how.reads || how.writes) && count_ != 0;
    if (!is_used) return;
    if (where.is_consecutive(in)) {
      // A View of const elements is only read.
      data_ = reinterpret_cast<std::byte*>(const_cast<element*>(view_.data()));
    } else {
      walk_ = walk_through(where, in);
      packed_ = buffer_pool::here().take(packing_memory<exec, V>(), count_ * sizeof(element));
      data_ = packed_.data();
      is_packed_ = true;
    }
  }

  std::span<on_wire> elements() const noexcept {
    return {reinterpret_cast<on_wire*>(data_), count_};
  }

  void load(const At& at) const {
    if (is_packed_ && how_.reads) copy_by<direction::pack>(at);
  }
  void store(const At& at) const {
    if constexpr (!is_readable_only<V>) {
      if (is_packed_ && how_.writes) copy_by<direction::unpack>(at);
    }
  }

private:
  template <direction D>
  void copy_by(const At& at) const {
    const exec on = at.template of<V>();
    copy<D, element>(on, walk_, view_.data(), reinterpret_cast<element*>(packed_.data()));
    on.fence();
  }

  V view_;
  access how_;
  std::size_t count_;
  std::byte* data_ = nowhere();
  bool is_packed_ = false;
  walk walk_;
  buffer packed_;
};

}  // namespace muster::kokkos::detail
