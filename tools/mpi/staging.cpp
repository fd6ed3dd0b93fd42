#include "tools/mpi/staging.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include <muster/base/error.hpp>

#include "tools/mpi/errors.hpp"

namespace muster::mpi {
namespace {

address address_of(const void* at) noexcept { return reinterpret_cast<address>(at); }

std::ptrdiff_t place_of(const call& what, const operand& one, const operand_block& block,
                        const type_map& type) noexcept {
  const bool in_bytes = one.varies && (what.*one.where).types != nullptr;
  return static_cast<std::ptrdiff_t>(block.displacement) * (in_bytes ? 1 : type.extent());
}

bool has_data(const operand_block& block) noexcept {
  return block.count > 0 && block.type != MPI_DATATYPE_NULL;
}

/// Whose memory it is, by its first data; null where the CPU can use it or there is none.
const device_driver* owner_of(const call& what, const operand& one, const devices& among,
                              type_maps& types) {
  for (std::size_t i = 0; i < one.blocks; ++i) {
    const operand_block block = one.block(what, i);
    if (!has_data(block)) continue;
    const type_map& type = types.find(block.type);
    const std::ptrdiff_t first = place_of(what, one, block, type) + type.low();
    return among.owner_of(address_of((what.*one.where).buffer) + static_cast<address>(first));
  }
  return nullptr;
}

/// Stretches that touch become one.
void join(std::vector<strip>& all) noexcept {
  if (all.empty()) return;
  auto last = all.begin();
  for (auto next = last + 1; next != all.end(); ++next) {
    const bool touch = last->rows == 1 && next->rows == 1 &&
                       last->at + static_cast<std::ptrdiff_t>(last->width) == next->at;
    if (touch) {
      last->width += next->width;
    } else {
      *++last = *next;
    }
  }
  all.erase(last + 1, all.end());
}

/// Of one part of an operand.
std::vector<strip> strips_of(const call& what, const operand& one, operand::part which,
                             type_maps& types, std::size_t rank) {
  std::vector<strip> all;
  for (std::size_t i = 0; i < one.blocks; ++i) {
    const operand_block block = one.block(what, i);
    if (!operand::has(which, i, rank) || !has_data(block)) continue;
    type_map& type = types.find(block.type);
    const std::ptrdiff_t at = place_of(what, one, block, type);
    if (which == operand::part::all && !one.varies) {
      // Blocks of one length follow each other.
      type.add_strips(block.count * static_cast<std::int64_t>(one.blocks), at, all);
      return all;
    }
    type.add_strips(block.count, at, all);
  }
  join(all);
  return all;
}

struct bounds {
  std::ptrdiff_t low = std::numeric_limits<std::ptrdiff_t>::max();
  std::ptrdiff_t high = std::numeric_limits<std::ptrdiff_t>::min();

  void take_in(const std::vector<strip>& all) noexcept {
    for (const strip& one : all) {
      low = std::min(low, one.at);
      high = std::max(high,
                      one.at + static_cast<std::ptrdiff_t>((one.rows - 1) * one.pitch + one.width));
    }
  }
};

}  // namespace

std::unique_ptr<staging> staging::of(const call& what, const devices& among, host_memory& memory,
                                     std::size_t rank, const block_numbers& blocks, copying how) {
  type_maps types;
  std::unique_ptr<staging> found;
  for (const operand& one : operands_of(what, rank, blocks)) {
    const device_driver* const owner = owner_of(what, one, among, types);
    if (owner == nullptr) continue;
    if (found == nullptr) found.reset(new staging(what));
    found->add(one, *owner, types, memory, rank, how);
  }
  return found;
}

void staging::add(const operand& one, const device_driver& owner, type_maps& types,
                  host_memory& memory, std::size_t rank, copying how) {
  const std::vector<strip> all = strips_of(now_, one, operand::part::all, types, rank);
  bounds ends;
  ends.take_in(all);
  const address device = address_of((now_.*one.where).buffer);
  // Elements are aligned as they are there.
  constexpr address line = 64;
  const address offset = (device + static_cast<address>(ends.low)) % line;
  host_memory::block room = memory.take(static_cast<std::size_t>(ends.high - ends.low) + offset);
  const address host = address_of(room.data()) + offset - static_cast<address>(ends.low);

  operand result = one;
  if (one.results >= 0) result.count = one.results;
  image& own =
      images_.emplace_back(image{.driver = owner,
                                 .name = one.name,
                                 .device = device,
                                 .host = host,
                                 .written = strips_of(now_, result, one.writes, types, rank),
                                 .memory = std::move(room)});
  if (how == copying::yes && one.reads != operand::part::none) {
    const bool reads_all = one.reads == operand::part::all;
    require(own.name, [&] {
      owner.read(device, host, reads_all ? all : strips_of(now_, one, one.reads, types, rank));
    });
  }
  (now_.*one.where).buffer = reinterpret_cast<void*>(host);
}

void staging::finish() const {
  for (const image& one : images_) {
    if (one.written.empty()) continue;
    require(one.name, [&] { one.driver.write(one.device, one.host, one.written); });
  }
}

template <class Copy>
void staging::require(const char* name, Copy copy) const {
  try {
    copy();
  } catch (const error& why) {
    throw rejected(MPI_ERR_OTHER, std::string(now_.function) + ": " + name +
                                      " is in an accelerator's memory, and " + why.text());
  }
}

}  // namespace muster::mpi
