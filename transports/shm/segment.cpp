#include "transports/shm/segment.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "engine/error.hpp"

namespace muster::shm {

segment segment::create(const char* label, std::size_t bytes) {
  const int descriptor = ::memfd_create(label, MFD_CLOEXEC);
  if (descriptor < 0 || ::ftruncate(descriptor, static_cast<off_t>(bytes)) != 0) {
    const std::string why = std::strerror(errno);
    if (descriptor >= 0) ::close(descriptor);
    throw error(errc::resource,
                "cannot make " + std::to_string(bytes) + " bytes of shared memory: " + why);
  }
  return {descriptor, bytes};
}

segment segment::attach(int descriptor) {
  struct stat status{};
  if (::fstat(descriptor, &status) != 0 || status.st_size <= 0) {
    ::close(descriptor);
    throw error(errc::bootstrap,
                "descriptor " + std::to_string(descriptor) + " is not the shared memory of a job");
  }
  return {descriptor, static_cast<std::size_t>(status.st_size)};
}

segment::segment(int descriptor, std::size_t bytes) : descriptor_(descriptor), bytes_(bytes) {
  void* base =
      ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor, 0);
  if (base == MAP_FAILED) {
    const std::string why = std::strerror(errno);
    ::close(descriptor_);
    throw error(errc::resource,
                "cannot map " + std::to_string(bytes) + " bytes of shared memory: " + why);
  }
  base_ = static_cast<std::byte*>(base);
}

segment::~segment() {
  if (base_ != nullptr) ::munmap(base_, bytes_);
  if (descriptor_ >= 0) ::close(descriptor_);
}

}  // namespace muster::shm
