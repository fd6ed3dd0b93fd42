// Real memory that goes back to the system, in all the ways there are, and children that inherit
// it.

#include "transports/verbs/userfault_monitor.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstddef>
#include <cstring>
#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include <muster/base/descriptor.hpp>

#include "tests/transports/verbs/watched_cache.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;

constexpr int readable = PROT_READ;
constexpr int writable = PROT_READ | PROT_WRITE;

std::span<std::byte> map(std::size_t count, int how = writable,
                         int kind = MAP_PRIVATE | MAP_ANONYMOUS, int file = -1) {
  constexpr int here = MAP_FIXED_NOREPLACE;
  void* const made = ::mmap(find_space(), count * page, how, kind | here, file, 0);
  REQUIRE(made != MAP_FAILED);
  return {static_cast<std::byte*>(made), count * page};
}
void map_again(std::span<std::byte> where) {
  constexpr int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE;
  REQUIRE(::mmap(where.data(), where.size(), writable, kind, -1, 0) == where.data());
}
void unmap(std::span<std::byte> some) { CHECK(::munmap(some.data(), some.size()) == 0); }

std::span<std::byte> part(std::span<std::byte> some, std::size_t from, std::size_t count) {
  return some.subspan(from * page, count * page);
}

/// Runs it in a child. \returns whether it ended in time
bool child_ends(const std::function<void()>& what) {
  const pid_t child = ::fork();
  if (child == 0) {
    what();
    ::_exit(0);
  }
  const auto until = std::chrono::steady_clock::now() + 20s;
  int how = 0;
  while (::waitpid(child, &how, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > until) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &how, 0);
      return false;
    }
    std::this_thread::sleep_for(1ms);
  }
  return WIFEXITED(how) && WEXITSTATUS(how) == 0;
}

struct fixture {
  fake_registrar by;
  watched_cache one{by};
};

TEST_CASE_FIXTURE(fixture, "memory that was unmapped") {
  if (!one.is_watching()) return;
  const auto some = map(8);
  CHECK_FALSE(one.is_hit(some));
  CHECK(one.is_hit(some));
  unmap(some);
  map_again(some);
  CHECK_FALSE(one.is_hit(some));
  CHECK(by.all.size() == 1);
  unmap(some);
}

TEST_CASE_FIXTURE(fixture, "memory of which a part was unmapped") {
  if (!one.is_watching()) return;
  const auto some = map(12);
  one.hold(part(some, 0, 4));
  one.hold(part(some, 4, 4));
  one.hold(part(some, 8, 4));
  unmap(part(some, 5, 1));
  map_again(part(some, 5, 1));
  CHECK_FALSE(one.is_hit(part(some, 4, 4)));
  CHECK(one.is_hit(part(some, 0, 4)));
  CHECK(one.is_hit(part(some, 8, 4)));
  unmap(some);
}

TEST_CASE_FIXTURE(fixture, "memory in whose place other memory was mapped") {
  if (!one.is_watching()) return;
  const auto some = map(4);
  one.hold(some);
  constexpr int kind = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
  CHECK(::mmap(some.data(), page, writable, kind, -1, 0) == some.data());
  CHECK_FALSE(one.is_hit(some));
  unmap(some);
}

TEST_CASE_FIXTURE(fixture, "memory whose content was discarded") {
  if (!one.is_watching()) return;
  const auto some = map(4);
  one.hold(some);
  CHECK(::madvise(some.data(), page, MADV_DONTNEED) == 0);
  CHECK_FALSE(one.is_hit(some));
  CHECK(::madvise(some.data(), page, MADV_FREE) == 0);
  CHECK_FALSE(one.is_hit(some));
  unmap(some);
}

TEST_CASE_FIXTURE(fixture, "memory that was moved") {
  if (!one.is_watching()) return;
  const auto some = map(4);
  const auto there = map(8);
  one.hold(some);
  one.hold(there);
  constexpr int how = MREMAP_MAYMOVE | MREMAP_FIXED;
  void* const moved = ::mremap(some.data(), some.size(), there.size(), how, there.data());
  CHECK(moved == there.data());
  map_again(some);
  CHECK_FALSE(one.is_hit(some));
  CHECK_FALSE(one.is_hit(there));
  unmap(there);
  map_again(there);
  CHECK_FALSE(one.is_hit(there));
  unmap(some);
  unmap(there);
}

TEST_CASE_FIXTURE(fixture, "memory that was moved and left empty") {
  if (!one.is_watching()) return;
  const auto some = map(4);
  one.hold(some);
  constexpr int how = MREMAP_MAYMOVE | MREMAP_DONTUNMAP;
  void* const moved = ::mremap(some.data(), some.size(), some.size(), how, nullptr);
  REQUIRE(moved != MAP_FAILED);
  CHECK_FALSE(one.is_hit(some));
  ::munmap(moved, some.size());
  unmap(some);
}

