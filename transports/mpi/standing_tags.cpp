#include "transports/mpi/standing_tags.hpp"

#include <algorithm>
#include <utility>

namespace muster::mpi {

const standing_tags::entry* standing_tags::find(const stream::link& of,
                                                std::size_t bytes) const noexcept {
  const auto found = all_.find({&of, bytes});
  return found == all_.end() ? nullptr : &found->second;
}

standing_tags::entry* standing_tags::find(const stream::link& of, std::size_t bytes) noexcept {
  return const_cast<entry*>(std::as_const(*this).find(of, bytes));
}

bool standing_tags::has_room(const stream::link& of) const noexcept {
  std::size_t lengths = 0;
  of_link(of, [&](const entry&) { ++lengths; });
  return lengths < most_lengths;
}

standing_tags::entry& standing_tags::add(const stream::link& of, std::size_t bytes,
                                         std::uint32_t tag) {
  return all_.emplace(key{&of, bytes}, entry{.tag = tag}).first->second;
}

// Asked only where something went wrong.
standing_tags::map::const_iterator standing_tags::at(std::uint32_t tag) const noexcept {
  return std::ranges::find_if(all_, [&](const auto& each) { return each.second.tag == tag; });
}

const stream::link* standing_tags::link_of(std::uint32_t tag) const noexcept {
  const auto found = at(tag);
  return found == all_.end() ? nullptr : found->first.of;
}

std::optional<std::uint64_t> standing_tags::erase(std::uint32_t tag) noexcept {
  const auto found = at(tag);
  if (found == all_.end()) return std::nullopt;
  const std::uint64_t parts = found->second.parts;
  all_.erase(found);
  return parts;
}

void standing_tags::erase_link(const stream::link& of) noexcept {
  auto one = first_of(of);
  while (one != all_.end() && one->first.of == &of) one = all_.erase(one);
}

}  // namespace muster::mpi
