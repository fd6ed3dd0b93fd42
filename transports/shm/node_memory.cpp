#include "transports/shm/node_memory.hpp"

#include <sched.h>
#include <sys/uio.h>

#include <cerrno>

namespace muster::shm {

wire::origin node_memory::lend(std::span<const std::byte> bytes, bool foreign) const noexcept {
  using kind = wire::origin::kind;
  const auto address = reinterpret_cast<std::uint64_t>(bytes.data());
  if (owner_.buffers.contains(bytes)) {
    return {kind::segment, static_cast<std::uint64_t>(bytes.data() - base_)};
  }
  if (owner_.of.one_process()) return {kind::process, address};
  if (foreign && owner_.of.machine().foreign_allowed) return {kind::foreign, address};
  return {};
}

const std::byte* node_memory::borrow(const wire::origin& from) const noexcept {
  switch (from.where) {
    case wire::origin::kind::segment:
      return base_ + from.address;
    case wire::origin::kind::process:
      return reinterpret_cast<const std::byte*>(from.address);
    default:
      return nullptr;
  }
}

int node_memory::fetch(std::size_t local_peer, const wire::origin& from, std::size_t offset,
                       std::span<std::byte> to) noexcept {
  return copy_from_process(owner_.of, owner_.node[local_peer], from.address + offset, to);
}

int copy_from_process(const job& of, std::size_t rank, std::uint64_t address,
                      std::span<std::byte> to) noexcept {
  // acquire: pairs with `job::attach`.
  const auto process = of.line(rank).process.load(std::memory_order_acquire);
  for (std::size_t done = 0; done < to.size();) {
    const iovec local{to.data() + done, to.size() - done};
    const iovec remote{reinterpret_cast<void*>(address + done), to.size() - done};
    const ssize_t got = ::process_vm_readv(process, &local, 1, &remote, 1, 0);
    if (got < 0) return errno;
    if (got == 0) return EFAULT;
    done += static_cast<std::size_t>(got);
  }
  return 0;
}

void node_memory::begin_reading() noexcept {
  mine_.reading.store(1, std::memory_order_relaxed);
  owner_.parking.frequent_fence();  // then the caller looks whether the team is broken
}

void node_memory::end_reading() noexcept {
  // release: what was read was read before.
  mine_.reading.store(0, std::memory_order_release);
  // The reads come before the caller's next look, like those of a sequence lock.
  std::atomic_thread_fence(std::memory_order_acquire);
}

void node_memory::settle() noexcept {
  // What another process reads stays mapped there, and does not count once the team is broken,
  // which comes before whatever this one writes from here on.
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (!owner_.of.one_process()) return;
  owner_.parking.rare_fence();
  for (const std::size_t rank : owner_.members) {
    // A copy's or a combination's time; acquire: pairs with `end_reading`.
    const std::atomic<std::uint32_t>& reading = owner_.of.line(rank).reading;
    while (rank != owner_.rank && reading.load(std::memory_order_acquire) != 0) ::sched_yield();
  }
}

}  // namespace muster::shm
