#include "transports/sim/node.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <string>
#include <utility>

#include <muster/base/error.hpp>

namespace muster::sim {

namespace {

/// Less than that is not worth a call of the system.
constexpr std::size_t mapped_from = 65'536;
constexpr std::align_val_t alignment{wire::cache_line};

std::byte* map(std::size_t bytes) {
  void* const memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    throw error(errc::resource, "simulation: no " + std::to_string(bytes) + " bytes to reserve");
  }
  return static_cast<std::byte*>(memory);
}

std::byte* allocate_zeroed(std::size_t bytes) {
  void* const memory = ::operator new(bytes, alignment);
  return static_cast<std::byte*>(std::memset(memory, 0, bytes));
}

}  // namespace

pages::pages(std::size_t bytes)
    : data_(bytes >= mapped_from ? map(bytes) : allocate_zeroed(bytes)), bytes_(bytes) {}

pages::pages(pages&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}

pages::~pages() {
  if (data_ == nullptr) return;
  if (bytes_ >= mapped_from) {
    ::munmap(data_, bytes_);
  } else {
    ::operator delete(data_, alignment);
  }
}

node::node(const model& of, std::size_t ranks)
    : interfaces(of.network),
      ranks_(ranks),
      shared_(wire::board::bytes(ranks)),
      own_(area_for(board())) {}

std::span<std::byte> node::memory_of(const wire::board& one) noexcept {
  return {reinterpret_cast<std::byte*>(&one.arrival(0, 0)),
          wire::board::bytes(one.ranks(), one.extent())};
}

node::area node::area_for(const wire::board& one) {
  area made = area_of_stages(memory_of(one));
  made.stages = one.tiny_stage(0, 0);
  return made;
}

node::area node::area_of_stages(std::span<std::byte> bytes) {
  return {.bytes = bytes,
          .stages = bytes.data(),
          .touched = std::vector<bool>(bytes.size() / page_bytes + 1)};
}

void node::add(const wire::board& one) { add(area_for(one)); }

void node::add(area made) {
  const std::byte* const end = made.bytes.data() + made.bytes.size();
  others_.emplace(end, std::move(made));
}

void node::remove(const wire::board& one) {
  const std::span<std::byte> bytes = memory_of(one);
  writes.forget(bytes);
  others_.erase(bytes.data() + bytes.size());
}

const node::area* node::area_of(const std::byte* address) const noexcept {
  if (own_.contains(address)) return &own_;
  const auto other = others_.upper_bound(address);
  return other != others_.end() && other->second.contains(address) ? &other->second : nullptr;
}

std::size_t node::touch(std::span<const std::byte> written) noexcept {
  if (written.empty()) return 0;
  area& in = own_.contains(written.data()) ? own_ : others_.upper_bound(written.data())->second;
  const auto from = static_cast<std::size_t>(written.data() - in.bytes.data());
  std::size_t more = 0;
  for (std::size_t page = from / page_bytes; page <= (from + written.size() - 1) / page_bytes;
       ++page) {
    if (in.touched[page]) continue;
    in.touched[page] = true;
    more += page_bytes;
  }
  return more;
}

std::size_t node::use_shared_scratch(std::span<const std::byte> part) noexcept {
  area& in = others_.upper_bound(part.data())->second;
  const auto from = static_cast<std::size_t>(part.data() - in.bytes.data());
  const std::size_t first = from / page_bytes;
  const std::size_t last = (from + std::max<std::size_t>(part.size(), 1) - 1) / page_bytes;
  const std::uint64_t before = in.used_at[first];
  const std::uint64_t since =
      before == 0 ? shared_scratch_moved_ : shared_scratch_moved_ + 1 - before;
  shared_scratch_moved_ += part.size();
  std::fill(in.used_at.begin() + static_cast<std::ptrdiff_t>(first),
            in.used_at.begin() + static_cast<std::ptrdiff_t>(last + 1), shared_scratch_moved_ + 1);
  return since;
}

picoseconds node::use_memory(picoseconds now, std::size_t bytes, double gbs) noexcept {
  memory_free_ = std::max(memory_free_, now) + transfer_time(bytes, gbs);
  return memory_free_;
}

picoseconds node::read_line(const void* in, picoseconds now, picoseconds begins, picoseconds each) {
  std::vector<picoseconds>& ends =
      line_reads_[reinterpret_cast<std::uintptr_t>(in) / wire::cache_line];
  std::erase_if(ends, [now](picoseconds end) { return end <= now; });
  // Events are not in the order of the ranks' own times: the first gap that is wide enough.
  auto next = ends.begin();
  for (; next != ends.end() && *next - each < begins + each; ++next) {
    begins = std::max(begins, *next);
  }
  ends.insert(next, begins + each);
  return begins + each;
}

picoseconds node::take_line(const void* in, const core& by, picoseconds begins, picoseconds trip,
                            picoseconds earliest) {
  last_change& last = line_changes_[reinterpret_cast<std::uintptr_t>(in) / wire::cache_line];
  const picoseconds here = std::max(begins, last.when) + (last.by == &by ? 0 : trip);
  last = {.by = &by, .when = std::max(here, earliest)};
  return last.when;
}

std::span<std::byte> node::allocate(std::size_t bytes, bool for_shared_scratch) {
  pages memory(bytes);
  const std::span<std::byte> result(memory.data(), bytes);
  buffers_.emplace(memory.data(), std::move(memory));
  if (for_shared_scratch) {
    area made = area_of_stages(result);
    made.used_at.resize(made.touched.size());
    add(std::move(made));
  }
  return result;
}

void node::deallocate(std::span<std::byte> memory) noexcept {
  const auto shared_scratch = others_.find(memory.data() + memory.size());
  if (shared_scratch != others_.end()) {
    writes.forget(memory);
    others_.erase(shared_scratch);
  }
  buffers_.erase(memory.data());
}

bool node::is_allocated(std::span<const std::byte> bytes) const noexcept {
  auto after = buffers_.upper_bound(bytes.data());
  if (after == buffers_.begin()) return false;
  const pages& before = std::prev(after)->second;
  return bytes.data() + bytes.size() <= before.data() + before.size();
}

}  // namespace muster::sim
