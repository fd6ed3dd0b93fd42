// AMD's HIP, whose header need not be there.
#include <cstddef>
#include <memory>
#include <span>

#include "tools/mpi/device_driver.hpp"

namespace muster::mpi {
namespace {

using code = int;  // hipError_t; 0: success

/// hipPointerAttribute_t, whose layout is that of all versions; what the types are called is not.
struct knowledge {
  int type = -1;
  int device = 0;
  void* device_pointer = nullptr;
  void* host_pointer = nullptr;
  int is_managed = 0;
  unsigned flags = 0;
  unsigned char of_later_versions[64] = {};
};

// hipMemcpyKind
constexpr int host_to_device = 1;
constexpr int device_to_host = 2;

struct functions {
  code (*get_attributes)(knowledge*, const void*) = nullptr;
  code (*copy)(address, address, std::size_t, int) = nullptr;
  code (*copy_rows)(address, std::size_t, address, std::size_t, std::size_t, std::size_t,
                    int) = nullptr;
  code (*get_device)(int*) = nullptr;
  code (*set_device)(int) = nullptr;
  code (*version)(int*) = nullptr;
  code (*last_error)() = nullptr;
  code (*forget_last_error)() = nullptr;
  const char* (*name)(code) = nullptr;

  bool find(void* library) noexcept {
    return find_in(library, "hipPointerGetAttributes", get_attributes) &&
           find_in(library, "hipMemcpy", copy) && find_in(library, "hipMemcpy2D", copy_rows) &&
           find_in(library, "hipGetDevice", get_device) &&
           find_in(library, "hipSetDevice", set_device) &&
           find_in(library, "hipRuntimeGetVersion", version) &&
           find_in(library, "hipPeekAtLastError", last_error) &&
           find_in(library, "hipGetLastError", forget_last_error) &&
           find_in(library, "hipGetErrorName", name);
  }
  void require(code is, const char* function) const {
    if (is != 0) throw_refused(function, is, name(is));
  }
};

/// hipMemoryTypeDevice, which ROCm 6 has numbered anew.
int device_type_of(const functions& by) noexcept {
  constexpr int a_major_version = 10'000'000;
  int version = 0;
  return by.version(&version) == 0 && version < 6 * a_major_version ? 1 : 2;
}

/// The calling thread's current device is the memory's, so that it need not make itself one.
class stay_with_device {
public:
  stay_with_device(const functions& by, int device) : by_(by) {
    by_.require(by_.get_device(&before_), "hipGetDevice");
    moves_ = before_ != device;
    if (moves_) by_.require(by_.set_device(device), "hipSetDevice");
  }
  ~stay_with_device() {
    if (moves_) by_.set_device(before_);
  }
  stay_with_device(const stay_with_device&) = delete;
  stay_with_device& operator=(const stay_with_device&) = delete;

private:
  const functions& by_;
  int before_ = 0;
  bool moves_ = false;
};

class hip final : public device_driver {
public:
  explicit hip(const functions& of) : by_(of), device_type_(device_type_of(of)) {}

  bool owns(address at) const noexcept override {
    knowledge of;
    return know(at, of) == 0 && of.type == device_type_ && of.is_managed == 0;
  }
  void read(address device, address host, std::span<const strip> all) const override {
    copy(device, all, [&](const strip& one) {
      const auto offset = static_cast<address>(one.at);
      copy_one(one, host + offset, device + offset, device_to_host);
    });
  }
  void write(address device, address host, std::span<const strip> all) const override {
    copy(device, all, [&](const strip& one) {
      const auto offset = static_cast<address>(one.at);
      copy_one(one, device + offset, host + offset, host_to_device);
    });
  }

private:
  /// A question about the CPU's memory is an error to some versions, which the program would find.
  code know(address at, knowledge& all) const noexcept {
    const bool is_clean = by_.last_error() == 0;
    const code is = by_.get_attributes(&all, reinterpret_cast<const void*>(at));
    if (is != 0 && is_clean) by_.forget_last_error();
    return is;
  }
  template <class Copy>
  void copy(address device, std::span<const strip> all, Copy copy_one) const {
    if (all.empty()) return;
    knowledge of;
    const auto first = device + static_cast<address>(all.front().at);
    by_.require(know(first, of), "hipPointerGetAttributes");
    const stay_with_device here(by_, of.device);
    for (const strip& one : all) copy_one(one);
  }
  void copy_one(const strip& one, address to, address from, int kind) const {
    if (one.rows == 1) return by_.require(by_.copy(to, from, one.width, kind), "hipMemcpy");
    by_.require(by_.copy_rows(to, one.pitch, from, one.pitch, one.width, one.rows, kind),
                "hipMemcpy2D");
  }

  functions by_;
  int device_type_;
};

}  // namespace

std::unique_ptr<device_driver> hip_driver(void* library) {
  functions all;
  return all.find(library) ? std::make_unique<hip>(all) : nullptr;
}

}  // namespace muster::mpi
