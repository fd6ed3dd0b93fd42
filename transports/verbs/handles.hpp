#pragma once

#include <infiniband/verbs.h>
#include <sys/types.h>
#include <unistd.h>

#include <utility>

namespace muster::verbs {

/// Owns an object of libibverbs in the process that made it. A child of `fork` inherits the
/// descriptor by which the kernel knows the object: what it destroyed there would be gone for its
/// parent, too, and so it leaves it alone.
template <class Object, int (*Destroy)(Object*)>
class handle {
public:
  handle() = default;
  explicit handle(Object* made) noexcept
      : object_(made), owner_(made == nullptr ? 0 : ::getpid()) {}
  handle(handle&& other) noexcept
      : object_(std::exchange(other.object_, nullptr)), owner_(other.owner_) {}
  handle& operator=(handle&& other) noexcept {
    // What was held goes now and not with `other`: a queue, for example, before what it is made of.
    handle taken(std::move(other));
    std::swap(object_, taken.object_);
    std::swap(owner_, taken.owner_);
    return *this;
  }
  ~handle() { reset(); }

  Object* get() const noexcept { return object_; }
  Object* operator->() const noexcept { return object_; }
  explicit operator bool() const noexcept { return object_ != nullptr; }

  /// Whether this process made it, and not one that this one was forked from.
  bool is_own() const noexcept { return object_ != nullptr && owner_ == ::getpid(); }
  /// Destroys it, if it is this process's own. That it fails, in the middle of an end, helps
  /// nobody.
  void reset() noexcept {
    if (is_own()) Destroy(object_);
    object_ = nullptr;
  }
  /// Gives it away.
  Object* release() noexcept { return std::exchange(object_, nullptr); }

private:
  Object* object_ = nullptr;
  pid_t owner_ = 0;
};

using context_handle = handle<ibv_context, &::ibv_close_device>;
using domain_handle = handle<ibv_pd, &::ibv_dealloc_pd>;
using channel_handle = handle<ibv_comp_channel, &::ibv_destroy_comp_channel>;
using completions_handle = handle<ibv_cq, &::ibv_destroy_cq>;
using pair_handle = handle<ibv_qp, &::ibv_destroy_qp>;
using region_handle = handle<ibv_mr, &::ibv_dereg_mr>;

}  // namespace muster::verbs
