#include "transports/stream/inbox.hpp"

#include <algorithm>

#include <muster/base/copy_bytes.hpp>

namespace muster::stream {

inbox_chunk& inbox_memory::take_unused() {
  constexpr std::size_t batch = 256;
  if (unused_.empty()) {
    blocks_.push_back(std::make_unique_for_overwrite<inbox_chunk[]>(batch));
    unused_ = {blocks_.back().get(), batch};
  }
  inbox_chunk& first = unused_.front();
  unused_ = unused_.subspan(1);
  return first;
}

std::span<std::byte> inbox::append(std::size_t bytes) {
  if (last_ == nullptr || end_ == last_->bytes.size()) {
    inbox_chunk& more = memory_.take();
    (last_ == nullptr ? first_ : last_->next) = &more;
    last_ = &more;
    end_ = 0;
  }
  const std::size_t count = std::min(bytes, last_->bytes.size() - end_);
  const std::span<std::byte> room = std::span(last_->bytes).subspan(end_, count);
  end_ += count;
  size_ += count;
  return room;
}

std::size_t inbox::peek(std::span<std::byte> to) const noexcept {
  const std::size_t count = std::min(to.size(), size_);
  const inbox_chunk* from = first_;
  std::size_t at = begin_;
  for (std::size_t done = 0; done < count; from = from->next, at = 0) {
    const std::size_t now = std::min(count - done, from->bytes.size() - at);
    copy_bytes(to.data() + done, from->bytes.data() + at, now);
    done += now;
  }
  return count;
}

void inbox::skip(std::size_t bytes) noexcept {
  size_ -= bytes;
  begin_ += bytes;
  while (first_ != nullptr && (size_ == 0 || begin_ >= first_->bytes.size())) {
    begin_ -= std::min(begin_, first_->bytes.size());
    inbox_chunk& empty = *std::exchange(first_, first_->next);
    memory_.give_back(empty);
  }
  if (first_ != nullptr) return;
  last_ = nullptr;
  begin_ = 0;
}

}  // namespace muster::stream
