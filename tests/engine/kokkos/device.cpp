#include "tests/engine/kokkos/device.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <new>

namespace muster::testing {
namespace {

std::size_t whole_pages(std::size_t bytes) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (bytes + page - 1) / page * page;
}

}  // namespace

void* device_pages::allocate(std::size_t bytes) {
  const std::size_t all = whole_pages(bytes);
  const int file = memfd_create("device", 0);
  if (file < 0 || ftruncate(file, static_cast<off_t>(all)) != 0) throw std::bad_alloc();
  const std::scoped_lock alone(mutex_);
  const int rights = open_ > 0 ? PROT_READ | PROT_WRITE : PROT_NONE;
  void* const place = mmap(nullptr, all, rights, MAP_SHARED, file, 0);
  void* const alias = mmap(nullptr, all, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  close(file);
  if (place == MAP_FAILED || alias == MAP_FAILED) throw std::bad_alloc();
  blocks_[static_cast<std::byte*>(place)] = {all, static_cast<std::byte*>(alias)};
  return place;
}

void device_pages::release(void* memory) noexcept {
  const std::scoped_lock alone(mutex_);
  const auto found = blocks_.find(static_cast<std::byte*>(memory));
  munmap(found->second.alias, found->second.bytes);
  munmap(memory, found->second.bytes);
  blocks_.erase(found);
}

std::byte* device_pages::seen_by_host(const void* at) {
  const std::scoped_lock alone(mutex_);
  auto* const place = static_cast<std::byte*>(const_cast<void*>(at));
  auto found = blocks_.upper_bound(place);
  --found;
  return found->second.alias + (place - found->first);
}

void device_pages::open(bool more) {
  const std::scoped_lock alone(mutex_);
  open_ += more ? 1 : -1;
  if (open_ != (more ? 1 : 0)) return;
  for (const auto& [place, block] : blocks_) {
    mprotect(place, block.bytes, more ? PROT_READ | PROT_WRITE : PROT_NONE);
  }
}

}  // namespace muster::testing
