#pragma once

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>

#include <muster/coro/frame_pool.hpp>
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

/// How a View with gaps is packed, and into what. Its own memory is the frame pool's.
class packing {
public:
  packing(const placement& where, order in, const memory_source& from, std::size_t element);
  const walk& by() const noexcept { return by_; }
  std::byte* data() const noexcept { return memory_.data(); }

  static void* operator new(std::size_t bytes) { return frame_pool::allocate(bytes); }
  static void operator delete(void* memory) noexcept { frame_pool::release(memory); }

private:
  walk by_;
  buffer memory_;
};

/// Null where the View's elements follow each other, or there are none.
template <class Exec, class V>
std::unique_ptr<packing> packing_for(const placement& where, order in) {
  if (where.is_consecutive(in)) return nullptr;
  return std::make_unique<packing>(where, in, packing_memory<Exec, V>(), sizeof(value_of<V>));
}

/// Gives the kernel to the instance.
template <class At, class V>
void pack(const At& at, const V& from, const packing& into) {
  copy<direction::pack, value_of<V>>(at.template of<V>(), into.by(), from.data(),
                                     reinterpret_cast<value_of<V>*>(into.data()));
}
template <class At, class V>
void unpack(const At& at, const packing& from, const V& into) {
  copy<direction::unpack, value_of<V>>(at.template of<V>(), from.by(), into.data(),
                                       reinterpret_cast<const value_of<V>*>(from.data()));
}

/// Where elements are that follow each other: in the View, or packed.
template <class V>
std::byte* elements_at(const V& view, const std::unique_ptr<packing>& packed) noexcept {
  if (packed != nullptr) return packed->data();
  // A View of const elements is only read.
  return reinterpret_cast<std::byte*>(const_cast<value_of<V>*>(view.data()));
}

/// A View that the host can access, whose elements travel in some order: as it is, or packed.
template <class At, class V>
class side {
  using on_wire = wire_of<V>;

public:
  side(const V& of, const placement& where, order in, access how)
      : view_(of), how_(how), count_(where.size()) {
    if (count_ == 0 || !(how.reads || how.writes)) return;
    packing_ = packing_for<exec_of<At, V>, V>(where, in);
    data_ = elements_at(view_, packing_);
  }

  std::span<on_wire> elements() const noexcept {
    return {reinterpret_cast<on_wire*>(data_), count_};
  }

  void load(const At& at) const {
    if (packing_ == nullptr || !how_.reads) return;
    pack(at, view_, *packing_);
    at.template of<V>().fence();
  }
  void store(const At& at) const {
    if constexpr (!is_readable_only<V>) {
      if (packing_ == nullptr || !how_.writes) return;
      unpack(at, *packing_, view_);
      at.template of<V>().fence();
    }
  }

private:
  V view_;
  access how_;
  std::size_t count_;
  std::byte* data_ = nowhere();
  std::unique_ptr<packing> packing_;  // where it has gaps
};

}  // namespace muster::kokkos::detail
