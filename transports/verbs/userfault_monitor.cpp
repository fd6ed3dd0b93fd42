#include "transports/verbs/userfault_monitor.hpp"

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <poll.h>
#include <sched.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

#include <muster/base/signals.hpp>

namespace muster::verbs {
namespace {

/// So often a change of a mapping that is under way is waited for: some 100 us.
constexpr unsigned most_patience = 200;

constexpr std::uint64_t needed = UFFD_FEATURE_EVENT_UNMAP | UFFD_FEATURE_EVENT_REMOVE |
                                 UFFD_FEATURE_EVENT_REMAP | UFFD_FEATURE_PAGEFAULT_FLAG_WP;

/// Not inherited by a child's fork: what happens in children is not told of.
descriptor open_userfaults() noexcept {
  constexpr int flags = O_CLOEXEC | O_NONBLOCK;
  // That of user mode is for everybody; systems before 5.11 do not know it.
  long made = ::syscall(SYS_userfaultfd, flags | UFFD_USER_MODE_ONLY);
  if (made < 0 && errno == EINVAL) made = ::syscall(SYS_userfaultfd, flags);
  descriptor faults(static_cast<int>(made));
  uffdio_api how{.api = UFFD_API, .features = needed, .ioctls = 0};
  if (faults && ::ioctl(faults.get(), UFFDIO_API, &how) != 0) return {};
  return faults;
}

/// Where a mapping is of huge pages, only whole ones can be watched.
std::vector<std::size_t> known_page_sizes() {
  std::vector<std::size_t> sizes = {static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))};
  constexpr std::string_view prefix = "hugepages-";
  std::error_code none;
  std::filesystem::directory_iterator each("/sys/kernel/mm/hugepages", none);
  for (; each != std::filesystem::directory_iterator(); each.increment(none)) {
    const std::string name = each->path().filename();
    std::size_t kilobytes = 0;
    if (name.starts_with(prefix)) {
      std::from_chars(name.data() + prefix.size(), name.data() + name.size(), kilobytes);
    }
    if (kilobytes != 0) sizes.push_back(kilobytes << 10);
  }
  std::ranges::sort(sizes);
  return sizes;
}

bool begin_watching(int faults, const address_range& pages) noexcept {
  uffdio_register how{.range = {.start = pages.begin, .len = pages.size()},
                      .mode = UFFDIO_REGISTER_MODE_WP,
                      .ioctls = 0};
  return ::ioctl(faults, UFFDIO_REGISTER, &how) == 0;
}

void end_watching(int faults, const address_range& pages) noexcept {
  uffdio_range range{.start = pages.begin, .len = pages.size()};
  ::ioctl(faults, UFFDIO_UNREGISTER, &range);
}

/// What went back, by what the system tells of.
std::optional<address_range> gone_by(const uffd_msg& event) noexcept {
  switch (event.event) {
    case UFFD_EVENT_UNMAP:
    case UFFD_EVENT_REMOVE:
      return address_range{event.arg.remove.start, event.arg.remove.end};
    case UFFD_EVENT_REMAP: {
      const std::uintptr_t from = event.arg.remap.from;
      return address_range{from, from + event.arg.remap.len};
    }
    default:
      return std::nullopt;
  }
}

/// Lines of /proc/self/maps, without allocating.
class mappings {
public:
  mappings() noexcept : file_(::open("/proc/self/maps", O_RDONLY | O_CLOEXEC)) {}

  std::optional<address_range> next() noexcept {
    while (true) {
      const std::string_view left(text_.data() + begin_, end_ - begin_);
      if (const std::size_t line = left.find('\n'); line != left.npos) {
        begin_ += line + 1;
        return range_in(left.substr(0, line));
      }
      if (!read_more()) return std::nullopt;
    }
  }

private:
  static address_range range_in(std::string_view line) noexcept {
    address_range range;
    const auto [dash, code] = std::from_chars(line.begin(), line.end(), range.begin, 16);
    if (dash != line.end()) std::from_chars(dash + 1, line.end(), range.end, 16);
    return range;
  }
  bool read_more() noexcept {
    std::copy(text_.begin() + begin_, text_.begin() + end_, text_.begin());
    end_ -= std::exchange(begin_, 0);
    const ssize_t got = ::read(file_.get(), text_.data() + end_, text_.size() - end_);
    if (got <= 0) return false;
    end_ += static_cast<std::size_t>(got);
    return true;
  }

  descriptor file_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  std::array<char, 16384> text_;  // more than the longest line
};

}  // namespace

std::unique_ptr<userfault_monitor> userfault_monitor::make() {
  descriptor faults = open_userfaults();
  if (!faults) return nullptr;
  descriptor bell(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!bell) return nullptr;
  try {
    return std::unique_ptr<userfault_monitor>(
        new userfault_monitor(std::move(faults), std::move(bell)));
  } catch (const std::system_error& no_thread) {
    errno = no_thread.code().value();
    return nullptr;
  }
}

