// A libamdhip64.so for tests, of the version that the environment's STAND_IN_ROCM says. Memory is
// that of two devices in turn; copies want the thread's current one to be that.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "tests/tools/mpi/stand_in.hpp"
#include "tests/tools/mpi/stand_in_memory.hpp"

namespace {

using muster::testing::is_begun;
using muster::testing::stand_in;
using muster::testing::stand_in_memory;

enum result : int {
  success = 0,
  invalid_value = 1,
  not_initialized = 3,
  invalid_device = 101,
  illegal_address = 700,
};

int version() {
  static const char* const text = std::getenv("STAND_IN_ROCM");
  static const int major = text == nullptr ? 6 : std::atoi(text);
  return major;
}

thread_local int device = 0;
thread_local int last_error = success;

int noted(int code) {
  if (code != success) last_error = code;
  return code;
}

struct pointer_attributes {
  int type;
  int device;
  void* device_pointer;
  void* host_pointer;
  int is_managed;
  unsigned flags;
};

int device_of(const stand_in_memory::allocation& one) { return static_cast<int>(one.number % 2); }

result reach(std::uintptr_t at, std::size_t bytes, bool is_device, std::byte*& found) {
  stand_in_memory& memory = stand_in_memory::own();
  const auto holder = memory.find(at);
  if (holder.has_value() != is_device) return invalid_value;
  if (!is_device) {
    found = reinterpret_cast<std::byte*>(at);
    return success;
  }
  if (device_of(*holder) != device) return invalid_device;
  found = memory.reach(at, bytes);
  return found == nullptr ? illegal_address : success;
}

}  // namespace

extern "C" {

int hipMemcpy2D(void* to, std::size_t to_pitch, const void* from, std::size_t from_pitch,
                std::size_t width, std::size_t rows, int kind) {
  if (!is_begun()) return noted(not_initialized);
  const bool is_upload = kind == 1;
  const bool is_right = (kind == 1 || kind == 2) && width != 0 && rows != 0 && to_pitch >= width &&
                        from_pitch >= width;
  if (!is_right) return noted(invalid_value);
  if (!stand_in_memory::own().next_copy_works()) return noted(illegal_address);
  std::byte* target = nullptr;
  std::byte* source = nullptr;
  const result writes =
      reach(reinterpret_cast<std::uintptr_t>(to), (rows - 1) * to_pitch + width, is_upload, target);
  const result reads = reach(reinterpret_cast<std::uintptr_t>(from),
                             (rows - 1) * from_pitch + width, !is_upload, source);
  if (writes != success || reads != success) return noted(writes != success ? writes : reads);
  muster::testing::copy_rows(target, to_pitch, source, from_pitch, width, rows);
  return success;
}

int hipMemcpy(void* to, const void* from, std::size_t bytes, int kind) {
  return hipMemcpy2D(to, bytes, from, bytes, bytes, 1, kind);
}

int hipPointerGetAttributes(pointer_attributes* all, const void* pointer) {
  if (!is_begun()) return noted(not_initialized);
  const auto found = stand_in_memory::own().find(reinterpret_cast<std::uintptr_t>(pointer));
  const bool is_new = version() >= 6;
  if (!found) {
    if (!is_new) return noted(invalid_value);
    *all = {};
    return success;
  }
  const int device_type = is_new ? 2 : 1;
  const int managed_type = is_new ? 3 : 4;
  all->type = found->is_managed ? managed_type : device_type;
  all->device = device_of(*found);
  all->device_pointer = const_cast<void*>(pointer);
  all->host_pointer = nullptr;
  all->is_managed = found->is_managed ? 1 : 0;
  all->flags = 0;
  return success;
}

int hipGetDevice(int* current) {
  *current = device;
  return success;
}

int hipSetDevice(int wanted) {
  device = wanted;
  return success;
}

int hipRuntimeGetVersion(int* is) {
  *is = version() * 10'000'000 + 200'000;
  return success;
}

int hipPeekAtLastError() { return last_error; }

int hipGetLastError() {
  const int code = last_error;
  last_error = success;
  return code;
}

const char* hipGetErrorName(int code) {
  return muster::testing::name_at_length(code == illegal_address ? "hipErrorIllegalAddress"
                                                                 : "hipErrorUnknown");
}

const stand_in* muster_stand_in() {
  static const stand_in all = muster::testing::stand_in_with_own_memory([] {
    const bool is_so = device == 0 && last_error == success;
    last_error = success;  // a refused copy's is the driver's own
    return is_so;
  });
  return &all;
}

}  // extern "C"
