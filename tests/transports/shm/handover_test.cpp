// Descriptors from one socket to the other, and what can go wrong.

#include "transports/shm/handover.hpp"

#include <doctest/doctest.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include <muster/progress/engine.hpp>

#include "tests/harness/failure.hpp"

namespace muster::testing {
namespace {

using shm::handover;

handover::clock::time_point soon() { return handover::clock::now() + std::chrono::seconds(10); }
handover::clock::time_point at_once() {
  return handover::clock::now() + std::chrono::milliseconds(20);
}

/// Two ends in one process: rank 1 is the one that listened.
struct both_ends {
  shm::listener door{1};
  handover rank_1 = handover::connect(door.name(), 1, soon());
  handover rank_2{std::move(*door.next(soon())), 2};
};

bool is_rung(int bell) {
  pollfd entry{.fd = bell, .events = POLLIN, .revents = 0};
  return ::poll(&entry, 1, 0) == 1;
}

TEST_CASE("any number of descriptors, in order, closed when a program is run") {
  const both_ends between;
  const doorbell silent;
  const doorbell rung;
  rung.ring();
  for (const std::size_t count : {1, 2, 252, 253, 254, 506, 507, 700}) {
    INFO(count, " descriptors");
    std::vector<int> all(count, silent.descriptor());
    all.back() = rung.descriptor();
    between.rank_2.send_descriptors(all, soon());
    const std::vector<descriptor> got = between.rank_1.receive_descriptors(soon());
    REQUIRE(got.size() == count);
    for (std::size_t i = 0; i < count; ++i) {
      CHECK((::fcntl(got[i].get(), F_GETFD) & FD_CLOEXEC) != 0);
      CHECK(is_rung(got[i].get()) == (i + 1 == count));
    }
  }
}

TEST_CASE("a message, and who is at the other end") {
  const both_ends between;
  const std::array<std::byte, 3> sent{std::byte{1}, std::byte{2}, std::byte{3}};
  between.rank_1.send(sent, soon());
  std::array<std::byte, 3> got{};
  between.rank_2.receive(got, soon());
  CHECK(got == sent);
  CHECK(between.rank_1.peer().pid == ::getpid());
  CHECK(between.rank_1.peer().uid == ::geteuid());
}

TEST_CASE("names differ") { CHECK(shm::listener(1).name() != shm::listener(1).name()); }

TEST_CASE("nobody comes: that is known in time") {
  const shm::listener door(1);
  CHECK_FALSE(door.next(at_once()));
}

void check_blamed(std::size_t rank, const std::optional<error>& why, errc code = errc::bootstrap) {
  REQUIRE(why);
  CHECK(why->code() == code);
  CHECK(why->rank() == rank);
}

TEST_CASE("nobody listens") {
  const std::string name = shm::listener(1).name();
  check_blamed(1, failure_of([&] { (void)handover::connect(name, 1, soon()); }), errc::rank_left);
}

TEST_CASE("silence, too little, and the end are the other's fault") {
  both_ends between;
  std::array<std::byte, 8> message{};
  const auto receive = [&] { between.rank_1.receive(message, at_once()); };
  const auto receive_descriptors = [&] { (void)between.rank_1.receive_descriptors(at_once()); };
  check_blamed(1, failure_of(receive));
  check_blamed(1, failure_of(receive_descriptors));
  between.rank_2.send(std::span(message).first(7), soon());
  check_blamed(1, failure_of(receive));
  between.rank_2.send(std::span(message).first(7), soon());
  check_blamed(1, failure_of(receive_descriptors));
  {
    const handover gone = std::move(between.rank_2);
  }
  check_blamed(1, failure_of(receive), errc::rank_left);
  check_blamed(1, failure_of(receive_descriptors), errc::rank_left);
  check_blamed(1, failure_of([&] { between.rank_1.send(message, at_once()); }), errc::rank_left);
}

TEST_CASE("who takes nothing is not waited for any longer than that") {
  const both_ends between;
  const std::vector<std::byte> message(4096);
  check_blamed(1, failure_of([&] {
                 for (int i = 0; i < 10'000; ++i) between.rank_1.send(message, at_once());
               }));
}

TEST_CASE("more descriptors than a process may have") {
  const both_ends between;
  const doorbell bell;
  between.rank_2.send_descriptors(std::vector<int>(50, bell.descriptor()), soon());
  rlimit before{};
  ::getrlimit(RLIMIT_NOFILE, &before);
  const int highest = ::dup(bell.descriptor());
  const rlimit few{static_cast<rlim_t>(highest) + 20, before.rlim_max};
  ::setrlimit(RLIMIT_NOFILE, &few);
  const auto why = failure_of([&] { (void)between.rank_1.receive_descriptors(soon()); });
  ::setrlimit(RLIMIT_NOFILE, &before);
  check_blamed(no_rank, why);
  CHECK(why->text().find("ulimit -n") != std::string::npos);
  const int after = ::dup(bell.descriptor());
  CHECK(after == highest + 1);  // those that came are closed again
  ::close(after);
  ::close(highest);
}

}  // namespace
}  // namespace muster::testing
