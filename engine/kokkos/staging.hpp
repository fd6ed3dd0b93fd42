#pragma once

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <tuple>
#include <utility>

#include <muster/coro/frame_pool.hpp>
#include <muster/coro/task.hpp>
#include <muster/kokkos/buffers.hpp>
#include <muster/kokkos/reducers.hpp>
#include <muster/kokkos/sides.hpp>
#include <muster/kokkos/view.hpp>
#include <muster/run/perform.hpp>
#include <muster/run/team.hpp>

/// Views that the host cannot access are copied through memory that it can. Long ones are cut:
/// while a segment is sent, the next one is copied.
namespace muster::kokkos::detail {

#if defined(KOKKOS_HAS_SHARED_HOST_PINNED_SPACE)
using staging_space = Kokkos::SharedHostPinnedSpace;
#elif defined(KOKKOS_ENABLE_CUDA)
using staging_space = Kokkos::CudaHostPinnedSpace;
#elif defined(KOKKOS_ENABLE_HIP)
using staging_space = Kokkos::Experimental::HIPHostPinnedSpace;
#else
using staging_space = Kokkos::HostSpace;
#endif

/// How a call's Views are cut, the same on all ranks: each is so many blocks of one length, and a
/// segment has the same part of each. Whole where blocks differ.
struct division {
  std::size_t send_blocks = 1;
  std::size_t receive_blocks = 1;
  std::size_t block = 0;        ///< its elements
  std::size_t most_blocks = 1;  ///< of any View of the call, on any rank
  bool is_whole = true;
};
inline constexpr division whole{};
inline division vector_of(std::size_t count) noexcept {
  return {.block = count, .is_whole = false};
}
inline division blocks_of(std::size_t send, std::size_t receive, std::size_t block) noexcept {
  return {.send_blocks = send,
          .receive_blocks = receive,
          .block = block,
          .most_blocks = std::max(send, receive),
          .is_whole = false};
}
/// \param element bytes of one
std::size_t segments_of(const division& all, std::size_t element) noexcept;

/// Copies between memory that the host cannot access and memory that it can, in the order of what
/// `on` is given.
template <class V, class Exec>
void copy_to_host(const Exec& on, std::byte* to, const std::byte* from, std::size_t bytes) {
  using kept = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  using host = Kokkos::View<char*, Kokkos::LayoutRight, staging_space, kept>;
  using device = Kokkos::View<const char*, Kokkos::LayoutRight, typename V::device_type, kept>;
  Kokkos::deep_copy(on, host(reinterpret_cast<char*>(to), bytes),
                    device(reinterpret_cast<const char*>(from), bytes));
}
template <class V, class Exec>
void copy_from_host(const Exec& on, std::byte* to, const std::byte* from, std::size_t bytes) {
  using kept = Kokkos::MemoryTraits<Kokkos::Unmanaged>;
  using host = Kokkos::View<const char*, Kokkos::LayoutRight, staging_space, kept>;
  using device = Kokkos::View<char*, Kokkos::LayoutRight, typename V::device_type, kept>;
  Kokkos::deep_copy(on, device(reinterpret_cast<char*>(to), bytes),
                    host(reinterpret_cast<const char*>(from), bytes));
}

/// A View of a call that is staged.
template <class At, class V>
class staged_side {
  using element = value_of<V>;
  using on_wire = wire_of<V>;
  static constexpr std::size_t slots = 2;

public:
  /// \param blocks it is so many
  staged_side(const V& of, const placement& where, order in, access how, std::size_t blocks,
              const division& cut, std::size_t segments)
      : view_(of),
        how_(how),
        blocks_(cut.is_whole ? 1 : blocks),
        block_(cut.is_whole ? where.size() : cut.block),
        segments_(segments) {
    const bool is_used = (how.reads || how.writes) && where.size() != 0;
    if (!is_used) {
      how_ = {};
      return;
    }
    packing_ = packing_for<exec_of<At, V>, V>(where, in);
    for (std::size_t i = 0; i < slots && i < segments; ++i) {
      slots_[i] = buffer_pool::here().take(memory_of<staging_space>, longest() * sizeof(element));
    }
  }

