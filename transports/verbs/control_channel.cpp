#include "transports/verbs/control_channel.hpp"

#include <sys/uio.h>

namespace muster::verbs {

void control_channel::say(control::kind what, std::size_t subflow, std::span<const std::byte> bytes,
                          std::span<const std::byte> more) {
  const control head{.what = what,
                     .subflow = static_cast<std::uint16_t>(subflow),
                     .bytes = static_cast<std::uint32_t>(bytes.size() + more.size())};
  for (const auto part : {std::as_bytes(std::span(&head, 1)), bytes, more}) {
    said_.insert(said_.end(), part.begin(), part.end());
  }
  flush();
}

bool control_channel::flush() noexcept {
  while (!said_.empty() && socket_.is_writable()) {
    const iovec part{said_.data(), said_.size()};
    const std::size_t sent = socket_.send(std::span(&part, 1)).bytes;
    said_.erase(said_.begin(), said_.begin() + static_cast<std::ptrdiff_t>(sent));
  }
  return said_.empty();
}

bool control_channel::fill(std::size_t bytes) {
  while (heard_.size() < bytes) {
    const std::size_t had = heard_.size();
    heard_.resize(bytes);
    socket_.expect_long();  // it is asked, and never brings: a connection may wait for an answer
    const std::size_t got = socket_.take(std::span(heard_).subspan(had));
    heard_.resize(had + got);
    if (got == 0) return false;
  }
  return true;
}

bool control_channel::read(control& head, std::span<const std::byte>& bytes) {
  if (read_ != 0) heard_.clear();
  read_ = 0;
  if (is_broken_ || !fill(sizeof head)) return false;
  std::memcpy(&head, heard_.data(), sizeof head);
  is_broken_ = head.bytes > control::longest;
  if (is_broken_ || !fill(sizeof head + head.bytes)) return false;
  read_ = heard_.size();
  bytes = std::span(heard_).subspan(sizeof head);
  return true;
}

}  // namespace muster::verbs