TEST_CASE_FIXTURE(fixture, "memory that has shrunk in its place") {
  if (!one.is_watching()) return;
  const auto some = map(8);
  one.hold(part(some, 0, 4));
  one.hold(part(some, 4, 4));
  CHECK(::mremap(some.data(), 8 * page, 5 * page, 0) == some.data());
  map_again(part(some, 5, 3));
  CHECK(one.is_hit(part(some, 0, 4)));
  CHECK_FALSE(one.is_hit(part(some, 4, 4)));
  unmap(some);
}

TEST_CASE_FIXTURE(fixture, "memory of several mappings") {
  if (!one.is_watching()) return;
  const auto some = map(9);
  CHECK(::mprotect(some.data() + 3 * page, 3 * page, PROT_READ) == 0);
  one.hold(some, access::read);
  CHECK(one.is_hit(some, access::read));
  unmap(part(some, 4, 1));
  map_again(part(some, 4, 1));
  CHECK_FALSE(one.is_hit(some, access::read));
  unmap(some);
}

TEST_CASE_FIXTURE(fixture, "shared memory") {
  if (!one.is_watching()) return;
  const descriptor file(::memfd_create("muster-test", MFD_CLOEXEC));
  REQUIRE(::ftruncate(file.get(), 4 * page) == 0);
  for (const auto& some :
       {map(4, writable, MAP_SHARED, file.get()), map(4, writable, MAP_SHARED | MAP_ANONYMOUS)}) {
    one.hold(some);
    if (one.is_hit(some)) {  // since Linux 5.19
      CHECK(::madvise(some.data(), page, MADV_REMOVE) == 0);
      CHECK_FALSE(one.is_hit(some));
    } else {
      MESSAGE("shared memory is not watched here");
    }
    unmap(some);
    map_again(some);
    CHECK_FALSE(one.is_hit(some));
    unmap(some);
  }
}

TEST_CASE_FIXTURE(fixture, "huge pages") {
  if (!one.is_watching()) return;
  constexpr std::size_t huge = std::size_t{2} << 20;
  void* const made =
      ::mmap(nullptr, 2 * huge, writable,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | (21 << MAP_HUGE_SHIFT), -1, 0);
  if (made == MAP_FAILED) {
    MESSAGE("no huge pages here: ", std::string(std::strerror(errno)));
    return;
  }
  const std::span<std::byte> some(static_cast<std::byte*>(made), 2 * huge);
  one.hold(part(some, 3, 4));
  CHECK(one.is_hit(part(some, 3, 4)));
  unmap(some);
  map_again(some);
  CHECK_FALSE(one.is_hit(part(some, 3, 4)));
  unmap(some);
}

TEST_CASE_FIXTURE(fixture, "mappings of files are not watched, and so not kept") {
  const descriptor file(::open("/proc/self/exe", O_RDONLY | O_CLOEXEC));
  const auto some = map(1, readable, MAP_PRIVATE, file.get());
  CHECK(one.hold(some, access::read));
  CHECK(by.all.empty());
  CHECK_FALSE(one.is_hit(some, access::read));
  unmap(some);
}

TEST_CASE_FIXTURE(fixture, "watched memory is read and written as any other") {
  const auto some = map(64);
  for (std::size_t at = 0; at < some.size(); at += 8 * page) some[at] = std::byte{1};
  one.hold(some);
  std::thread([&] {
    for (std::size_t at = 0; at < some.size(); at += 4 * page) some[at] |= std::byte{2};
  }).join();
  for (std::size_t at = 0; at < some.size(); at += page) {
    const int expected = (at % (8 * page) == 0 ? 1 : 0) + (at % (4 * page) == 0 ? 2 : 0);
    CHECK(std::to_integer<int>(some[at]) == expected);
  }
  CHECK(::madvise(some.data(), some.size(), MADV_DONTNEED) == 0);
  for (std::size_t at = 0; at < some.size(); at += page) CHECK(some[at] == std::byte{0});
  unmap(some);
}

TEST_CASE("more at once than is remembered one by one") {
  const auto monitor = verbs::userfault_monitor::make();
  if (!monitor) return;
  const auto some = map(1000);
  REQUIRE(monitor->watch(address_range::of(some)));
  for (std::size_t at = 0; at < some.size(); at += 2 * page) {
    CHECK(::madvise(some.data() + at, page, MADV_DONTNEED) == 0);
  }
  const auto news = monitor->take();
  CHECK(news.is_all);
  CHECK(news.gone.front() == address_range::of(some.first(page)));
  CHECK(news.gone.back() == address_range::all());
  CHECK(monitor->take().gone.empty());
  unmap(some.first(page));
  CHECK(monitor->take().gone.size() == 1);
  unmap(some);
}

