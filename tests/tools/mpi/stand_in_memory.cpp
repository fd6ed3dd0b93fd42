#include "tests/tools/mpi/stand_in_memory.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <string>

namespace muster::testing {
namespace {

constexpr std::size_t capacity = std::size_t{256} << 20;
constexpr std::size_t grain = 256;

bool& begun() noexcept {
  static bool answer = false;
  return answer;
}

std::size_t& least_of_names() noexcept {
  static std::size_t characters = 0;
  return characters;
}

}  // namespace

stand_in_memory& stand_in_memory::own() {
  static auto* const one = new stand_in_memory;  // as long as anybody may ask
  return *one;
}

stand_in_memory::stand_in_memory() {
  const int file = ::memfd_create("device", 0);
  if (file < 0 || ::ftruncate(file, capacity) != 0) std::abort();
  void* const there = ::mmap(nullptr, capacity, PROT_NONE, MAP_SHARED, file, 0);
  void* const here = ::mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (there == MAP_FAILED || here == MAP_FAILED) std::abort();
  ::close(file);
  device_ = reinterpret_cast<std::uintptr_t>(there);
  driver_ = static_cast<std::byte*>(here);
}

void* stand_in_memory::allocate(std::size_t bytes, bool is_managed) {
  const std::scoped_lock one_at_a_time(gate_);
  if (is_managed) {
    void* const at = std::malloc(bytes);
    all_[reinterpret_cast<std::uintptr_t>(at)] = {bytes, made_++, true};
    return at;
  }
  std::uintptr_t at = device_;
  for (const auto& [from, one] : all_) {
    if (one.is_managed) continue;
    if (from - at >= bytes + grain) break;
    at = (from + one.bytes + 2 * grain - 1) / grain * grain;  // never side by side
  }
  if (at + bytes > device_ + capacity) std::abort();
  all_[at] = {bytes, made_++, false};
  return reinterpret_cast<void*>(at);
}

void stand_in_memory::free(void* at) {
  const std::scoped_lock one_at_a_time(gate_);
  const auto found = all_.find(reinterpret_cast<std::uintptr_t>(at));
  if (found == all_.end()) std::abort();
  if (found->second.is_managed) std::free(at);
  all_.erase(found);
}

std::map<std::uintptr_t, stand_in_memory::allocation>::iterator stand_in_memory::holder(
    std::uintptr_t at) {
  auto next = all_.upper_bound(at);
  if (next == all_.begin()) return all_.end();
  --next;
  return at < next->first + next->second.bytes ? next : all_.end();
}

std::optional<stand_in_memory::allocation> stand_in_memory::find(std::uintptr_t at) {
  const std::scoped_lock one_at_a_time(gate_);
  const auto found = holder(at);
  return found == all_.end() ? std::nullopt : std::optional(found->second);
}

std::byte* stand_in_memory::reach(std::uintptr_t at, std::size_t bytes) {
  const std::scoped_lock one_at_a_time(gate_);
  const auto found = holder(at);
  if (found == all_.end() || at + bytes > found->first + found->second.bytes) return nullptr;
  if (found->second.is_managed) return reinterpret_cast<std::byte*>(at);
  return driver_ + (at - device_);
}

void copy_rows(std::byte* to, std::size_t to_pitch, const std::byte* from, std::size_t from_pitch,
               std::size_t width, std::size_t rows) {
  for (std::size_t row = 0; row < rows; ++row) {
    std::memcpy(to + row * to_pitch, from + row * from_pitch, width);
  }
}

bool is_begun() noexcept { return begun(); }

const char* name_at_length(const char* name) {
  static auto* const kept = new std::string;  // as long as anybody may read it
  *kept = name;
  if (kept->size() < least_of_names()) kept->resize(least_of_names(), '.');
  return kept->c_str();
}

stand_in stand_in_with_own_memory(bool (*is_untouched)()) {
  return {
      .begin = [] { begun() = true; },
      .allocate = [](std::size_t bytes) { return stand_in_memory::own().allocate(bytes, false); },
      .allocate_managed =
          [](std::size_t bytes) { return stand_in_memory::own().allocate(bytes, true); },
      .free = [](void* at) { stand_in_memory::own().free(at); },
      .upload =
          [](void* to, const void* from, std::size_t bytes) {
            const auto at = reinterpret_cast<std::uintptr_t>(to);
            std::memcpy(stand_in_memory::own().reach(at, bytes), from, bytes);
          },
      .download =
          [](void* to, const void* from, std::size_t bytes) {
            const auto at = reinterpret_cast<std::uintptr_t>(from);
            std::memcpy(to, stand_in_memory::own().reach(at, bytes), bytes);
          },
      .refuse_after = [](std::size_t copies) { stand_in_memory::own().refuse_after(copies); },
      .copies = [] { return stand_in_memory::own().copies(); },
      .lengthen_names = [](std::size_t characters) { least_of_names() = characters; },
      .is_untouched = is_untouched};
}

}  // namespace muster::testing
