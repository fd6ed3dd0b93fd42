#pragma once

#include <doctest/doctest.h>
#include <sys/mman.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "tests/transports/verbs/fakes.hpp"
#include "transports/verbs/registrations.hpp"
#include "transports/verbs/userfault_monitor.hpp"

namespace muster::testing {

/// Where nothing is mapped, nor soon will be: the system takes the highest addresses that are free.
inline std::byte* find_space() {
  constexpr std::size_t plenty = std::size_t{1} << 30;
  constexpr int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
  void* const found = ::mmap(nullptr, plenty, PROT_NONE, kind, -1, 0);
  REQUIRE(found != MAP_FAILED);
  ::munmap(found, plenty);
  return static_cast<std::byte*>(found);
}

/// Registrations of real memory, watched by the system.
class watched_cache {
public:
  explicit watched_cache(verbs::registrar& by)
      : watched_cache(by, verbs::userfault_monitor::make()) {}

  /// Where the system does not watch, nothing is kept; the test says so.
  bool is_watching() const {
    if (!is_watching_) MESSAGE("no userfaultfd here: ", std::string(std::strerror(why_not_)));
    return is_watching_;
  }
  verbs::registrations::held hold(std::span<const std::byte> some, access how = access::write) {
    return all_->hold(some, how);
  }
  /// Whether it was registered. It is afterwards.
  bool is_hit(std::span<const std::byte> some, access how = access::write) {
    const auto before = all_->statistics().hits;
    CHECK(hold(some, how));
    return all_->statistics().hits != before;
  }
  void end() { all_.reset(); }

private:
  watched_cache(verbs::registrar& by, std::unique_ptr<verbs::memory_monitor> monitor)
      : is_watching_(monitor != nullptr),
        why_not_(errno),
        all_(std::make_unique<verbs::registrations>(
            by, std::move(monitor),
            verbs::registrations::limits{.bytes = std::size_t{1} << 30, .regions = 1000})) {}

  bool is_watching_;
  int why_not_;
  std::unique_ptr<verbs::registrations> all_;
};

}  // namespace muster::testing
