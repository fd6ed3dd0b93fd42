// What a rank of a job of very many costs: memory follows those that really talk to each other.

#include <doctest/doctest.h>
#include <sys/stat.h>

#include <memory>
#include <span>
#include <vector>

#include "transports/shm/fabric.hpp"
#include "transports/shm/job.hpp"

namespace muster::testing {
namespace {

constexpr std::size_t ranks = 1024;
constexpr std::size_t page = 4096;

/// Each on a node of its own, so that all goes through links.
shm::job job_of_many() {
  shm::job_options options;
  options.places.resize(ranks);
  for (std::size_t i = 0; i < ranks; ++i) options.places[i].node = static_cast<std::uint32_t>(i);
  options.one_process = true;
  options.arena_bytes = page;
  options.boards_bytes = page;
  options.link_bytes = 0;  // the least
  return shm::job::create(options);
}

/// Memory that stands behind what all ranks share.
std::size_t bytes_in_use(const shm::job& of) {
  struct stat found{};
  REQUIRE(::fstat(of.descriptors_for(0).front(), &found) == 0);
  return static_cast<std::size_t>(found.st_blocks) * 512;
}

void send_in_each_lane(shm::fabric& from, std::size_t to, std::size_t lanes) {
  const std::vector<std::byte> bytes(100);
  for (std::size_t lane = 0; lane < lanes; ++lane) {
    const wire::open_link out(from.links(), lane, to, wire::links::purpose::send);
    REQUIRE(out->has_room(bytes.size()));
    out->send({}, bytes);
  }
}

TEST_CASE("memory for links follows the pairs that talk, whatever their lanes") {
  const shm::job job = job_of_many();
  std::vector<std::unique_ptr<shm::fabric>> all;
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    all.push_back(std::make_unique<shm::fabric>(job, rank));
  }
  const std::size_t before = bytes_in_use(job);

  // A ring and its counters touch one page each, or two.
  send_in_each_lane(*all[1], 0, 8);
  CHECK(bytes_in_use(job) - before <= 4 * page);

  for (std::size_t rank = 2; rank < ranks; ++rank) send_in_each_lane(*all[rank], 0, 8);
  all[0]->source()->progress();
  const std::size_t each = sizeof(shm::ring) + job.ring_bytes();
  const std::size_t used = bytes_in_use(job) - before;
  MESSAGE("rank 0 heard from ", ranks - 1, " others: ", used, " bytes");
  CHECK(job.ring_bytes() == 4096);
  CHECK(used <= ranks * (each + page));
  CHECK(all[0]->footprint().links == ranks * each);

  // And nothing more when they go on.
  for (int round = 0; round < 20; ++round) {
    for (std::size_t lane = 0; lane < 8; ++lane) {
      const wire::open_link in(all[0]->links(), lane, 1, wire::links::purpose::receive);
      std::vector<std::byte> bytes(100);
      REQUIRE(in->holds(bytes.size()));
      in->take(bytes);
    }
    send_in_each_lane(*all[1], 0, 8);
    all[0]->source()->progress();
  }
  CHECK(bytes_in_use(job) - before <= used + 3 * page);
}

TEST_CASE("a job's memory before anybody says anything does not grow with the pairs") {
  const shm::job job = job_of_many();
  // Header, places, lines and marks of who watches: what making the job writes.
  CHECK(bytes_in_use(job) <= ranks * 512);
}

}  // namespace
}  // namespace muster::testing
