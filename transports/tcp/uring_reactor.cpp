#include "transports/tcp/uring_reactor.hpp"

#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace muster::tcp {
namespace {

constexpr unsigned entries = 128;
constexpr unsigned completions = 1024;
/// Of the pool, a power of two.
constexpr unsigned buffers = 64;
constexpr int group = 0;

// A completion's name: which watch, in which of its lives, and of what.
constexpr unsigned operation_bits = 3;
constexpr unsigned watch_from_bit = 32;
constexpr std::uint32_t generations = (std::uint32_t{1} << (watch_from_bit - operation_bits)) - 1;

// Not POLLERR: it also tells of reports, and a connection that has failed has hung up as well.
constexpr unsigned ends = POLLRDHUP | POLLHUP;

std::string text_of(int result) { return std::strerror(-result); }

}  // namespace

std::unique_ptr<uring_reactor> uring_reactor::try_make(std::string& why) {
  std::unique_ptr<uring_reactor> made(new uring_reactor);
  return made->begin(why) ? std::move(made) : nullptr;
}

bool uring_reactor::begin(std::string& why) noexcept {
  io_uring_params how{};
  // Work of the system for this thread waits until the thread looks, which costs no interrupt.
  how.flags = IORING_SETUP_COOP_TASKRUN | IORING_SETUP_TASKRUN_FLAG | IORING_SETUP_CQSIZE;
  how.cq_entries = completions;
  if (const int result = ::io_uring_queue_init_params(entries, &ring_, &how); result != 0) {
    why = text_of(result);
    return false;
  }
  has_ring_ = true;
  owner_ = ::getpid();
  // Multishot receive cannot be asked for; it came with this.
  io_uring_probe* const known = ::io_uring_get_probe_ring(&ring_);
  const bool is_new = known != nullptr && ::io_uring_opcode_supported(known, IORING_OP_SEND_ZC);
  ::io_uring_free_probe(known);
  if (!is_new) {
    why = "the system has no multishot receive, which came with Linux 6.0";
    return false;
  }
  void* memory = nullptr;
  constexpr std::size_t page = 4096;
  if (::posix_memalign(&memory, page, buffers * sizeof(io_uring_buf)) != 0) {
    why = "no memory";
    return false;
  }
  free_.reset(static_cast<io_uring_buf_ring*>(memory));
  io_uring_buf_reg pool{};
  pool.ring_addr = reinterpret_cast<std::uintptr_t>(memory);
  pool.ring_entries = buffers;
  pool.bgid = group;
  if (const int result = ::io_uring_register_buf_ring(&ring_, &pool, 0); result != 0) {
    why = text_of(result);
    return false;
  }
  buffers_ = std::make_unique_for_overwrite<std::byte[]>(buffers * most_brought);
  ::io_uring_buf_ring_init(free_.get());
  for (unsigned each = 0; each < buffers; ++each) give_back(each);
  return true;
}

uring_reactor::~uring_reactor() {
  if (!has_ring_) return;
  if (!is_inherited()) cancel_all();
  unmap();
}

// What the system still does for a ring that is gone would keep its sockets open.
void uring_reactor::cancel_all() noexcept {
  ::io_uring_prep_cancel64(&next_entry(), 0, IORING_ASYNC_CANCEL_ANY | IORING_ASYNC_CANCEL_ALL);
  ::io_uring_submit_and_get_events(&ring_);
}

// As `io_uring_queue_exit` does, but by the C library's calls, of which sanitizers know: another
// thread may get the same memory and the same descriptor next.
void uring_reactor::unmap() noexcept {
  ::munmap(ring_.sq.sqes, ring_.sq.ring_entries * sizeof(io_uring_sqe));
  ::munmap(ring_.sq.ring_ptr, ring_.sq.ring_sz);
  if (ring_.cq.ring_ptr != ring_.sq.ring_ptr) ::munmap(ring_.cq.ring_ptr, ring_.cq.ring_sz);
  ::close(ring_.ring_fd);
}

bool uring_reactor::is_inherited() const noexcept { return ::getpid() != owner_; }

// ---- what is watched

