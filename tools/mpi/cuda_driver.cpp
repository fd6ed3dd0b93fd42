// NVIDIA's driver, whose header need not be there: what of it is used keeps its meaning from CUDA 7
// on.
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "tools/mpi/device_driver.hpp"

namespace muster::mpi {
namespace {

using code = int;  // CUresult; 0: success
using context = struct cuda_context*;
using stream = struct cuda_stream*;
using device_address = unsigned long long;
static_assert(sizeof(device_address) == sizeof(address));

// CUpointer_attribute
constexpr int the_context = 1;
constexpr int the_memory_type = 2;
constexpr int whether_managed = 8;
constexpr int the_device = 9;

// CUmemorytype
constexpr unsigned host_memory_type = 1;
constexpr unsigned device_memory_type = 2;

/// The calling thread's own default stream: it waits for no work but the thread's and that of the
/// stream that programs use who name none, and nobody has to make it.
stream of_this_thread() noexcept { return reinterpret_cast<stream>(std::uintptr_t{2}); }

/// CUDA_MEMCPY2D
struct copy_2d {
  struct place {
    std::size_t x = 0;
    std::size_t y = 0;
    unsigned type = 0;
    address host = 0;
    device_address device = 0;
    void* array = nullptr;
    std::size_t pitch = 0;
  };
  place from;
  place to;
  std::size_t width = 0;
  std::size_t height = 0;
};
static_assert(sizeof(copy_2d) == 16 * sizeof(std::size_t));

struct functions {
  code (*get_attributes)(unsigned, int*, void**, device_address) = nullptr;
  code (*push)(context) = nullptr;
  code (*pop)(context*) = nullptr;
  code (*retain)(context*, int) = nullptr;
  code (*release)(int) = nullptr;
  code (*copy)(device_address, device_address, std::size_t, stream) = nullptr;
  code (*copy_rows)(const copy_2d*, stream) = nullptr;
  code (*await)(stream) = nullptr;
  code (*name)(code, const char**) = nullptr;

  bool find(void* library) noexcept {
    return find_in(library, "cuPointerGetAttributes", get_attributes) &&
           find_in(library, "cuCtxPushCurrent_v2", push) &&
           find_in(library, "cuCtxPopCurrent_v2", pop) &&
           find_in(library, "cuDevicePrimaryCtxRetain", retain) &&
           (find_in(library, "cuDevicePrimaryCtxRelease_v2", release) ||
            find_in(library, "cuDevicePrimaryCtxRelease", release)) &&
           find_in(library, "cuMemcpyAsync", copy) &&
           find_in(library, "cuMemcpy2DAsync_v2", copy_rows) &&
           find_in(library, "cuStreamSynchronize", await) &&
           find_in(library, "cuGetErrorName", name);
  }
  void require(code is, const char* function) const {
    if (is == 0) [[likely]]
      return;
    const char* text = nullptr;
    name(is, &text);
    throw_refused(function, is, text);
  }
};

/// What the driver knows of memory; zeros of what is none of its.
struct knowledge {
  context of = nullptr;  ///< null also of a device's memory that belongs to no context
  unsigned type = 0;
  unsigned is_managed = 0;
  int device = 0;
};

code know(const functions& by, address at, knowledge& all) noexcept {
  std::array<int, 4> attributes{the_context, the_memory_type, whether_managed, the_device};
  std::array<void*, 4> values{&all.of, &all.type, &all.is_managed, &all.device};
  return by.get_attributes(attributes.size(), attributes.data(), values.data(), at);
}

/// A context is the calling thread's, which may have none, or another.
class stay_in_context {
public:
  stay_in_context(const functions& by, const knowledge& of) : by_(by), device_(of.device) {
    context wanted = of.of;
    if (wanted == nullptr) {
      by_.require(by_.retain(&wanted, device_), "cuDevicePrimaryCtxRetain");
      retains_ = true;
    }
    const code pushed = by_.push(wanted);
    if (pushed == 0) return;
    release();
    by_.require(pushed, "cuCtxPushCurrent");
  }
  ~stay_in_context() {
    context own = nullptr;
    by_.pop(&own);
    release();
  }
  stay_in_context(const stay_in_context&) = delete;
  stay_in_context& operator=(const stay_in_context&) = delete;

private:
  void release() const noexcept {
    if (retains_) by_.release(device_);
  }

  const functions& by_;
  int device_;
  bool retains_ = false;
};

class cuda final : public device_driver {
public:
  explicit cuda(const functions& of) : by_(of) {}

  bool owns(address at) const noexcept override {
    knowledge of;
    // Refused is also the question of a program that has the driver loaded and does not use it.
    return know(by_, at, of) == 0 && of.type == device_memory_type && of.is_managed == 0;
  }
  void read(address device, address host, std::span<const strip> all) const override {
    copy(device, all, [&](const strip& one) {
      const auto offset = static_cast<address>(one.at);
      if (one.rows == 1) return copy_row(host + offset, device + offset, one.width);
      copy_rows(one, of_device(device + offset, one.pitch), of_host(host + offset, one.pitch));
    });
  }
  void write(address device, address host, std::span<const strip> all) const override {
    copy(device, all, [&](const strip& one) {
      const auto offset = static_cast<address>(one.at);
      if (one.rows == 1) return copy_row(device + offset, host + offset, one.width);
      copy_rows(one, of_host(host + offset, one.pitch), of_device(device + offset, one.pitch));
    });
  }

private:
  template <class Copy>
  void copy(address device, std::span<const strip> all, Copy copy_one) const {
    if (all.empty()) return;
    knowledge of;
    const auto first = device + static_cast<address>(all.front().at);
    by_.require(know(by_, first, of), "cuPointerGetAttributes");
    const stay_in_context here(by_, of);
    try {
      for (const strip& one : all) copy_one(one);
    } catch (...) {
      by_.await(of_this_thread());  // those before it: their memory may go now
      throw;
    }
    by_.require(by_.await(of_this_thread()), "cuStreamSynchronize");
  }
  void copy_row(address to, address from, std::size_t bytes) const {
    by_.require(by_.copy(to, from, bytes, of_this_thread()), "cuMemcpyAsync");
  }
  void copy_rows(const strip& one, const copy_2d::place& from, const copy_2d::place& to) const {
    const copy_2d what{.from = from, .to = to, .width = one.width, .height = one.rows};
    by_.require(by_.copy_rows(&what, of_this_thread()), "cuMemcpy2DAsync");
  }
  static copy_2d::place of_device(address at, std::size_t pitch) noexcept {
    return {.type = device_memory_type, .device = at, .pitch = pitch};
  }
  static copy_2d::place of_host(address at, std::size_t pitch) noexcept {
    return {.type = host_memory_type, .host = at, .pitch = pitch};
  }

  functions by_;
};

}  // namespace

std::unique_ptr<device_driver> cuda_driver(void* library) {
  functions all;
  return all.find(library) ? std::make_unique<cuda>(all) : nullptr;
}

}  // namespace muster::mpi
