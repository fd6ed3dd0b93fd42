#include "transports/tcp/buffered_socket.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <muster/base/copy_bytes.hpp>

namespace muster::tcp {

void buffered_socket::open(descriptor socket, registration watch,
                           std::size_t zero_copy_from) noexcept {
  socket_ = std::move(socket);
  watch_ = std::move(watch);
  zero_copy_.begin(socket_.get(), zero_copy_from);
  how_ = coming::asked;
  short_reads_ = 0;
  told_from_ = 1;
  is_readable_ = is_writable_ = true;
}

void buffered_socket::close() noexcept {
  watch_ = {};
  socket_ = descriptor();
  how_ = coming::asked;
  is_readable_ = is_writable_ = will_end_ = has_ended_ = false;
  behind_.clear();
}

// ---- what the reactor says

void buffered_socket::note(bool readable, bool writable, bool ends) noexcept {
  will_end_ = will_end_ || ends;
  is_readable_ = is_readable_ || (readable && how_ == coming::asked);
  is_writable_ = is_writable_ || writable;
  if (zero_copy_.are_done(zero_copy_.count())) return;
  zero_copy_.read_reports(socket_.get());
  if (!zero_copy_.are_done(zero_copy_.count())) watch_.await_report();
}

void buffered_socket::bring(std::span<const std::byte> bytes) {
  const std::size_t fits = behind_.empty() ? std::min(bytes.size(), in_.room()) : 0;
  in_.write(bytes.first(fits));
  const auto rest = bytes.subspan(fits);
  if (!rest.empty()) {
    behind_.insert(behind_.end(), rest.begin(), rest.end());
    is_readable_ = true;
  }
  // Where it comes faster than it is taken, or much at once, it may as well stay in the system.
  if (!rest.empty() || bytes.size() == most_brought) expect_long();
}

void buffered_socket::stop_bringing(bool ends) noexcept {
  how_ = coming::asked;
  is_readable_ = true;
  will_end_ = will_end_ || ends;
}

// ---- for the connection

void buffered_socket::expect_long() noexcept {
  short_reads_ = 0;
  if (how_ != coming::brought) return;
  how_ = coming::asked_soon;
  watch_.end_bringing();
}

moved buffered_socket::send(std::span<const iovec> parts, more_to_send more) noexcept {
  return keep_in_mind(send_some(socket_.get(), parts, more));
}

moved buffered_socket::send_zero_copy(std::span<const std::byte> bytes) noexcept {
  const bool had_none = zero_copy_.are_done(zero_copy_.count());
  if (const auto sent = zero_copy_.send(socket_.get(), bytes)) {
    if (had_none && sent->ended == moved::how::some) watch_.await_report();
    return keep_in_mind(*sent);
  }
  const iovec part{const_cast<std::byte*>(bytes.data()), bytes.size()};
  return send(std::span(&part, 1));
}

moved buffered_socket::keep_in_mind(const moved& sent) noexcept {
  if (sent.ended == moved::how::some) return sent;
  is_writable_ = false;
  if (sent.ended == moved::how::nothing_yet) {
    watch_.await_writable();
  } else if (how_ == coming::asked) {
    is_readable_ = true;  // what the peer said last, perhaps that it leaves, is still to be read
  }
  return sent;
}

std::size_t buffered_socket::take(std::span<std::byte> to, std::size_t most_behind) noexcept {
  if (in_.size() == 0) return is_readable_ ? read(to, most_behind) : 0;
  const std::size_t count = std::min(to.size(), in_.size());
  in_.peek(to.first(count));
  in_.skip(count);
  return count;
}

std::size_t buffered_socket::read(std::span<std::byte> first, std::size_t most_behind) noexcept {
  if (!behind_.empty() || how_ != coming::asked) return take_brought(first);
  const std::size_t behind = std::min(in_.room(), most_behind);
  const auto free = in_.parts_of(in_.end(), behind);
  const std::array<iovec, 3> all = {iovec{first.data(), first.size()}, free[0], free[1]};
  const std::size_t room = first.size() + behind;
  const moved got = receive_some(socket_.get(), all);
  if (got.ended == moved::how::over) {
    is_readable_ = false;
    has_ended_ = true;
  } else if (got.bytes < room && !will_end_) {
    // Where there is less than could be taken, there is nothing more.
    await_more(got.bytes, first.size() - std::min(got.bytes, first.size()));
  }
  const std::size_t taken = std::min(got.bytes, first.size());
  in_.extend(got.bytes - taken);
  return taken;
}

std::size_t buffered_socket::take_brought(std::span<std::byte> first) noexcept {
  const std::size_t taken = std::min(first.size(), behind_.size());
  copy_bytes(first.data(), behind_.data(), taken);
  const std::size_t kept = std::min(behind_.size() - taken, in_.room());
  in_.write(std::span(behind_).subspan(taken, kept));
  behind_.erase(behind_.begin(), behind_.begin() + static_cast<std::ptrdiff_t>(taken + kept));
  is_readable_ = !behind_.empty() || how_ == coming::asked;
  return taken;
}

// Of something long that comes slowly each packet would wake whoever sleeps.
void buffered_socket::await_more(std::size_t last_read, std::size_t still_to_come) noexcept {
  constexpr std::size_t much = std::size_t{64} << 10;
  const std::size_t told_from = still_to_come >= 2 * much ? much : 1;
  if (std::exchange(told_from_, told_from) != told_from) tell_from(socket_.get(), told_from);
  constexpr unsigned enough_short_ones = 32;
  is_readable_ = false;
  short_reads_ = last_read < most_brought ? short_reads_ + 1 : 0;
  if (!watch_.can_bring() || short_reads_ < enough_short_ones)
    return watch_.await_readable(last_read != 0);
  how_ = coming::brought;
  watch_.begin_bringing();
}

}  // namespace muster::tcp
