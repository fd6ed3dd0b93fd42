#include "transports/shm/segment.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cinttypes>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <utility>

#include <muster/base/error.hpp>

#include "tests/harness/failure.hpp"

namespace muster::testing {
namespace {

TEST_CASE("a new segment is zero, and the same memory under another descriptor") {
  const shm::segment made = shm::segment::create("test", 10'000);
  REQUIRE(made.bytes() == 10'000);
  CHECK(std::all_of(made.base(), made.base() + made.bytes(),
                    [](std::byte each) { return each == std::byte{0}; }));
  const shm::segment same = shm::segment::attach(descriptor(::dup(made.descriptor())));
  CHECK(same.bytes() == made.bytes());
  CHECK(same.base() != made.base());
  made.base()[9'999] = std::byte{7};
  CHECK(same.base()[9'999] == std::byte{7});
}

TEST_CASE("another process writes what this one reads") {
  const shm::segment made = shm::segment::create("test", 4096);
  const pid_t child = ::fork();
  if (child == 0) {
    made.base()[1] = std::byte{9};
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  CHECK(made.base()[1] == std::byte{9});
}

TEST_CASE("segments move") {
  shm::segment first = shm::segment::create("test", 4096);
  std::byte* base = first.base();
  shm::segment second = std::move(first);
  CHECK(second.base() == base);
  shm::segment third;
  third = std::move(second);
  CHECK(third.base() == base);
  CHECK(third.bytes() == 4096);
}

TEST_CASE("no name of it is left in the file system, nor its descriptor") {
  int descriptor = -1;
  {
    const shm::segment made = shm::segment::create("muster-segment-test", 4096);
    descriptor = made.descriptor();
    for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) {
      CHECK(entry.path().string().find("muster-segment-test") == std::string::npos);
    }
  }
  CHECK(::fcntl(descriptor, F_GETFD) == -1);
}

/// The line of /proc/self/smaps that tells of the mapping with `address` how the kernel treats it.
std::string flags_of_mapping(const std::byte* address) {
  std::ifstream smaps("/proc/self/smaps");
  bool is_it = false;
  for (std::string line; std::getline(smaps, line);) {
    std::uintptr_t begin = 0;
    std::uintptr_t end = 0;
    if (std::sscanf(line.c_str(), "%" SCNxPTR "-%" SCNxPTR " ", &begin, &end) == 2) {
      const auto number = reinterpret_cast<std::uintptr_t>(address);
      is_it = begin <= number && number < end;
    }
    if (is_it && line.starts_with("VmFlags:")) return line + ' ';
  }
  return {};
}

TEST_CASE("a core dump leaves it out") {
  const shm::segment made = shm::segment::create("test", 10'000);
  const shm::segment same = shm::segment::attach(descriptor(::dup(made.descriptor())));
  for (const std::byte* base : {made.base(), same.base()}) {
    const std::string flags = flags_of_mapping(base);
    CHECK(flags.find(" sh ") != std::string::npos);
    CHECK(flags.find(" dd ") != std::string::npos);
  }
}

TEST_CASE("a part becomes zero, and nothing beside it changes") {
  constexpr std::size_t page = 4096;
  constexpr std::size_t pages = 1000;
  const shm::segment made = shm::segment::create("test", pages * page);
  const std::span<std::byte> all(made.base(), made.bytes());
  const std::span<std::byte> part = all.subspan(page / 2, (pages - 1) * page);
  for (const std::size_t step : {pages, pages / 3, std::size_t{2}, std::size_t{1}}) {
    for (std::size_t i = 0; i < pages; i += step) all[i * page + page - 1] = std::byte{1};
    all.front() = std::byte{2};
    all.back() = std::byte{3};
    made.clear(part);
    CHECK(std::ranges::all_of(part, [](std::byte each) { return each == std::byte{0}; }));
    CHECK(all.front() == std::byte{2});
    CHECK(all.back() == std::byte{3});
  }
}

TEST_CASE("few pages of a part that becomes zero stay, many are given back") {
  constexpr std::size_t page = 4096;
  const auto held_of = [](std::size_t pages) {
    const shm::segment made = shm::segment::create("test", 1000 * page);
    std::fill_n(made.base(), pages * page, std::byte{1});
    made.clear({made.base(), made.bytes()});
    struct stat status{};
    REQUIRE(::fstat(made.descriptor(), &status) == 0);
    return static_cast<std::size_t>(status.st_blocks) * 512 / page;
  };
  constexpr std::size_t few = (256 << 10) / page;
  CHECK(held_of(5) == 5);
  CHECK(held_of(few) == few);
  CHECK(held_of(few + 1) == 0);
  CHECK(held_of(1000) == 0);
}

TEST_CASE("more than there can be is refused") {
  const auto why = failure_of([] { (void)shm::segment::create("test", std::size_t{1} << 62); });
  REQUIRE(why);
  CHECK(why->code() == errc::resource);
  CHECK(std::string(why->what()).find(std::to_string(std::size_t{1} << 62)) != std::string::npos);
}

TEST_CASE("what is no segment is refused") {
  int ends[2];
  REQUIRE(::pipe(ends) == 0);
  for (const int number : {ends[0], ends[1], -1, 9999}) {
    const auto why = failure_of([number] { (void)shm::segment::attach(descriptor(number)); });
    REQUIRE(why);
    CHECK(why->code() == errc::bootstrap);
    CHECK(::fcntl(number, F_GETFD) == -1);
  }
}

}  // namespace
}  // namespace muster::testing
