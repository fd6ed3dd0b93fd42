#include "tools/mpi/settings.hpp"

#include <doctest/doctest.h>

#include <string>

#include <muster/base/error.hpp>

namespace muster::mpi {
namespace {

std::string complaint_of(void (*read)(settings&, std::string_view), std::string_view text) {
  settings some;
  try {
    read(some, text);
  } catch (const error& why) {
    return why.text();
  }
  return {};
}

TEST_CASE("settings: what is enabled is taken, and nothing else") {
  settings some;
  enable(some, "alltoall,ialltoall,bcast_init");
  CHECK(some.takes(routine_of(collective::alltoall), form::blocking));
  CHECK(some.takes(routine_of(collective::alltoall), form::nonblocking));
  CHECK(some.takes(routine_of(collective::bcast), form::persistent));
  CHECK_FALSE(some.takes(routine_of(collective::bcast), form::blocking));
  CHECK_FALSE(some.takes(routine_of(collective::alltoallv), form::blocking));
  enable(some, "neighbor_alltoallw,ineighbor_alltoallv,neighbor_allgather_init");
  CHECK(some.takes(neighbor_alltoallw, form::blocking));
  CHECK(some.takes(routine_of(collective::neighbor_alltoallv), form::nonblocking));
  CHECK(some.takes(routine_of(collective::neighbor_allgather), form::persistent));
  CHECK_FALSE(some.takes(alltoallw, form::blocking));
  enable(some, "none");
  CHECK_FALSE(some.takes_anything());
}

TEST_CASE("settings: a name that is none is refused, and said") {
  const std::string text = complaint_of(enable, "alltoall,alltoal");
  CHECK(text.find("MUSTER_ENABLE: 'alltoal'") != std::string::npos);
  CHECK(text.find("expected") != std::string::npos);
  CHECK(complaint_of(enable, "bcast,") == "");
  CHECK(complaint_of(enable, ",bcast") != "");
}

TEST_CASE("settings: who drives") {
  settings some;
  const int usable = ::sched_getcpu();
  choose_progress(some, "thread:core=" + std::to_string(usable));
  CHECK(some.progress.who == progress_choice::by::thread);
  CHECK(some.progress.processor == usable);
  choose_progress(some, "thread:spare");
  CHECK(some.progress.place == thread_place::spare);
  choose_progress(some, "auto");
  CHECK(some.progress.who == progress_choice::by::automatic);
  for (const char* wrong :
       {"thread:core=", "thread:core=x", "thread:core=-1", "thread:core=9999", "threads", ""}) {
    CAPTURE(wrong);
    CHECK(complaint_of(choose_progress, wrong).find("MUSTER_PROGRESS") != std::string::npos);
  }
}

TEST_CASE("settings: how ranks of different machines reach each other") {
  settings some;
  CHECK(some.net == between_machines::mpi);
  choose_net(some, "tcp");
  CHECK(some.net == between_machines::tcp);
  choose_net(some, "leave");
  CHECK(some.net == between_machines::leave);
  CHECK(complaint_of(choose_net, "udp") ==
        "MUSTER_NET: 'udp' is unknown; expected mpi, tcp, verbs or leave");
}

}  // namespace
}  // namespace muster::mpi