TEST_CASE("what is not watched any more is not told of") {
  const auto monitor = verbs::userfault_monitor::make();
  if (!monitor) return;
  const auto some = map(4);
  REQUIRE(monitor->watch(address_range::of(some)));
  monitor->unwatch(address_range::of(part(some, 2, 2)));
  unmap(part(some, 2, 2));
  CHECK(monitor->take().gone.empty());
  unmap(part(some, 0, 2));
  CHECK(monitor->take().gone.size() == 1);
}

// ---- children

TEST_CASE_FIXTURE(fixture, "a child gives back what it has inherited, and the parent keeps it") {
  if (!one.is_watching()) return;
  const auto some = map(4);
  one.hold(some);
  CHECK(child_ends([&] { unmap(some); }));
  CHECK(child_ends([&] { ::madvise(some.data(), some.size(), MADV_DONTNEED); }));
  CHECK(one.is_hit(some));
  unmap(some);
  map_again(some);
  CHECK_FALSE(one.is_hit(some));
  unmap(some);
}

TEST_CASE_FIXTURE(fixture, "a child that ends what it has inherited leaves the parent's") {
  if (!one.is_watching()) return;
  const auto some = map(4);
  one.hold(some);
  CHECK(child_ends([&] { one.end(); }));
  CHECK(one.is_hit(some));
  unmap(some);
  map_again(some);
  CHECK_FALSE(one.is_hit(some));
  unmap(some);
}

TEST_CASE_FIXTURE(fixture, "a child that has the descriptor holds nobody up after the end") {
  if (!one.is_watching()) return;
  const auto some = map(4);
  const auto grown = map(4);
  one.hold(some);
  one.hold(grown);
  void* const there = ::mremap(grown.data(), 4 * page, 64 * page, MREMAP_MAYMOVE);
  REQUIRE(there != MAP_FAILED);
  const pid_t child = ::fork();
  if (child == 0) {
    ::pause();
    ::_exit(0);
  }
  one.end();
  // In a thread, as nobody would be told otherwise.
  std::atomic<bool> is_done = false;
  std::thread other([&] {
    ::munmap(some.data(), some.size());
    ::munmap(static_cast<std::byte*>(there) + 32 * page, 32 * page);
    ::munmap(there, 32 * page);
    is_done = true;
  });
  const auto until = std::chrono::steady_clock::now() + 20s;
  while (!is_done && std::chrono::steady_clock::now() < until) std::this_thread::sleep_for(1ms);
  CHECK(is_done);
  ::kill(child, SIGKILL);
  ::waitpid(child, nullptr, 0);
  other.join();
}

TEST_CASE_FIXTURE(fixture, "another program gets no descriptor") {
  if (!one.is_watching()) return;
  int found = 0;
  for (const auto& each : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code none;
    const std::string what = std::filesystem::read_symlink(each.path(), none);
    if (what.find("userfaultfd") == what.npos) continue;
    ++found;
    CHECK((::fcntl(std::stoi(each.path().filename()), F_GETFD) & FD_CLOEXEC) != 0);
  }
  CHECK(found == 1);
}

TEST_CASE("it ends while others give memory back") {
  for (int turn = 0; turn < 50; ++turn) {
    fake_registrar by;
    watched_cache one(by);
    if (!one.is_watching()) return;
    std::vector<std::span<std::byte>> some;
    for (int i = 0; i < 20; ++i) some.push_back(map(2));
    for (const auto& each : some) one.hold(each);
    std::thread other([&] {
      for (const auto& each : some) unmap(each);
    });
    one.end();
    other.join();
  }
}

TEST_CASE("two at once have each their own memory") {
  fake_registrar by;
  watched_cache one(by);
  const auto some = map(4);
  const auto more = map(4);
  one.hold(some);
  {
    watched_cache other(by);
    if (!other.is_watching()) return;
    other.hold(more);
    CHECK(other.is_hit(more));
    other.hold(some);  // only one can watch it
    CHECK_FALSE(other.is_hit(some));
  }
  CHECK(one.is_hit(some));
  unmap(some);
  map_again(some);
  CHECK_FALSE(one.is_hit(some));  // the other has left it watched
  unmap(some);
  unmap(more);
}

}  // namespace
}  // namespace muster::testing
