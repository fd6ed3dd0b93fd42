#pragma once

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "transports/verbs/address_range.hpp"
#include "transports/verbs/memory_monitor.hpp"
#include "transports/verbs/registrations.hpp"

namespace muster::testing {

using verbs::address_range;
using access = verbs::registrar::access;

constexpr std::size_t page = 4096;

/// Pages from one to before another, that nobody looks into.
inline address_range pages(std::uintptr_t from, std::uintptr_t to) {
  constexpr std::uintptr_t base = std::uintptr_t{1} << 40;
  return {base + from * page, base + to * page};
}

/// Registers anything, up to a limit, and knows what is.
class fake_registrar final : public verbs::registrar {
public:
  struct registered {
    address_range where;
    access how;
    std::uint64_t number;  // of its registration
  };
  class fake_region final : public verbs::region {
  public:
    fake_region(fake_registrar& by, const registered& is) : is(is), by_(by) {
      by.all.push_back(is);
    }
    ~fake_region() override {
      std::erase_if(by_.all, [&](const registered& each) { return each.number == is.number; });
    }
    registered is;

  private:
    fake_registrar& by_;
  };

  std::unique_ptr<verbs::region> enroll(std::span<std::byte> bytes, access how) noexcept override {
    const address_range where = address_range::of(bytes);
    ++asked;
    if (how == access::write && read_only && where.overlaps(*read_only)) {
      errno = EFAULT;
      return nullptr;
    }
    if (bytes_registered() + where.size() > most_bytes) {
      errno = ENOMEM;
      return nullptr;
    }
    return std::make_unique<fake_region>(*this, registered{where, how, asked});
  }
  std::size_t bytes_registered() const {
    std::size_t bytes = 0;
    for (const registered& each : all) bytes += each.where.size();
    return bytes;
  }

  std::size_t most_bytes = std::size_t{1} << 40;  // as of RLIMIT_MEMLOCK
  std::optional<address_range> read_only;
  std::uint64_t asked = 0;
  std::vector<registered> all;
};

inline const fake_registrar::registered& what_is(const verbs::registrations::held& memory) {
  return static_cast<const fake_registrar::fake_region&>(*memory).is;
}

/// As the system does it: what is not watched is not told of, nor is it watched once it has gone.
class fake_monitor final : public verbs::memory_monitor {
public:
  bool watch(const address_range& some) noexcept override {
    if (some.overlaps(unwatchable)) return false;
    for (std::uintptr_t at = some.begin; at < some.end; at += page) {
      if (!is_watched(at)) watched.push_back(at);
    }
    return true;
  }
  void unwatch(const address_range& some) noexcept override {
    std::erase_if(watched, [&](std::uintptr_t at) { return some.begin <= at && at < some.end; });
  }
  news take() noexcept override {
    taken_ = std::move(gone_);
    gone_.clear();
    return {taken_, is_all};
  }

  /// The program gives it back.
  void give_back(const address_range& some) {
    const std::size_t before = watched.size();
    unwatch(some);
    if (watched.size() != before) gone_.push_back(some);
  }
  bool is_watched(std::uintptr_t at) const {
    return std::ranges::find(watched, at) != watched.end();
  }

  address_range unwatchable;
  bool is_all = true;
  std::vector<std::uintptr_t> watched;

private:
  std::vector<address_range> gone_;
  std::vector<address_range> taken_;
};

}  // namespace muster::testing
