#pragma once

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <impl/Kokkos_SharedAlloc_timpl.hpp>

/// A device that is not there: memory that the host cannot touch, since its pages are protected,
/// and an execution space whose kernels and copies run only when their instance is fenced. Whoever
/// touches an element without Kokkos crashes; whoever does not fence sees what was there before.
///
/// Made of what Kokkos 3.4 wants of a space.
namespace muster::testing {

/// Pages that are mapped twice: where Views believe them to be, and where copies go.
class device_pages {
public:
  static device_pages& all() {
    static device_pages one;
    return one;
  }
  void* allocate(std::size_t bytes);
  void release(void* memory) noexcept;
  /// Where the host finds what a View believes to be at `at`.
  std::byte* seen_by_host(const void* at);

  /// While it lives kernels run.
  class opened {
  public:
    opened() { all().open(true); }
    ~opened() { all().open(false); }
    opened(const opened&) = delete;
    opened& operator=(const opened&) = delete;
  };

private:
  struct block {
    std::size_t bytes;
    std::byte* alias;
  };
  void open(bool more);

  std::mutex mutex_;
  std::map<std::byte*, block> blocks_;
  int open_ = 0;
};

/// What was given to an instance and has not run.
class device_queue {
public:
  void give(std::function<void()> work) { work_.push_back(std::move(work)); }
  void run() {
    for (std::size_t i = 0; i < work_.size(); ++i) work_[i]();
    work_.clear();
  }

private:
  std::vector<std::function<void()>> work_;
};

class device_memory;

/// Its execution space. Instances that are made without a queue share one on each thread.
class device {
public:
  using execution_space = device;
  using memory_space = device_memory;
  using size_type = std::size_t;
  using device_type = Kokkos::Device<device, device_memory>;
  using array_layout = Kokkos::LayoutLeft;
  using scratch_memory_space = Kokkos::ScratchMemorySpace<device>;

  device() : queue_(of_thread()) {}
  explicit device(std::shared_ptr<device_queue> own) : queue_(std::move(own)) {}

  void fence() const { queue_->run(); }
  void fence(const std::string&) const { fence(); }
  device_queue& queue() const { return *queue_; }
  static int in_parallel() { return false; }
  static int concurrency() { return 1; }
  static void impl_static_fence() { of_thread()->run(); }
  static bool impl_is_initialized() { return true; }
  static const char* name() { return "device"; }
  std::uint32_t impl_instance_id() const noexcept { return 0; }

private:
  static const std::shared_ptr<device_queue>& of_thread() {
    thread_local const std::shared_ptr<device_queue> one = std::make_shared<device_queue>();
    return one;
  }
  std::shared_ptr<device_queue> queue_;
};

class device_memory {
public:
  using memory_space = device_memory;
  using execution_space = device;
  using size_type = std::size_t;
  using device_type = Kokkos::Device<device, device_memory>;

  void* allocate(std::size_t bytes) const { return device_pages::all().allocate(bytes); }
  void* allocate(const char*, std::size_t bytes, std::size_t = 0) const { return allocate(bytes); }
  void deallocate(void* memory, std::size_t) const {
    device::impl_static_fence();
    device_pages::all().release(memory);
  }
  void deallocate(const char*, void* memory, std::size_t bytes, std::size_t = 0) const {
    deallocate(memory, bytes);
  }
  static constexpr const char* name() { return "device_memory"; }
};

}  // namespace muster::testing

namespace Kokkos {
namespace Tools::Experimental {
template <>
struct DeviceTypeTraits<muster::testing::device> {
  static constexpr DeviceType id = DeviceType::Unknown;
};
}  // namespace Tools::Experimental

namespace Impl {

template <>
struct MemorySpaceAccess<HostSpace, muster::testing::device_memory> {
  enum : bool { assignable = false };
  enum : bool { accessible = false };
  enum : bool { deepcopy = true };
};
template <>
struct MemorySpaceAccess<muster::testing::device_memory, HostSpace> {
  enum : bool { assignable = false };
  enum : bool { accessible = false };
  enum : bool { deepcopy = true };
};

/// Copies: with an instance when it is fenced, without one at once.
template <class To, class From>
struct device_copy {
  static std::byte* host_of(HostSpace, const void* at) {
    return static_cast<std::byte*>(const_cast<void*>(at));
  }
  static std::byte* host_of(muster::testing::device_memory, const void* at) {
    return muster::testing::device_pages::all().seen_by_host(at);
  }
  static void now(void* to, const void* from, std::size_t bytes) {
    if (bytes != 0) std::memcpy(host_of(To(), to), host_of(From(), from), bytes);
  }

  device_copy(void* to, const void* from, std::size_t bytes) {
    muster::testing::device::impl_static_fence();
    now(to, from, bytes);
  }
  device_copy(const muster::testing::device& on, void* to, const void* from, std::size_t bytes) {
    on.queue().give([=] { now(to, from, bytes); });
  }
};
template <class Exec>
struct DeepCopy<muster::testing::device_memory, HostSpace, Exec>
    : device_copy<muster::testing::device_memory, HostSpace> {
  using device_copy<muster::testing::device_memory, HostSpace>::device_copy;
};
template <class Exec>
struct DeepCopy<HostSpace, muster::testing::device_memory, Exec>
    : device_copy<HostSpace, muster::testing::device_memory> {
  using device_copy<HostSpace, muster::testing::device_memory>::device_copy;
};
template <class Exec>
struct DeepCopy<muster::testing::device_memory, muster::testing::device_memory, Exec>
    : device_copy<muster::testing::device_memory, muster::testing::device_memory> {
  using device_copy<muster::testing::device_memory, muster::testing::device_memory>::device_copy;
};

template <class F, class... Traits>
class ParallelFor<F, RangePolicy<Traits...>, muster::testing::device> {
  using policy = RangePolicy<Traits...>;

public:
  ParallelFor(const F& functor, const policy& range) : functor_(functor), range_(range) {}
  void execute() const {
    range_.space().queue().give([functor = functor_, begin = range_.begin(), end = range_.end()] {
      const muster::testing::device_pages::opened now;
      for (auto i = begin; i < end; ++i) functor(i);
    });
  }

private:
  F functor_;
  policy range_;
};

template <>
class SharedAllocationRecord<muster::testing::device_memory, void>
    : public HostInaccessibleSharedAllocationRecordCommon<muster::testing::device_memory> {
  using space = muster::testing::device_memory;
  using base = HostInaccessibleSharedAllocationRecordCommon<space>;
  using root = SharedAllocationRecord<void, void>;
  friend class SharedAllocationRecordCommon<space>;
  friend class HostInaccessibleSharedAllocationRecordCommon<space>;

  space m_space;

protected:
  ~SharedAllocationRecord() { m_space.deallocate(root::m_alloc_ptr, root::m_alloc_size); }
  SharedAllocationRecord(const space& from, const std::string& label, std::size_t bytes,
                         const root::function_type release = &base::deallocate)
      : base(static_cast<SharedAllocationHeader*>(
                 from.allocate(sizeof(SharedAllocationHeader) + bytes)),
             sizeof(SharedAllocationHeader) + bytes, release),
        m_space(from) {
    SharedAllocationHeader header;
    this->base::_fill_host_accessible_header_info(header, label);
    device_copy<space, HostSpace>::now(root::m_alloc_ptr, &header, sizeof(header));
  }
};

}  // namespace Impl
}  // namespace Kokkos
