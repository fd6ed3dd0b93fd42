// Says of each thread of this rank on which processors it may run, while the rank's world is there,
// and whether an operation goes on by itself.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include <muster/muster.hpp>

namespace {

std::vector<std::string> processors_of_threads() {
  std::vector<std::string> all;
  for (const auto& thread : std::filesystem::directory_iterator("/proc/self/task")) {
    std::ifstream status(thread.path() / "status");
    const std::string name = "Cpus_allowed_list:\t";
    for (std::string line; std::getline(status, line);) {
      if (line.starts_with(name)) all.push_back(line.substr(name.size()));
    }
  }
  std::ranges::sort(all);
  return all;
}

/// Whether it ends while nobody asks.
bool goes_on(muster::team& team) {
  auto sum = muster::start(muster::allreduce(team, 1, muster::sum));
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const bool ended = sum.ended();
  return sum.wait() == static_cast<int>(team.size()) && ended;
}

}  // namespace

int main() {
  muster::world world;
  const bool by_itself = goes_on(world.team());
  std::string text;
  for (const std::string& each : processors_of_threads()) text += " " + each;
  std::printf("rank %zu:%s; %s\n", world.team().rank(), text.c_str(),
              !world.engine().has_own_thread() ? "goes on in calls"
              : by_itself                      ? "goes on by itself"
                                               : "does not go on");
  muster::start(muster::barrier(world.team())).wait();
}
