// A libcuda.so.1 for tests. Memory belongs to one of two contexts, or to none, in turn; copies into
// and out of it want that context to be the thread's current one, or the device's first, and happen
// no sooner than somebody waits for their stream.
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

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
  invalid_context = 201,
  illegal_address = 700,
};

int contexts[2];  // by their addresses; the first is the device's
void* context_of(const stand_in_memory::allocation& one) {
  return one.number % 3 == 2 ? nullptr : &contexts[one.number % 3];
}
thread_local std::vector<void*> current;
int& retained() {
  static int times = 0;
  return times;
}

struct copy_2d {
  struct place {
    std::size_t x, y;
    unsigned type;
    const void* host;
    unsigned long long device;
    void* array;
    std::size_t pitch;
  };
  place from, to;
  std::size_t width, height;
};

struct queued {
  std::byte* to;
  std::size_t to_pitch;
  const std::byte* from;
  std::size_t from_pitch;
  std::size_t width, rows;
};
thread_local std::vector<queued> queue;

/// Where the driver reaches memory of either kind, if it may.
result reach(std::uintptr_t at, std::size_t bytes, std::byte*& found) {
  stand_in_memory& memory = stand_in_memory::own();
  const auto holder = memory.find(at);
  if (!holder) {
    found = reinterpret_cast<std::byte*>(at);
    return success;
  }
  void* const wanted = context_of(*holder);
  if (current.empty() || current.back() != (wanted == nullptr ? &contexts[0] : wanted) ||
      (wanted == nullptr && retained() == 0)) {
    return invalid_context;
  }
  found = memory.reach(at, bytes);
  return found == nullptr ? illegal_address : success;
}

result enqueue(std::uintptr_t to, std::size_t to_pitch, std::uintptr_t from, std::size_t from_pitch,
               std::size_t width, std::size_t rows, void* stream) {
  constexpr std::uintptr_t of_the_thread = 2;
  if (!is_begun()) return not_initialized;
  if (reinterpret_cast<std::uintptr_t>(stream) != of_the_thread || width == 0 || rows == 0) {
    return invalid_value;
  }
  if (!stand_in_memory::own().next_copy_works()) return illegal_address;
  queued one{nullptr, to_pitch, nullptr, from_pitch, width, rows};
  std::byte* source = nullptr;
  const result writes = reach(to, (rows - 1) * to_pitch + width, one.to);
  const result reads = reach(from, (rows - 1) * from_pitch + width, source);
  one.from = source;
  if (writes != success || reads != success) return writes != success ? writes : reads;
  queue.push_back(one);
  return success;
}

}  // namespace

extern "C" {

int cuPointerGetAttributes(unsigned count, const int* attributes, void** values,
                           unsigned long long at) {
  if (!is_begun()) return not_initialized;
  const auto found = stand_in_memory::own().find(at);
  for (unsigned i = 0; i < count; ++i) {
    switch (attributes[i]) {
      case 1:
        *static_cast<void**>(values[i]) = found ? context_of(*found) : nullptr;
        break;
      case 2:
        *static_cast<unsigned*>(values[i]) = found ? 2 : 0;
        break;
      case 8:
        *static_cast<unsigned char*>(values[i]) = found && found->is_managed ? 1 : 0;
        break;
      case 9:
        *static_cast<int*>(values[i]) = found ? 0 : -2;
        break;
      default:
        return invalid_value;
    }
  }
  return success;
}

int cuCtxPushCurrent_v2(void* context) {
  if (!is_begun()) return not_initialized;
  if (context != &contexts[0] && context != &contexts[1]) return invalid_context;
  current.push_back(context);
  return success;
}

int cuCtxPopCurrent_v2(void** context) {
  if (current.empty()) return invalid_context;
  *context = current.back();
  current.pop_back();
  return success;
}

int cuDevicePrimaryCtxRetain(void** context, int device) {
  if (device != 0) return invalid_value;
  ++retained();
  *context = &contexts[0];
  return success;
}

int cuDevicePrimaryCtxRelease_v2(int) {
  --retained();
  return success;
}

int cuMemcpyAsync(unsigned long long to, unsigned long long from, std::size_t bytes, void* stream) {
  return enqueue(to, bytes, from, bytes, bytes, 1, stream);
}

int cuMemcpy2DAsync_v2(const copy_2d* what, void* stream) {
  const auto at = [](const copy_2d::place& one) {
    return one.type == 2 ? static_cast<std::uintptr_t>(one.device)
                         : reinterpret_cast<std::uintptr_t>(one.host);
  };
  for (const copy_2d::place& one : {what->from, what->to}) {
    const bool is_of_rows = one.pitch >= what->width &&
                            one.pitch <= std::numeric_limits<int>::max() && one.x == 0 &&
                            one.y == 0 && one.array == nullptr;
    if (!is_of_rows || (one.type != 1 && one.type != 2)) return invalid_value;
  }
  return enqueue(at(what->to), what->to.pitch, at(what->from), what->from.pitch, what->width,
                 what->height, stream);
}

int cuStreamSynchronize(void*) {
  for (const queued& one : queue) {
    muster::testing::copy_rows(one.to, one.to_pitch, one.from, one.from_pitch, one.width, one.rows);
  }
  queue.clear();
  return success;
}

int cuGetErrorName(int code, const char** name) {
  if (code != illegal_address) return invalid_value;
  *name = muster::testing::name_at_length("CUDA_ERROR_ILLEGAL_ADDRESS");
  return success;
}

const stand_in* muster_stand_in() {
  static const stand_in all = muster::testing::stand_in_with_own_memory(
      [] { return current.empty() && retained() == 0 && queue.empty(); });
  return &all;
}

}  // extern "C"
