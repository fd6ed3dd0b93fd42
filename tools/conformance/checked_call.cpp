#include "tools/conformance/checked_call.hpp"

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
      arguments_(bare_arguments(call, of.rank())),
      sent_(testing::sent(call, of.size(), of.rank())),
      received_(testing::received(call, of.size(), of.rank())),
      send_(of, send_bytes(), where != memory::own, shift),
      receive_(of, receive_bytes(), where == memory::shared, shift) {
  fill_buffers();
  give_buffers();
}

/// In place, as far as the rank's part of the collective can be.
bool checked_call::gives_from_receive_buffer() const noexcept {
  if (call_.what == collective::bcast) return true;
  if (!call_.in_place || arguments_.is_scatter()) return false;
  return !arguments_.is_gather() || team_.rank() == call_.root;
}

std::size_t checked_call::send_bytes() const noexcept {
  return gives_from_receive_buffer() ? 0 : sent_.extent * call_.element();
}

std::size_t checked_call::receive_bytes() const noexcept {
  std::size_t extent = received_.extent;
  if (gives_from_receive_buffer()) extent = std::max(extent, sent_.extent);
  // Where a rank receives nothing, it may have a buffer all the same.
  if (!arguments_.receives(team_.rank())) extent = arguments_.count;
  return extent * call_.element();
}

void checked_call::fill_buffers() {
  const std::size_t me = team_.rank();
  std::ranges::fill(send_.inside(), unset_byte);
  std::ranges::fill(receive_.inside(), unset_byte);
  guarded_bytes& from = gives_from_receive_buffer() ? receive_ : send_;
  if (!sent_.counts.empty() && !arguments_.sends_blocks()) {
    // A gatherer's own block lies among those it receives.
    const bool among_others = gives_from_receive_buffer() && arguments_.receives_blocks();
    fill(call_, me, 0,
         among_others ? received_.block(from.inside(), me, call_.element())
                      : sent_.block(from.inside(), 0, call_.element()));
  } else {
    for (std::size_t to = 0; to < sent_.counts.size(); ++to) {
      fill(call_, me, to, sent_.block(from.inside(), to, call_.element()));
    }
  }
  send_before_.assign(send_.inside().begin(), send_.inside().end());
  receive_before_.assign(receive_.inside().begin(), receive_.inside().end());
}

void checked_call::give_buffers() {
  if (call_.what == collective::barrier) return;
  const std::size_t me = team_.rank();
  // Buffers that are ignored may be there or not.
  const bool with_ignored = call_.seed % 2 == 0;
  if (arguments_.is_scatter()) {
    const bool stays = call_.in_place && me == call_.root;
    arguments_.receive = stays ? nullptr : receive_.inside().data();
    if (arguments_.sends(me) || with_ignored) arguments_.send = send_.inside().data();
    return;
  }
  if (!gives_from_receive_buffer()) arguments_.send = send_.inside().data();
  if (arguments_.receives(me) || with_ignored || gives_from_receive_buffer()) {
    arguments_.receive = receive_.inside().data();
  }
}

task<> checked_call::perform() {
  if (!call_.by.empty()) team_.choose(call_.what, call_.by);
  if (!has_varying_blocks(call_.what)) return muster::perform(team_, arguments_);
  const std::size_t me = team_.rank();
  return muster::perform(team_, arguments_,
                         has_send_layout(arguments_, me) ? sent_.given() : block_layout{},
                         has_receive_layout(arguments_, me) ? received_.given() : block_layout{});
}

void checked_call::refill() {
  ++call_.refilled;
  fill_buffers();
}

std::string checked_call::verdict(bool completed) {
  if (!send_.guards_intact()) return "bytes around the send buffer were touched";
  if (!receive_.guards_intact()) return "bytes around the receive buffer were touched";
  if (!completed) return {};
  if (!same(send_.inside(), send_before_)) return "the send buffer was changed";
  return verdict_on_receive_buffer();
}

std::string checked_call::verdict_on_receive_buffer() {
  const std::size_t me = team_.rank();
  std::vector<std::byte> should_be = receive_before_;
  std::span<std::byte> is = receive_.inside();
  if (arguments_.receives_blocks()) {
    const bool personal = arguments_.sends_blocks();
    for (std::size_t from = 0; from < received_.counts.size(); ++from) {
      fill(call_, from, personal ? me : 0, received_.block(should_be, from, call_.element()));
    }
  } else if (arguments_.receive != nullptr) {
    std::ranges::copy(expected(call_, team_.size(), me), should_be.begin());
  }
  if (arguments_.is_reduce_scatter()) {
    // What is left of the vector in place is unspecified.
    is = is.first(arguments_.bytes());
    should_be.resize(arguments_.bytes());
  }
  if (call_.op != reduction::none) {
    clear_padding(call_, is);
    clear_padding(call_, should_be);
  }
  return same(is, should_be) ? std::string() : first_difference(is, should_be);
}

}  // namespace muster::testing
