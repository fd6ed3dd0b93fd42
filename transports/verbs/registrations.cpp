#include "transports/verbs/registrations.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <new>
#include <utility>

namespace muster::verbs {
namespace {

/// Whether there may be enough when others are let go.
bool is_shortage(int why) noexcept { return why == ENOMEM || why == EAGAIN || why == ENOSPC; }

constexpr bool suffices(registrar::access is, registrar::access wanted) noexcept {
  return is == registrar::access::write || wanted == registrar::access::read;
}

}  // namespace

registrations::registrations(registrar& by, std::unique_ptr<memory_monitor> monitor,
                             const limits& most)
    : by_(by),
      monitor_(std::move(monitor)),
      most_(most),
      page_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))) {}

registrations::held registrations::hold(std::span<const std::byte> bytes, access how) noexcept {
  if (bytes.empty()) {
    errno = EINVAL;
    return nullptr;
  }
  const address_range pages = address_range::of(bytes).rounded_to(page_);
  const bool is_known = drop_what_went_back();
  held memory = is_known ? find(pages, how) : nullptr;
  if (!memory) memory = find_passing(pages, how);
  if (memory) {
    ++counts_.hits;
    return memory;
  }
  ++counts_.misses;
  try {
    return add(pages, how, is_known);
  } catch (const std::bad_alloc&) {
    errno = ENOMEM;
    return nullptr;
  }
}

// ---- looking up

/// Of those that begin early enough, the last ends last.
registrations::shelf::const_iterator registrations::covering(const shelf& some,
                                                             const address_range& pages) noexcept {
  const auto after = some.upper_bound(pages.begin);
  if (after == some.begin()) return some.end();
  const auto last = std::prev(after);
  return last->second->pages.covers(pages) ? last : some.end();
}

registrations::held registrations::find(const address_range& pages, access how) noexcept {
  for (const access each : {access::write, access::read}) {
    if (!suffices(each, how)) continue;
    const shelf& some = shelf_of(each);
    const auto found = covering(some, pages);
    if (found == some.end()) continue;
    kept_.splice(kept_.begin(), kept_, found->second);
    return found->second->memory;
  }
  return nullptr;
}

/// Only for the very same pages: there, whoever holds it has bytes on each, and so all are still in
/// place.
registrations::held registrations::find_passing(const address_range& pages,
                                                access how) const noexcept {
  for (const passing& each : passing_) {
    if (each.pages != pages || !suffices(each.how, how)) continue;
    if (held memory = each.memory.lock()) return memory;
  }
  return nullptr;
}

registrations::shelf::const_iterator registrations::first_overlapping(
    const shelf& some, const address_range& pages) noexcept {
  auto first = some.lower_bound(pages.end);
  while (first != some.begin() && std::prev(first)->second->pages.end > pages.begin) --first;
  return first;
}

bool registrations::is_overlapping(const address_range& pages) const noexcept {
  return std::ranges::any_of(shelves_, [&](const shelf& some) {
    const auto first = first_overlapping(some, pages);
    return first != some.end() && first->second->pages.overlaps(pages);
  });
}

// ---- registering

/// \param may_stay whether it is known what goes back
registrations::held registrations::add(const address_range& pages, access how, bool may_stay) {
  const bool has_room = may_stay && monitor_ && make_room_for(pages);
  bool stays = false;
  held memory;
  do {
    // Watched first: what goes back from then on is known. And again after others were let go,
    // which may have shared pages with it.
    stays = has_room && monitor_->watch(pages);
    memory = by_.enroll(pages.bytes(), how);
  } while (!memory && let_others_go(pages.size()));
  if (!memory) {
    const int why = errno;
    if (stays) unwatch(pages);
    errno = why;
  } else if (stays) {
    put(pages, how, memory);
  } else {
    pass(pages, how, memory);
  }
  return memory;
}

void registrations::put(const address_range& pages, access how, const held& memory) {
  entries one(1, {pages, how, memory});
  drop_covered(how, pages);
  if (how == access::write) drop_covered(access::read, pages);
  shelf_of(how).emplace(pages.begin, one.begin());
  kept_.splice(kept_.begin(), one);
  bytes_ += pages.size();
}

void registrations::pass(const address_range& pages, access how, const held& memory) {
  std::erase_if(passing_, [](const passing& each) { return each.memory.expired(); });
  passing_.push_back({pages, how, memory});
}

// ---- letting go

bool registrations::drop_what_went_back() noexcept {
  if (!monitor_) return true;  // nothing is kept
  const auto [gone, is_all] = monitor_->take();
  for (const address_range& each : gone) drop(each);
  return is_all;
}

void registrations::drop(const address_range& gone) noexcept {
  for (shelf& some : shelves_) {
    auto each = first_overlapping(some, gone);
    while (each != some.end() && each->second->pages.overlaps(gone)) {
      each = remove(some, each);
      ++counts_.invalidated;
    }
  }
}

/// One that covers them is there instead.
void registrations::drop_covered(access how, const address_range& by) noexcept {
  shelf& some = shelf_of(how);
  shelf::const_iterator each = some.lower_bound(by.begin);
  while (each != some.end() && by.covers(each->second->pages)) each = remove(some, each);
}

registrations::shelf::const_iterator registrations::remove(shelf& from,
                                                           shelf::const_iterator which) noexcept {
  bytes_ -= which->second->pages.size();
  kept_.erase(which->second);
  return from.erase(which);
}

/// \returns false where too much is held, or there never is room
bool registrations::make_room_for(const address_range& pages) noexcept {
  if (pages.size() > most_.bytes || most_.regions == 0) return false;
  while (bytes_ > most_.bytes - pages.size() || kept_.size() >= most_.regions) {
    if (!evict_oldest()) return false;
  }
  return true;
}

/// After the system has refused. \returns whether it may help to try again
bool registrations::let_others_go(std::size_t bytes) noexcept {
  const int why = errno;
  const std::size_t before = bytes_;
  if (is_shortage(why)) {
    while (before - bytes_ < bytes && evict_oldest()) {
    }
  }
  errno = why;
  return bytes_ != before;
}

bool registrations::evict_oldest() noexcept {
  const auto nobodys = [](const entry& each) { return each.memory.use_count() == 1; };
  const auto found = std::find_if(kept_.rbegin(), kept_.rend(), nobodys);
  if (found == kept_.rend()) return false;
  const address_range pages = found->pages;
  shelf& some = shelf_of(found->how);
  remove(some, some.find(pages.begin));
  unwatch(pages);
  ++counts_.evictions;
  return true;
}

void registrations::unwatch(const address_range& pages) noexcept {
  if (!is_overlapping(pages)) monitor_->unwatch(pages);
}

}  // namespace muster::verbs
