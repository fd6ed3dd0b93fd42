#include "tests/transports/mpi/ledger.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <iterator>
#include <utility>

namespace muster::testing {

using mpi::messenger;

namespace {

template <class Entry>
std::vector<Entry> of_tag(const std::vector<Entry>& all, std::uint32_t tag) {
  std::vector<Entry> found;
  std::ranges::copy_if(all, std::back_inserter(found),
                       [&](const Entry& each) { return each.tag == tag; });
  return found;
}

template <class Entry>
bool remove(std::vector<Entry>& all, messenger::request which) {
  return std::erase_if(all, [&](const Entry& each) { return each.which == which; }) != 0;
}

}  // namespace

std::vector<ledger::entry> ledger::sends(std::uint32_t tag) const { return of_tag(sends_, tag); }

std::vector<ledger::place> ledger::receives(std::uint32_t tag) const {
  return of_tag(receives_, tag);
}

void ledger::end_send(request which) {
  REQUIRE(remove(sends_, which));
  ended_.push_back({.which = which, .from = 0, .bytes = 0});
}

void ledger::bring(std::uint32_t tag, std::span<const std::byte> bytes) {
  const std::vector<place> posted = receives(tag);
  if (posted.empty()) {
    waiting_.push_back({tag, {bytes.begin(), bytes.end()}});
    return;
  }
  REQUIRE(bytes.size() <= posted.front().bytes.size());
  std::ranges::copy(bytes, posted.front().bytes.begin());
  end_receive(posted.front(), bytes.size());
}

void ledger::end_receive(const place& by, std::size_t bytes) {
  REQUIRE(remove(receives_, by.which));
  ended_.push_back({.which = by.which, .from = 1, .bytes = bytes});
}

messenger::request ledger::send(std::size_t, std::uint32_t tag, std::span<const std::byte> bytes) {
  sends_.push_back({next_, tag, bytes});
  return next_++;
}

messenger::request ledger::put(std::size_t to, std::uint32_t tag,
                               std::span<const std::byte> bytes) {
  return send(to, tag, bytes);
}

messenger::request ledger::receive(std::size_t, std::uint32_t tag, std::span<std::byte> to) {
  const request made = next_++;
  receives_.push_back({made, tag, to});
  const auto found = std::ranges::find(waiting_, tag, &waiting::tag);
  if (found != waiting_.end()) {
    const waiting come = std::move(*found);
    waiting_.erase(found);
    bring(tag, come.bytes);
  }
  return made;
}

bool ledger::take_back(request receive) { return remove(receives_, receive); }

std::span<const messenger::ended> ledger::look() {
  told_ = std::exchange(ended_, {});
  return told_;
}

}  // namespace muster::testing
