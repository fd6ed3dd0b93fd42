#include "transports/shm/segment.hpp"

#include <sys/mman.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstring>
#include <string>

#include <muster/base/error.hpp>

namespace muster::shm {

segment segment::create(const char* label, std::size_t bytes) {
  muster::descriptor made(::memfd_create(label, MFD_CLOEXEC));
  if (!made || ::ftruncate(made.get(), static_cast<off_t>(bytes)) != 0) {
    const std::string why = std::strerror(errno);
    throw error(errc::resource,
                "cannot make " + std::to_string(bytes) + " bytes of shared memory: " + why);
  }
  return {std::move(made), bytes};
}

segment segment::attach(muster::descriptor of) {
  struct stat status{};
  if (::fstat(of.get(), &status) != 0 || status.st_size <= 0) {
    throw error(errc::bootstrap,
                "descriptor " + std::to_string(of.get()) + " is not the shared memory of a job");
  }
  return {std::move(of), static_cast<std::size_t>(status.st_size)};
}

segment::segment(muster::descriptor of, std::size_t bytes)
    : descriptor_(std::move(of)), bytes_(bytes) {
  void* base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE,
                      descriptor_.get(), 0);
  if (base == MAP_FAILED) {
    const std::string why = std::strerror(errno);
    throw error(errc::resource,
                "cannot map " + std::to_string(bytes) + " bytes of shared memory: " + why);
  }
  base_ = static_cast<std::byte*>(base);
  // A core dump of each rank would hold all ranks' memory.
  ::madvise(base, bytes, MADV_DONTDUMP);
}

segment::~segment() {
  if (base_ != nullptr) ::munmap(base_, bytes_);
}

}  // namespace muster::shm