std::uint32_t uring_reactor::add(int descriptor, std::uint64_t what, interest in) noexcept {
  if (unused_.empty()) {
    unused_.push_back(static_cast<std::uint32_t>(watched_.size()));
    watched_.emplace_back();
  }
  const std::uint32_t watch = unused_.back();
  unused_.pop_back();
  const std::uint32_t generation = watched_[watch].generation;
  watched_[watch] = {.descriptor = descriptor,
                     .what = what,
                     .in = in,
                     .generation = generation,
                     .awaits_readable = false,
                     .awaits_writable = false,
                     .awaits_report = false,
                     .tries = 0};
  if (in != interest::messages) poll_changes(watch);
  return watch;
}

void uring_reactor::remove(std::uint32_t watch) noexcept {
  watched& one = watched_[watch];
  one.generation = (one.generation + 1) & generations;
  one.awaits_readable = false;
  std::erase(soon_, watch);
  unused_.push_back(watch);
  if (is_inherited()) return;
  io_uring_sqe& entry = next_entry();
  ::io_uring_prep_cancel_fd(&entry, one.descriptor, IORING_ASYNC_CANCEL_ALL);
  entry.user_data = name_of(watch, operation::cancel);
  // At once: what is under way would keep a socket open that is closed next.
  ::io_uring_submit_and_get_events(&ring_);
}

std::uint64_t uring_reactor::name_of(std::uint32_t watch, operation what) const noexcept {
  return std::uint64_t{watch} << watch_from_bit |
         std::uint64_t{watched_[watch].generation} << operation_bits |
         static_cast<std::uint64_t>(what);
}

// ---- asked of the system

io_uring_sqe& uring_reactor::next_entry() noexcept {
  while (true) {
    if (io_uring_sqe* const one = ::io_uring_get_sqe(&ring_)) return *one;
    submit();
  }
}

void uring_reactor::submit() noexcept { ::io_uring_submit(&ring_); }

void uring_reactor::submit_if_armed() noexcept {
  if (is_armed_) submit();
}

void uring_reactor::poll_changes(std::uint32_t watch) noexcept {
  const watched& one = watched_[watch];
  const unsigned events =
      one.in == interest::incoming ? unsigned{POLLIN} : unsigned{POLLIN | POLLOUT | POLLRDHUP};
  io_uring_sqe& entry = next_entry();
  ::io_uring_prep_poll_multishot(&entry, one.descriptor, events);
  entry.user_data = name_of(watch, operation::changes);
  submit_if_armed();
}

void uring_reactor::poll_once(std::uint32_t watch, operation what, unsigned events) noexcept {
  io_uring_sqe& entry = next_entry();
  ::io_uring_prep_poll_add(&entry, watched_[watch].descriptor, events);
  entry.user_data = name_of(watch, what);
  submit_if_armed();
}

// Where a long message is on its way, reading again and again is faster than being told each time.
void uring_reactor::await_readable(std::uint32_t watch, bool soon) noexcept {
  constexpr unsigned most_tries = 256;
  watched& one = watched_[watch];
  if (std::exchange(one.awaits_readable, true)) return;
  one.tries = soon ? 0 : one.tries + 1;
  if (is_armed_ || one.tries > most_tries) {
    poll_once(watch, operation::readable, POLLIN | POLLRDHUP);
  } else {
    soon_.push_back(watch);
  }
}

void uring_reactor::try_again(handler& who) noexcept {
  trying_.swap(soon_);
  for (const std::uint32_t watch : trying_) {
    watched& one = watched_[watch];
    if (std::exchange(one.awaits_readable, false)) who.note(one.what, true, false, false);
  }
  trying_.clear();
}

void uring_reactor::await_writable(std::uint32_t watch) noexcept {
  if (std::exchange(watched_[watch].awaits_writable, true)) return;
  poll_once(watch, operation::writable, POLLOUT);
}

void uring_reactor::await_report(std::uint32_t watch) noexcept {
  if (std::exchange(watched_[watch].awaits_report, true)) return;
  poll_once(watch, operation::report, POLLERR);
}

void uring_reactor::begin_bringing(std::uint32_t watch) noexcept { receive(watch); }

