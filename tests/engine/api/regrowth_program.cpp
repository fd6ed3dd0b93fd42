// A rank of a job in which ranks fail and are started again: the others grow with them, and all go
// on where the one that is furthest is.
//
// usage: regrowth_program WHAT@ROUND…
//   RANK@ROUND        that rank is killed then
//   again-RANK@ROUND  the same once it has been started again, and has come in an earlier round
//   leaves-RANK@ROUND it ends well instead
//   late-RANK@ROUND   it never comes to that round
//   stillborn@FILE    the first process that makes the file ends before it joins
//   frail@FILE        a rank that was started again is killed before it has come back, one after 2
//                     ms, each next one after 1.15 times as long: the file has how many there were
//   poor@N            whoever is to grow may open only N more files at first
//   destitute@FILE    the first process started again that makes the file may open none

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/muster.hpp>

namespace {

constexpr int rounds = 12;

/// What the command line has the ranks do.
class script {
public:
  script(std::span<char*> words, bool is_new)
      : words_(words.begin(), words.end()), is_new_(is_new) {}

  void play(std::size_t rank, int round) const {
    if (has((is_new_ ? "again-" : "") + std::to_string(rank), round)) std::raise(SIGKILL);
    if (has("leaves-" + std::to_string(rank), round)) std::exit(0);
  }
  /// As "poor" says; nothing: as many as there are.
  std::optional<rlim_t> most_new_files() const {
    for (const std::string_view word : words_) {
      constexpr std::string_view poor = "poor@";
      if (word.starts_with(poor)) return std::stoul(std::string(word.substr(poor.size())));
    }
    return std::nullopt;
  }
  bool is_late(std::size_t rank, int round) const {
    return has("late-" + std::to_string(rank), round);
  }

private:
  bool has(const std::string& who, int round) const {
    return std::ranges::find(words_, who + "@" + std::to_string(round)) != words_.end();
  }

  std::vector<std::string> words_;
  bool is_new_;
};

void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "wrong %s\n", what);
  std::abort();
}

/// Whether this is the first process that makes the file which a word names, as in "WHAT@FILE".
bool is_first(std::span<char*> words, const std::string& what) {
  for (const std::string_view word : words) {
    if (!word.starts_with(what + "@")) continue;
    const std::string file(word.substr(what.size() + 1));
    const int made = ::open(file.c_str(), O_CREAT | O_EXCL, 0600);
    ::close(made);
    return made >= 0;
  }
  return false;
}

/// As "frail" says: sets the time at which this process is killed.
void fear_for_life(std::span<char*> words) {
  for (const std::string_view word : words) {
    constexpr std::string_view frail = "frail@";
    if (!word.starts_with(frail)) continue;
    const std::string file(word.substr(frail.size()));
    long before = 0;
    std::ifstream(file) >> before;
    std::ofstream(file) << before + 1;
    const auto us = static_cast<long>(2000 * std::pow(1.15, before));
    const itimerval death{.it_interval = {}, .it_value = {us / 1'000'000, us % 1'000'000}};
    ::setitimer(ITIMER_REAL, &death, nullptr);
  }
}

/// A short and a long collective, verified.
muster::task<> work(muster::team& all, int round) {
  const std::size_t size = all.size();
  const std::size_t sum = co_await muster::allreduce(all, all.rank() + 1, muster::sum);
  require(sum == size * (size + 1) / 2, "sum");
  constexpr std::size_t block = 3000;
  const std::vector<double> sent(size * block, static_cast<double>(all.rank()) + round);
  std::vector<double> received(size * block);
  co_await muster::alltoall(all, std::span(sent), std::span(received));
  for (std::size_t from = 0; from < size; ++from) {
    require(received[from * block + 17] == static_cast<double>(from) + round, "block");
  }
}

constexpr rlim_t plenty = 500;

