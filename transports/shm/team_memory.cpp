#include "transports/shm/team_memory.hpp"

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include <muster/base/error.hpp>

namespace muster::shm {

// ---- failures

bool failure_record::replace(std::uint32_t before) noexcept {
  const std::uint32_t mine = being_written + static_cast<std::uint32_t>(::getpid());
  // relaxed: nothing of it is read before `say`.
  return state.compare_exchange_strong(before, mine, std::memory_order_relaxed);
}

void failure_record::say(const wire::failure& why) noexcept {
  code = why.code;
  rank = why.rank;
  const std::size_t length = std::min(why.text.size(), text.size() - 1);
  std::memcpy(text.data(), why.text.data(), length);
  text[length] = '\0';
  state.store(written, std::memory_order_release);
}

bool failure_record::write(const wire::failure& why) noexcept {
  if (!claim()) return false;
  say(why);
  return true;
}

namespace {

bool has_ended(pid_t process) noexcept { return ::kill(process, 0) != 0 && errno == ESRCH; }

}  // namespace

std::optional<wire::failure> failure_record::read() noexcept {
  // acquire: pairs with the release in `say`.
  const std::uint32_t seen = state.load(std::memory_order_acquire);
  const auto writer = static_cast<pid_t>(seen - being_written);
  if (seen >= being_written && has_ended(writer) && replace(seen)) {
    say({.code = errc::rank_died,
         .rank = no_rank,
         .text = "process " + std::to_string(writer) + " ended while it said why it failed"});
  }
  if (state.load(std::memory_order_acquire) != written) return std::nullopt;
  return wire::failure{code, rank, text.data()};
}

// ---- a team's

struct team_memory::head {
  allocation_head head;  // of a derived team's
  alignas(wire::cache_line) failure_record failure;
};

team_memory::team_memory(std::byte* base) noexcept
    : base_(base), records_(reinterpret_cast<wire::call_record*>(base + sizeof(head))) {}

std::size_t team_memory::bytes(std::size_t ranks, wire::extent much) noexcept {
  return sizeof(head) + much.lanes * ranks * sizeof(wire::call_record);
}

team_memory::head& team_memory::front() const noexcept { return *reinterpret_cast<head*>(base_); }

failure_record& team_memory::failure() const noexcept { return front().failure; }

}  // namespace muster::shm
