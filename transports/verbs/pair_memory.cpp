#include "transports/verbs/pair_memory.hpp"

#include <sys/mman.h>

#include <string>

#include <muster/base/error.hpp>

namespace muster::verbs {
namespace {

// Pages of its own: they are the devices' as well, and a fork must not move them.
std::byte* map(std::size_t bytes) {
  void* const found =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (found == MAP_FAILED) {
    throw error(errc::resource, "verbs: no " + std::to_string(bytes) + " bytes for a connection");
  }
  return static_cast<std::byte*>(found);
}

}  // namespace

pair_memory::pair_memory(adapter& by, std::size_t capacity)
    : capacity_(capacity),
      whole_(map(bytes(capacity)), {bytes(capacity)}),
      region_(by.enroll_own({whole_.get(), bytes(capacity)})) {}

void pair_memory::unmap::operator()(std::byte* at) const noexcept { ::munmap(at, bytes); }

}  // namespace muster::verbs