void uring_reactor::receive(std::uint32_t watch) noexcept {
  io_uring_sqe& entry = next_entry();
  ::io_uring_prep_recv_multishot(&entry, watched_[watch].descriptor, nullptr, 0, 0);
  entry.flags |= IOSQE_BUFFER_SELECT;
  entry.buf_group = group;
  entry.user_data = name_of(watch, operation::receive);
  submit_if_armed();
}

void uring_reactor::end_bringing(std::uint32_t watch) noexcept {
  io_uring_sqe& entry = next_entry();
  ::io_uring_prep_cancel64(&entry, name_of(watch, operation::receive), 0);
  entry.user_data = name_of(watch, operation::cancel);
  submit();
}

void uring_reactor::arm() noexcept {
  is_armed_ = true;
  for (const std::uint32_t watch : soon_) {
    if (watched_[watch].awaits_readable) poll_once(watch, operation::readable, POLLIN | POLLRDHUP);
  }
  soon_.clear();
  submit();
}

// ---- what it says

void uring_reactor::look(handler& who) noexcept {
  if (!soon_.empty()) try_again(who);
  if (::io_uring_sq_ready(&ring_) != 0) submit();
  std::array<io_uring_cqe*, 64> done;
  const unsigned count = ::io_uring_peek_batch_cqe(&ring_, done.data(), done.size());
  for (unsigned i = 0; i < count; ++i) handle(*done[i], who);
  ::io_uring_cq_advance(&ring_, count);
  if (::io_uring_sq_ready(&ring_) != 0) submit();
}

void uring_reactor::handle(const io_uring_cqe& done, handler& who) noexcept {
  const auto watch = static_cast<std::uint32_t>(done.user_data >> watch_from_bit);
  const auto what =
      static_cast<operation>(done.user_data & ((std::uint64_t{1} << operation_bits) - 1));
  if (what == operation::cancel || watch >= watched_.size()) return;
  const bool is_current = done.user_data == name_of(watch, what);
  if (what == operation::receive) return handle_received(done, watch, is_current, who);
  if (!is_current) return;
  watched& one = watched_[watch];
  // A failed one, as by the end of the thread that asked: whoever tries finds how it is.
  unsigned events = done.res < 0 ? unsigned{POLLIN | POLLOUT} : static_cast<unsigned>(done.res);
  // It may have ended for a report alone, and is to be asked for again.
  if (what == operation::writable) events |= POLLOUT;
  if (what == operation::readable) one.awaits_readable = false;
  if (what == operation::writable) one.awaits_writable = false;
  if (what == operation::report) one.awaits_report = false;
  if (what == operation::changes && (done.flags & IORING_CQE_F_MORE) == 0) poll_changes(watch);
  who.note(one.what, (events & ~unsigned{POLLOUT}) != 0, (events & POLLOUT) != 0,
           (events & ends) != 0);
}

void uring_reactor::handle_received(const io_uring_cqe& done, std::uint32_t watch, bool is_current,
                                    handler& who) noexcept {
  if ((done.flags & IORING_CQE_F_BUFFER) != 0) {
    const unsigned buffer = done.flags >> IORING_CQE_BUFFER_SHIFT;
    if (is_current && done.res > 0) {
      who.bring(watched_[watch].what,
                {buffers_.get() + buffer * most_brought, static_cast<std::size_t>(done.res)});
    }
    give_back(buffer);
  }
  if (!is_current || (done.flags & IORING_CQE_F_MORE) != 0) return;
  // All buffers were full, or the system thought that one had taken enough.
  if (done.res > 0 || done.res == -ENOBUFS) return who.stop_bringing(watched_[watch].what, false);
  who.stop_bringing(watched_[watch].what, done.res != -ECANCELED);
}

void uring_reactor::give_back(unsigned buffer) noexcept {
  ::io_uring_buf_ring_add(free_.get(), buffers_.get() + buffer * most_brought, most_brought,
                          static_cast<unsigned short>(buffer), ::io_uring_buf_ring_mask(buffers),
                          0);
  ::io_uring_buf_ring_advance(free_.get(), 1);
}

}  // namespace muster::tcp