  /// What the engine takes for segment `s`.
  std::span<on_wire> elements(std::size_t s) const noexcept {
    return {reinterpret_cast<on_wire*>(how_.reads || how_.writes ? slot(s) : nowhere()),
            blocks_ * length(s)};
  }
  void begin_packing(const At& at) const {
    if (packing_ == nullptr || !how_.reads) return;
    pack(at, view_, *packing_);
    if constexpr (is_reachable<V>) fence(at);  // the host reads it next, not the instance
  }
  void begin_unpacking(const At& at) const {
    if constexpr (!is_readable_only<V>) {
      if (packing_ != nullptr && how_.writes) unpack(at, *packing_, view_);
    }
  }

  /// Begins to copy segment `s` to where the engine reads it.
  void load(const At& at, std::size_t s) const {
    if (!how_.reads) return;
    for (std::size_t b = 0; b < blocks_; ++b) {
      std::byte* const to = slot(s) + b * length(s) * sizeof(element);
      const std::byte* const from = base() + (b * block_ + begin(s)) * sizeof(element);
      if constexpr (is_reachable<V>) {
        std::memcpy(to, from, length(s) * sizeof(element));
      } else {
        copy_to_host<V>(at.template of<V>(), to, from, length(s) * sizeof(element));
      }
    }
  }
  /// Begins to copy back what the engine has written.
  void store(const At& at, std::size_t s) const {
    if (!how_.writes) return;
    for (std::size_t b = 0; b < blocks_; ++b) {
      const std::byte* const from = slot(s) + b * length(s) * sizeof(element);
      std::byte* const to = base() + (b * block_ + begin(s)) * sizeof(element);
      if constexpr (is_reachable<V>) {
        std::memcpy(to, from, length(s) * sizeof(element));
      } else {
        copy_from_host<V>(at.template of<V>(), to, from, length(s) * sizeof(element));
      }
    }
  }
  void fence(const At& at) const {
    if (how_.reads || how_.writes) at.template of<V>().fence();
  }

private:
  std::size_t begin(std::size_t s) const noexcept { return block_ * s / segments_; }
  std::size_t length(std::size_t s) const noexcept { return begin(s + 1) - begin(s); }
  std::size_t longest() const noexcept { return blocks_ * ((block_ + segments_ - 1) / segments_); }
  std::byte* slot(std::size_t s) const noexcept { return slots_[s % slots].data(); }
  std::byte* base() const noexcept { return elements_at(view_, packing_); }

  V view_;
  access how_;
  std::size_t blocks_;
  std::size_t block_;
  std::size_t segments_;
  std::unique_ptr<packing> packing_;  // where it has gaps
  std::array<buffer, slots> slots_;
};

/// Waits at its end for what kernels and copies have begun, also where an operation has failed.
template <class At, class... Sides>
class fence_at_end {
public:
  explicit fence_at_end(const At& at, const Sides&... sides) noexcept : at_(at), sides_(sides...) {}
  ~fence_at_end() {
    std::apply([this](const Sides&... each) { (each.fence(at_), ...); }, sides_);
  }
  fence_at_end(const fence_at_end&) = delete;
  fence_at_end& operator=(const fence_at_end&) = delete;

private:
  const At& at_;
  std::tuple<const Sides&...> sides_;
};

/// The segments' operations, one after the other, and copies beside them.
template <class At, class... Sides>
task<> run_staged(team& on, At at, kept_reduction, pooled_list<task<>> operations, Sides... sides) {
  // Locals: nobody reads or writes the sides any more when they go.
  const fence_at_end<At, Sides...> copied(at, sides...);
  pooled_list<task<>> parts = std::move(operations);
  if (parts.size() > 1) {
    on.require_whole();
    for (const task<>& each : parts) take_place(each);
  }
  at.fence();
  (sides.begin_packing(at), ...);
  (sides.load(at, 0), ...);
  (sides.fence(at), ...);
  for (std::size_t s = 0; s < parts.size(); ++s) {
    if (s + 1 < parts.size()) (sides.load(at, s + 1), ...);
    co_await std::move(parts[s]);
    // The next segment is there, and the last but one out of the memory that the next goes into.
    (sides.fence(at), ...);
    (sides.store(at, s), ...);
  }
  (sides.begin_unpacking(at), ...);
  (sides.fence(at), ...);
}

}  // namespace muster::kokkos::detail