/// While it lives the process can open so many files more, and no others.
class few_files {
public:
  explicit few_files(rlim_t more) {
    ::getrlimit(RLIMIT_NOFILE, &before_);
    const int next = ::dup(STDIN_FILENO);
    ::close(next);
    rlimit few = before_;
    few.rlim_cur = std::min(before_.rlim_cur, static_cast<rlim_t>(next) + more);
    ::setrlimit(RLIMIT_NOFILE, &few);
  }
  ~few_files() { ::setrlimit(RLIMIT_NOFILE, &before_); }
  few_files(const few_files&) = delete;
  few_files& operator=(const few_files&) = delete;

private:
  rlimit before_{};
};

void say_too_few(const muster::error& why) {
  const bool is_it = why.code() == muster::errc::bootstrap || why.code() == muster::errc::resource;
  require(is_it, why.what());
  std::printf("too few: %s\n", why.text().c_str());
}

/// Nothing: there were too few files.
muster::task<std::unique_ptr<muster::team>> grow_with(muster::team& old, rlim_t files) {
  std::unique_ptr<muster::team> made;
  const few_files meanwhile(files);
  try {
    made = co_await muster::grow(old);
  } catch (const muster::error& why) {
    say_too_few(why);
  }
  co_return made;
}

using clock = std::chrono::steady_clock;

/// How far a rank has come.
struct standing {
  int round = 0;
  clock::time_point goes_on;  ///< with the first collective of its team over
};

muster::task<> rounds_from(muster::team& all, standing& at, const script& what) {
  const int came_in = co_await muster::allreduce(all, at.round, muster::max);
  at = {.round = came_in, .goes_on = clock::now()};
  for (; at.round < rounds; ++at.round) {
    if (at.round != came_in) what.play(all.rank(), at.round);
    if (what.is_late(all.rank(), at.round)) {  // waits for what nobody sends
      int never = 0;
      co_await all.receive(0, 1, std::span(&never, 1));
    }
    co_await work(all, at.round);
  }
}

muster::task<> program(muster::team& first, bool is_new, const script& what) {
  std::unique_ptr<muster::team> grown;
  standing at;
  int grew = 0;
  clock::time_point failed{};
  while (true) {
    muster::team& now = grown ? *grown : first;
    std::optional<muster::error> failure;
    try {
      co_await rounds_from(now, at, what);
    } catch (const muster::error& why) {
      failure = why;
    }
    if (!failure) break;
    failed = clock::now();
    std::unique_ptr<muster::team> next;
    if (const auto few = what.most_new_files()) {
      next = co_await grow_with(now, *few);
      for (int i = 0; !next && i < 10; ++i) next = co_await grow_with(now, plenty);
      require(next != nullptr, "want of files");
    } else {
      next = co_await muster::grow(now);
    }
    grown = std::move(next);
    require(grown->size() == first.size() && grown->rank() == first.rank(), "place");
    ++grew;
  }
  std::printf("rank %zu of %zu: %s, %d rounds, grew %d times", first.rank(), first.size(),
              is_new ? "new" : "old", at.round, grew);
  const std::chrono::duration<double, std::milli> took = at.goes_on - failed;
  if (grew != 0) std::printf(", went on %.1f ms after the last failure", took.count());
  std::printf("\n");
}

}  // namespace

int main(int argc, char** argv) try {
  const std::span words(argv, static_cast<std::size_t>(argc));
  if (is_first(words, "stillborn")) return 1;
  std::optional<few_files> none;
  if (muster::world::is_to_rejoin()) {
    fear_for_life(words);
    if (is_first(words, "destitute")) none.emplace(0);
  }
  std::unique_ptr<muster::world> world = muster::world::rejoin();
  const itimerval never{};
  ::setitimer(ITIMER_REAL, &never, nullptr);
  const bool is_new = world != nullptr;
  if (!is_new) world = std::make_unique<muster::world>();
  const script what(words, is_new);
  world->run(program(world->team(), is_new, what));
} catch (const muster::error& why) {
  std::fprintf(stderr, "ended: %s\n", why.text().c_str());
  return 3;
}
