#include "tools/mpi/host_memory.hpp"

#include <algorithm>
#include <bit>
#include <new>
#include <utility>

namespace muster::mpi {
namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t most_idle = 8;
constexpr std::size_t most_idle_bytes = std::size_t{256} << 20;  // of one

std::size_t rounded(std::size_t bytes) noexcept {
  constexpr std::size_t large = std::size_t{1} << 20;
  if (bytes < large) return std::bit_ceil(std::max(bytes, page));
  return (bytes + large - 1) / large * large;
}

}  // namespace

host_memory::block host_memory::take(std::size_t bytes) {
  const std::size_t wanted = rounded(bytes);
  {
    const std::scoped_lock one_at_a_time(store_->gate);
    std::vector<chunk>& idle = store_->idle;
    const auto fits = [wanted](const chunk& one) {
      return one.bytes >= wanted && one.bytes / 4 <= wanted;
    };
    if (const auto found = std::ranges::find_if(idle, fits); found != idle.end()) {
      chunk own = std::move(*found);
      idle.erase(found);
      return {std::move(own), store_};
    }
  }
  auto* const at = static_cast<std::byte*>(std::aligned_alloc(page, wanted));
  if (at == nullptr) throw std::bad_alloc();
  return {chunk{.at = std::unique_ptr<std::byte, release>(at), .bytes = wanted}, store_};
}

std::size_t host_memory::idle() const {
  const std::scoped_lock one_at_a_time(store_->gate);
  return store_->idle.size();
}

host_memory::block::~block() {
  if (own_.at == nullptr || own_.bytes > most_idle_bytes) return;
  const std::scoped_lock one_at_a_time(from_->gate);
  std::vector<chunk>& idle = from_->idle;
  try {
    idle.push_back(std::move(own_));  // the one used last is found last
    if (idle.size() > most_idle) idle.erase(idle.begin());
  } catch (const std::bad_alloc&) {
    own_ = {};
  }
}

}  // namespace muster::mpi
