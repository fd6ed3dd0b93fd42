#include "tools/mpi/guests.hpp"

#include <doctest/doctest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

namespace {

using muster::mpi::guests;

struct host {
  ~host() { is_there = false; }
  std::atomic<bool> is_there{true};
};

TEST_CASE("who is with a host holds up its end, and nobody comes after it") {
  for (int round = 0; round < 20; ++round) {
    guests<host> all;
    std::atomic<host*> at{new host};
    std::atomic<bool> ends{false};
    std::atomic<int> visits{0};
    std::atomic<int> late{0};
    std::vector<std::jthread> threads;
    for (int i = 0; i < 3; ++i) {
      threads.emplace_back([&] {
        while (!ends) {
          all.visit(at, [&](host& one) {
            ++visits;
            std::this_thread::yield();
            if (!one.is_there) ++late;
          });
        }
      });
    }
    while (visits < 3) std::this_thread::yield();
    std::unique_ptr<host>(all.dismiss(at)).reset();
    const int before = visits;
    std::this_thread::yield();
    CHECK(visits == before);
    CHECK(late == 0);
    ends = true;
  }
}

TEST_CASE("where there is no host nobody is waited for") {
  guests<host> all;
  std::atomic<host*> at{nullptr};
  bool was_there = false;
  all.visit(at, [&](host&) { was_there = true; });
  CHECK_FALSE(was_there);
  CHECK(all.dismiss(at) == nullptr);
}

}  // namespace
