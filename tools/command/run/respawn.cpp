#include "tools/command/run/respawn.hpp"

#include <signal.h>

#include <cstdio>
#include <cstdlib>
#include <exception>
#include <string>
#include <utility>

#include <muster/environment/environment.hpp>

#include "tools/command/run/hosts.hpp"
#include "tools/library/launcher/muster_run.hpp"
#include "transports/tcp/address.hpp"
#include "transports/tcp/socket.hpp"

namespace muster::launch {

respawn::respawn(std::size_t most, const share& of) : most_(most), first_(of.first) {
  // Those of a job in which this one runs.
  ::unsetenv(environment::respawn.name);
  ::unsetenv(environment::job.name);
  if (!is_on()) return;
  times_.resize(of.ranks);
  if (of.at) {
    at_ = *of.at;
  } else {
    tcp::listener door = tcp::listen_at(tcp::address::resolve("127.0.0.1", 0));
    at_.place = {
        .hosts = {door.at.host_text()}, .port = door.at.port(), .key = tcp::job_key::random()};
    at_.size = of.ranks;
    server_.emplace(std::move(door), at_.size, at_.place.key, at_.place.patience,
                    cluster::meets::only_again);
  }
  at_.machine = first_;
  at_.place.patience = muster::launcher::reunion::patience;
  key_ = file_of(at_.place.key);
}

bool respawn::takes(std::size_t local) noexcept {
  if (!is_on() || is_to_end_ || times_[local] == most_) return false;
  ++times_[local];
  return true;
}

void respawn::note(int signal) noexcept {
  is_to_end_ =
      is_to_end_ || signal == SIGINT || signal == SIGTERM || signal == SIGHUP || signal == SIGQUIT;
}

void respawn::tell_of_end(std::size_t local) const {
  if (!is_on()) return;
  try {
    cluster::rendezvous::tell_of_end(at_.place, first_ + local, at_.size);
  } catch (const std::exception& why) {
    std::fprintf(stderr, "muster run: nobody is told that rank %zu has ended: %s\n", first_ + local,
                 why.what());
  }
}

void respawn::add_to(process::plan& plan, std::size_t local) const {
  if (!is_on()) return;
  muster::launcher::reunion again{.at = at_, .started_again = was_started_again(local)};
  again.at.rank = first_ + local;
  plan.environment.push_back(environment::respawn.name +
                             ("=" + muster::launcher::text_for_reunion(again, key_.get())));
  plan.descriptors.push_back(key_.get());
}

}  // namespace muster::launch