userfault_monitor::userfault_monitor(descriptor faults, descriptor bell)
    : faults_(std::move(faults)),
      bell_(std::move(bell)),
      owner_(::getpid()),
      page_sizes_(known_page_sizes()),
      patience_(most_patience) {
  const all_signals_blocked meanwhile;  // they are for the program's own threads
  thread_ = std::thread([this] { run(); });
}

userfault_monitor::~userfault_monitor() {
  if (is_inherited()) {
    // A child has none of its parent's threads: there is nothing to join or to detach.
    [[maybe_unused]] const auto* const never_ends = new std::thread(std::move(thread_));
  } else {
    unwatch_everything();
    end_thread();
  }
}

bool userfault_monitor::is_inherited() const noexcept { return ::getpid() != owner_; }

// Where a child still has the descriptor, closing it here would end nothing: whoever gives watched
// memory back then would wait for ever.
void userfault_monitor::unwatch_everything() noexcept {
  if (!has_watched_) return;
  mappings all;
  while (const auto each = all.next()) {
    // What another userfaultfd watches, which older systems would end as well, is refused here.
    if (begin_watching(faults_.get(), *each)) end_watching(faults_.get(), *each);
  }
}

void userfault_monitor::end_thread() noexcept {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(bell_.get(), &one, sizeof one);
  thread_.join();
}

// ---- by whoever asks

bool userfault_monitor::watch(const address_range& pages) noexcept {
  if (is_inherited()) return false;  // it would be the parent's
  has_watched_ = true;
  return std::ranges::any_of(page_sizes_, [&](std::size_t page) {
    return begin_watching(faults_.get(), pages.rounded_to(page));
  });
}

// Not of huge pages: others may have parts of the first and the last one.
void userfault_monitor::unwatch(const address_range& pages) noexcept {
  if (!is_inherited()) end_watching(faults_.get(), pages);
}

/// Whether no mapping is changing. That memory is gone is told of only after it is, and other
/// memory may have come to its place by then.
bool userfault_monitor::settles() noexcept {
  for (unsigned tries = 0; tries < patience_; ++tries) {
    // It protects nothing, and says so with EINVAL; but first it looks whether a mapping changes.
    uffdio_writeprotect nothing{};
    if (::ioctl(faults_.get(), UFFDIO_WRITEPROTECT, &nothing) == 0 || errno != EAGAIN) {
      patience_ = most_patience;
      return true;
    }
    ::sched_yield();
  }
  patience_ = 1;  // the next time it is not to take as long again
  return false;
}

memory_monitor::news userfault_monitor::take() noexcept {
  const bool is_all = settles();
  // acquire: it is not read before the system has said that no mapping changes. Whoever has
  // returned from giving memory back was let go by the thread's reading, before which it has
  // counted; it holds the lock until that is noted.
  if (looks_.load(std::memory_order_acquire) == seen_looks_) return {{}, is_all};
  const std::lock_guard now(lock_);
  // relaxed: the lock orders it.
  seen_looks_ = looks_.load(std::memory_order_relaxed);
  const std::size_t count = std::exchange(count_, 0);
  std::copy_n(gone_.begin(), count, taken_.begin());
  return {std::span(taken_).first(count), is_all};
}

// ---- the thread. It neither allocates nor changes mappings: it would wait for itself.

void userfault_monitor::run() noexcept {
  std::array<pollfd, 2> both = {{{.fd = faults_.get(), .events = POLLIN, .revents = 0},
                                 {.fd = bell_.get(), .events = POLLIN, .revents = 0}}};
  while (both[1].revents == 0) {
    ::poll(both.data(), both.size(), -1);
    if (both[0].revents != 0) read_all();
  }
}

void userfault_monitor::read_all() noexcept {
  std::array<uffd_msg, 16> events;
  const std::lock_guard now(lock_);
  // release: pairs with `take`. Reading, which lets go whoever waits, comes after it: it takes
  // locks of the system's.
  looks_.fetch_add(1, std::memory_order_release);
  while (true) {
    const ssize_t bytes = ::read(faults_.get(), events.data(), sizeof events);
    if (bytes <= 0) return;
    const std::size_t count = static_cast<std::size_t>(bytes) / sizeof events[0];
    for (const uffd_msg& each : std::span(events).first(count)) {
      if (const auto gone = gone_by(each)) note(*gone);
    }
  }
}

void userfault_monitor::note(const address_range& one) noexcept {
  if (count_ < room) {
    gone_[count_++] = one;
  } else {
    gone_.back() = address_range::all();
  }
}

}  // namespace muster::verbs
