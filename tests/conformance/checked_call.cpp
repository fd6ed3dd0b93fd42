#include "tests/conformance/checked_call.hpp"

#include <algorithm>
#include <cstring>

namespace muster::testing {
namespace {

constexpr std::byte guard_byte{0xa5};
constexpr std::byte unset_byte{0x5c};

bool all_are(std::span<const std::byte> bytes, std::byte value) {
  return std::ranges::all_of(bytes, [value](std::byte each) { return each == value; });
}

std::string first_difference(std::span<const std::byte> is, std::span<const std::byte> should_be) {
  const auto at = std::ranges::mismatch(is, should_be).in1 - is.begin();
  const auto index = static_cast<std::size_t>(at);
  return "byte " + std::to_string(index) + " of " + std::to_string(is.size()) + " is " +
         std::to_string(std::to_integer<int>(is[index])) + ", expected " +
         std::to_string(std::to_integer<int>(should_be[index]));
}

// In one call, which costs little under sanitizers as well.
bool same(std::span<const std::byte> a, std::span<const std::byte> b) {
  return a.size() == b.size() && (a.empty() || std::memcmp(a.data(), b.data(), a.size()) == 0);
}

bool has_blocks(collective what) {
  return what == collective::allgather || what == collective::alltoall;
}

}  // namespace

guarded_bytes::guarded_bytes(team& of, std::size_t bytes, bool shared, std::size_t shift)
    : shift_(shift) {
  const std::size_t all = bytes + 2 * guard + shift;
  if (shared) {
    shared_.emplace(of, all);
  } else {
    own_.resize(all);
  }
  std::ranges::fill(whole(), guard_byte);
}

std::span<std::byte> guarded_bytes::whole() noexcept {
  return shared_ ? std::span<std::byte>(shared_->data(), shared_->size()) : std::span(own_);
}

bool guarded_bytes::guards_intact() noexcept {
  return all_are(whole().first(guard + shift_), guard_byte) &&
         all_are(whole().last(guard), guard_byte);
}

checked_call::checked_call(team& of, const spec& call, memory where, std::size_t shift)
    : team_(of),
      call_(call),
      send_(of, send_bytes(), where != memory::own, shift),
      receive_(of, receive_bytes(), where == memory::shared, shift) {
  fill_buffers();
  make_arguments();
}

std::size_t checked_call::send_bytes() const noexcept {
  if (call_.in_place || call_.what == collective::bcast || call_.what == collective::barrier) {
    return 0;
  }
  return call_.bytes() * (call_.what == collective::alltoall ? team_.size() : 1);
}

std::size_t checked_call::receive_bytes() const noexcept {
  if (call_.what == collective::barrier) return 0;
  return call_.bytes() * (has_blocks(call_.what) ? team_.size() : 1);
}

void checked_call::fill_buffers() {
  std::ranges::fill(receive_.inside(), unset_byte);
  const auto mine = contribution(call_, team_.size(), team_.rank());
  const bool sends_from_receive =
      call_.what == collective::bcast ? team_.rank() == call_.root : call_.in_place;
  if (sends_from_receive) {
    const std::size_t place = call_.what == collective::allgather ? team_.rank() * mine.size() : 0;
    std::ranges::copy(mine, receive_.inside().begin() + static_cast<std::ptrdiff_t>(place));
  } else if (send_bytes() != 0) {
    std::ranges::copy(mine, send_.inside().begin());
  }
  before_.assign(receive_.inside().begin(), receive_.inside().end());
}

void checked_call::make_arguments() {
  arguments_.what = call_.what;
  arguments_.type = call_.type;
  arguments_.op = call_.op;
  arguments_.root = call_.root;
  arguments_.count = call_.count;
  if (call_.what == collective::barrier) return;
  arguments_.receive = receive_.inside().data();
  if (!call_.in_place && call_.what != collective::bcast) arguments_.send = send_.inside().data();
  // Where a rank receives nothing, both a buffer and none must do.
  const bool ignored = call_.what == collective::reduce && team_.rank() != call_.root;
  if (ignored && !call_.in_place && call_.seed % 2 == 0) arguments_.receive = nullptr;
}

std::string checked_call::verdict(bool completed) {
  if (!send_.guards_intact()) return "bytes around the send buffer were touched";
  if (!receive_.guards_intact()) return "bytes around the receive buffer were touched";
  if (!completed) return {};
  if (send_bytes() != 0) {
    const auto sent = contribution(call_, team_.size(), team_.rank());
    if (!same(send_.inside(), sent)) return "the send buffer was changed";
  }
  auto should_be = expected(call_, team_.size(), team_.rank());
  if (call_.what == collective::reduce && team_.rank() != call_.root) should_be = before_;
  if (same(receive_.inside(), should_be)) return {};
  return first_difference(receive_.inside(), should_be);
}

}  // namespace muster::testing
