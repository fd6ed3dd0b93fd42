// How much of an alltoall of 1 MiB a block is hidden behind computing that takes as long, over
// links that are slower than the machine:
//
//   muster run --hosts-made 2 --link-rate 1gbit -n 2 overlap caller|thread [ROUNDS [LOOKS]]
//
// Once the program computes without a look at the operation, once it looks a hundred times. What
// each process computes while it only waits is said, too.

#include <sys/resource.h>

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/muster.hpp>

#include "tools/report/statistics.hpp"

namespace muster {
namespace {

using clock = std::chrono::steady_clock;
using milliseconds = std::chrono::duration<double, std::milli>;

/// What this process has computed, all its threads.
double computed_ms() {
  rusage used{};
  ::getrusage(RUSAGE_SELF, &used);
  const auto ms = [](const timeval& of) {
    return 1e3 * static_cast<double>(of.tv_sec) + static_cast<double>(of.tv_usec) / 1e3;
  };
  return ms(used.ru_utime) + ms(used.ru_stime);
}

constexpr std::size_t bytes = std::size_t{1} << 20;

/// One rank's part, and what it finds.
class measurement {
public:
  explicit measurement(team& of) : team_(of), sent_(bytes * of.size()), received_(sent_.size()) {}

  /// A call alone, the longest of all ranks'.
  double alone() {
    return longest([this] { begin().wait(); });
  }
  /// A call, and computing for so many milliseconds after it has begun, with so many looks at it.
  double with_computing(double compute, int looks) {
    return longest([&] {
      const auto begins = clock::now();
      auto call = begin();
      for (int i = 1; i <= looks; ++i) {
        spend_until(begins, compute * i / (looks + 1));
        call.ready();
      }
      spend_until(begins, compute);
      call.wait();
    });
  }
  /// The same number on all ranks.
  double agreed(double mine) const {
    std::array<double, 1> all = {mine};
    start(allreduce(team_, all, max)).wait();
    return all[0];
  }

private:
  future<> begin() {
    ++round_;
    for (std::size_t to = 0; to < team_.size(); ++to) sent_[to * bytes] = mark(team_.rank(), to);
    return start(alltoall(team_, sent_, received_));
  }
  template <class Call>
  double longest(const Call& call) {
    start(barrier(team_)).wait();
    const auto begins = clock::now();
    call();
    const double mine = milliseconds(clock::now() - begins).count();
    for (std::size_t from = 0; from < team_.size(); ++from) {
      if (received_[from * bytes] == mark(from, team_.rank())) continue;
      throw std::runtime_error("alltoall brought wrong data");
    }
    return agreed(mine);
  }
  std::byte mark(std::size_t from, std::size_t to) const {
    return static_cast<std::byte>(from * 16 + to + round_);
  }
  /// By the clock: where ranks share cores what another one takes is not made up for.
  static void spend_until(clock::time_point begins, double ends) {
    while (clock::now() < begins + milliseconds(ends)) {
    }
  }

  team& team_;
  std::size_t round_ = 0;
  std::vector<std::byte> sent_;
  std::vector<std::byte> received_;
};

void run(team& of, int rounds, int most_looks) {
  measurement my(of);
  my.alone();
  std::vector<double> alone;
  const auto begins = clock::now();
  const double before = computed_ms();
  for (int i = 0; i < rounds; ++i) alone.push_back(my.alone());
  const double share = (computed_ms() - before) / milliseconds(clock::now() - begins).count();
  const double most = my.agreed(share);
  const double call = bench::median(alone);
  std::array<std::vector<double>, 2> together;
  const std::array<int, 2> looks = {0, most_looks};
  for (int i = 0; i < rounds; ++i) {
    for (std::size_t how = 0; how < looks.size(); ++how) {
      together[how].push_back(my.with_computing(call, looks[how]));
    }
  }
  if (of.rank() != 0) return;
  std::printf("alltoall of 1 MiB, %zu ranks: %.1f ms alone, at most %.0f %% of a core computed\n",
              of.size(), call, 100 * most);
  for (std::size_t how = 0; how < looks.size(); ++how) {
    const double both = bench::median(together[how]);
    std::printf("with %.1f ms of computing and %d looks: %.1f ms, %.0f %% hidden\n", call,
                looks[how], both, 100 * (2 * call - both) / call);
  }
}

}  // namespace
}  // namespace muster

int main(int count, char** words) try {
  const std::span<char*> given(words, static_cast<std::size_t>(count));
  const auto number = [&](std::size_t at, int otherwise) {
    return given.size() > at ? std::atoi(given[at]) : otherwise;
  };
  const bool by_thread = given.size() > 1 && std::string_view(given[1]) == "thread";
  using enum muster::progress;
  muster::world world({.progress = by_thread ? thread : caller});
  muster::run(world.team(), number(2, 10), number(3, 100));
} catch (const std::exception& why) {
  std::fprintf(stderr, "%s\n", why.what());
  return 1;
}
