#include "tests/transports/mpi/message_threads.hpp"

#include <doctest/doctest.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>

#include "tests/transports/mpi/mailroom.hpp"
#include "tools/library/job_rank.hpp"
#include "transports/cluster/job.hpp"
#include "transports/cluster/network.hpp"
#include "transports/shm/job.hpp"
#include "transports/shm/measure.hpp"

namespace muster::testing {
namespace {

std::vector<place> places_of(const message_job& how) {
  std::vector<place> places(how.node_of.size());
  for (std::size_t i = 0; i < places.size(); ++i) {
    places[i].node = static_cast<std::uint32_t>(how.node_of[i]);
  }
  return places;
}

std::vector<cluster::job> machines_of(const std::vector<place>& places) {
  const shape all(places);
  muster::machine measured = shm::measure(shm::ranks_are::threads);
  measured.zero_copy_from = (std::size_t{32} << 10) + 1;
  measured.message_piece = std::min(measured.message_piece, std::size_t{32} << 10);
  std::vector<cluster::job> machines;
  for (std::size_t node = 0; node < all.nodes(); ++node) {
    shm::job_options options;
    options.places.resize(all.ranks_of(node).size());
    options.measured = measured;
    options.one_process = true;
    options.arena_bytes = std::size_t{64} << 20;
    machines.emplace_back(shm::job::create(options), places,
                          places[all.ranks_of(node).front()].node, measured);
  }
  return machines;
}

class first_failure {
public:
  void keep() {
    const std::lock_guard alone(lock_);
    if (!first_) first_ = std::current_exception();
  }
  void rethrow() const {
    if (first_) std::rethrow_exception(first_);
  }

private:
  std::mutex lock_;
  std::exception_ptr first_;
};

}  // namespace

void run_by_messages(const message_job& how, const std::function<void(team&)>& body) {
  const std::vector<place> places = places_of(how);
  const shape all(places);
  const std::vector<cluster::job> machines = machines_of(places);
  mailroom room(places.size(), how.eager, how.seed);
  first_failure failure;
  const auto run = [&](std::size_t rank) {
    const cluster::job& of = machines[all.node_of(rank)];
    const auto messenger = room.messenger_of(rank, of.here().bell(of.place_of(rank)));
    try {
      const auto made =
          make_job_rank(of, {rank, cluster::reach_by(rank, *messenger)}, {.of_world = {}});
      try {
        body(made->parts().team());
      } catch (const std::exception& why) {
        failure.keep();
        made->fail(why.what());
      }
    } catch (const std::exception&) {
      failure.keep();
    }
  };
  {
    std::vector<std::jthread> threads;
    for (std::size_t rank = 0; rank < places.size(); ++rank) threads.emplace_back(run, rank);
  }
  failure.rethrow();
  CHECK(room.leftovers() == 0);
}

}  // namespace muster::testing
