#include "tools/library/launcher/key_file.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <string>

#include <muster/base/descriptor.hpp>
#include <muster/base/error.hpp>
#include <muster/environment/environment.hpp>

namespace muster::launcher {
namespace {

[[noreturn]] void fail(const std::string& why) { throw error(errc::bootstrap, why); }

}  // namespace

std::vector<std::byte> contents_of(int file) {
  std::vector<std::byte> all;
  std::array<std::byte, 4096> piece;
  while (true) {
    const ssize_t got = ::pread(file, piece.data(), piece.size(), static_cast<off_t>(all.size()));
    if (got <= 0) return all;
    all.insert(all.end(), piece.begin(), piece.begin() + got);
  }
}

tcp::job_key key_from_file(std::string_view launcher) {
  const char* const name = environment::read(environment::key_file);
  if (name == nullptr) {
    fail("MUSTER_KEY_FILE is not set: " + std::string(launcher) +
         " gives the ranks of a job no key that nobody else knows; expected the name of a file "
         "with at least 16 bytes, mode 0600");
  }
  const std::string named = std::string("MUSTER_KEY_FILE is '") + name + "', ";
  const descriptor file(::open(name, O_RDONLY | O_CLOEXEC));
  struct stat status{};
  if (!file || ::fstat(file.get(), &status) != 0) fail(named + "which cannot be read");
  if ((status.st_mode & 077) != 0 || status.st_uid != ::geteuid()) {
    fail(named + "which others can read; expected a file of this user, mode 0600");
  }
  const std::vector<std::byte> secret = contents_of(file.get());
  constexpr std::size_t least = 16;
  if (secret.size() < least) {
    fail(named + "of " + std::to_string(secret.size()) + " bytes; expected at least 16");
  }
  return tcp::job_key::from(secret);
}

}  // namespace muster::launcher
