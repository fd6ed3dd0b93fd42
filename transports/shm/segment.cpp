#include "transports/shm/segment.hpp"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
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

// To give pages back all processes that have them are stopped, which takes longer than to fill a
// few.
void segment::clear(std::span<std::byte> part) const noexcept {
  if (clear_pages(part)) return;
  const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const auto begin = static_cast<std::size_t>(part.data() - base_);
  const std::size_t first = (begin + page - 1) / page * page;
  const std::size_t last = (begin + part.size()) / page * page;
  // Where the system cannot take them, they are zeroed.
  if (first >= last || ::madvise(base_ + first, last - first, MADV_REMOVE) != 0) {
    std::memset(part.data(), 0, part.size());
    return;
  }
  std::memset(part.data(), 0, first - begin);
  std::memset(base_ + last, 0, begin + part.size() - last);
}

bool segment::clear_pages(std::span<std::byte> part) const noexcept {
  constexpr off_t few = 256 << 10;  // bytes
  const int file = descriptor_.get();
  const auto end = static_cast<off_t>(part.data() + part.size() - base_);
  off_t at = part.data() - base_;
  for (off_t left = few; at < end;) {
    const off_t first = ::lseek(file, at, SEEK_DATA);
    if (first < 0 && errno != ENXIO) return false;
    if (first < 0 || first >= end) break;  // no page follows
    at = std::min(::lseek(file, first, SEEK_HOLE), end);
    left -= at - first;
    if (at < 0 || left < 0) return false;
    std::memset(base_ + first, 0, static_cast<std::size_t>(at - first));
  }
  return true;
}

segment::~segment() {
  if (base_ != nullptr) ::munmap(base_, bytes_);
}

}  // namespace muster::shm
