// Algorithms and their options, chosen by hand.

#include <doctest/doctest.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <muster/muster.hpp>

#include "tests/harness/failure.hpp"
#include "tests/support/says.hpp"
#include "tools/conformance/watchdog.hpp"

namespace muster::testing {
namespace {

using namespace std::chrono_literals;

const thread_options two_nodes = {.node_of = {0, 0, 1}};

/// An alltoall of one number a block, which says whom it comes from and for whom it is.
struct numbers {
  team& of;
  std::vector<std::size_t> given = std::vector<std::size_t>(of.size());
  std::vector<std::size_t> taken = std::vector<std::size_t>(of.size());

  explicit numbers(team& of) : of(of) {
    for (std::size_t to = 0; to < of.size(); ++to) given[to] = 100 * of.rank() + to;
  }
  task<> exchange() { return alltoall(of, given, taken); }
  /// Whether all have come; forgets them.
  bool came() {
    bool all = true;
    for (std::size_t from = 0; from < of.size(); ++from) {
      all = all && taken[from] == 100 * from + of.rank();
    }
    taken.assign(of.size(), 0);
    return all;
  }
};

arguments exchange_call() {
  arguments call;
  call.what = collective::alltoall;
  call.type = datatype::uint64;
  call.count = 1;
  return call;
}

std::string refusal(team& of, collective what, std::string_view choice) {
  const auto why = failure_of([&] { of.choose(what, choice); });
  REQUIRE(why);
  CHECK(why->code() == errc::invalid_argument);
  return why->text();
}

TEST_CASE("an id that is unknown: the error names those there are") {
  run_threads(1, [](team& of) {
    for (const auto* const text : {"quantum", "quantum:ports=2", " bruck", "bruck "}) {
      const std::string why = refusal(of, collective::alltoall, text);
      CHECK(says(why, "alltoall"));
      for (const auto* const id : {"pairwise", "direct", "bruck"}) CHECK(says(why, id));
    }
    CHECK(says(refusal(of, collective::alltoall, "quantum:ports=2"), "'quantum'"));
    CHECK(failure_of([&] { static_cast<void>(of.selector().find(collective::barrier, "bruck")); }));
  });
}

TEST_CASE("options are read") {
  run_threads(1, [](team& of) {
    const choice plain = of.selector().find(collective::alltoall, "bruck");
    CHECK(plain.row->id == "bruck");
    CHECK(plain.how == tuning{});
    CHECK(of.selector().find(collective::alltoall, "bruck:ports=2").how == tuning{.ports = 2});
    CHECK(of.selector().find(collective::alltoall, "bruck:ports=255").how == tuning{.ports = 255});
  });
}

TEST_CASE("an option that an algorithm has not is refused and named") {
  run_threads(1, [](team& of) {
    std::string why = refusal(of, collective::alltoall, "pairwise:ports=2");
    CHECK(says(why, "'pairwise'"));
    CHECK(says(why, "'ports=2'"));
    CHECK(says(why, "expected: none"));
    why = refusal(of, collective::alltoall, "bruck:groups=2");
    CHECK(says(why, "'groups=2'"));
    CHECK(says(why, "ports=1 to 255"));
    why = refusal(of, collective::alltoall, "bruck:ports=2,colour=red");
    CHECK(says(why, "colour=red"));
  });
}

TEST_CASE("a value that an option cannot have is refused") {
  run_threads(1, [](team& of) {
    for (const auto* const option : {"ports=0", "ports=x", "ports=256", "ports=-1", "ports=2x",
                                     "ports= 2", "ports=", "ports", "ports=2.0", "=2"}) {
      const std::string why = refusal(of, collective::alltoall, std::string("bruck:") + option);
      CHECK(says(why, std::string("'") + option + "'"));
      CHECK(says(why, "ports=1 to 255"));
    }
  });
}

TEST_CASE("a refused choice leaves the one before") {
  run_threads(2, [](team& of) {
    of.choose(collective::alltoall, "bruck:ports=2");
    refusal(of, collective::alltoall, "quantum");
    refusal(of, collective::alltoall, "direct:ports=0");
    CHECK(chosen_algorithm(of, exchange_call()) == "bruck");
    of.choose(collective::alltoall, {});
    CHECK(chosen_algorithm(of, exchange_call()) != "bruck");
  });
}

TEST_CASE("an algorithm that does not suit: the error names those that do") {
  run_threads(
      3,
      [](team& of) {
        numbers all(of);
        of.choose(collective::alltoall, "flat");  // for one node only
        auto why = failure_of([&] { start(all.exchange()).wait(); });
        REQUIRE(why);
        CHECK(why->code() == errc::invalid_argument);
        CHECK(says(why->text(), "'flat'"));
        for (const auto* const id : {"pairwise", "direct", "bruck"}) CHECK(says(why->text(), id));
        CHECK_FALSE(says(why->text(), "flat_long"));
        of.choose(collective::alltoall, {});
        why = failure_of([&] { start(by("flat_long", all.exchange())).wait(); });
        REQUIRE(why);
        CHECK(why->code() == errc::invalid_argument);
        CHECK(says(why->text(), "'flat_long'"));
        start(all.exchange()).wait();  // the team is whole
        CHECK(all.came());
      },
      two_nodes);
}

/// How two ranks fail whose choices differ.
std::array<std::optional<error>, 2> outcomes_of(const std::array<const char*, 2>& choices,
                                                const thread_options& options) {
  std::array<std::optional<error>, 2> outcomes;
  run_threads(
      2,
      [&](team& of) {
        numbers all(of);
        of.choose(collective::alltoall, choices[of.rank()]);
        outcomes[of.rank()] = failure_of([&] {
          start(of.engine(), with_timeout(5s, all.exchange())).wait();
          start(of.engine(), with_timeout(5s, barrier(of))).wait();
        });
      },
      options);
  return outcomes;
}

TEST_CASE("ranks that choose differently are told of both choices") {
  const watchdog alive("different choices");
  const std::array<std::array<const char*, 2>, 3> pairs = {{{"bruck:ports=2", "bruck:ports=3"},
                                                            {"direct", "pairwise"},
                                                            {"pap_direct:ports=1", "direct"}}};
  for (const auto& choices : pairs) {
    for (const thread_options& options : {thread_options{}, thread_options{.node_of = {0, 1}}}) {
      for (const auto& why : outcomes_of(choices, options)) {
        REQUIRE(why);
        CHECK(why->code() == errc::mismatched_call);
        for (const auto* const choice : choices) CHECK(says(why->text(), choice));
      }
    }
  }
}

TEST_CASE("a choice for one call leaves the team's as it was") {
  run_threads(
      3,
      [](team& of) {
        numbers all(of);
        of.choose(collective::alltoall, "direct:ports=2");
        for (const auto* const once : {"bruck:ports=2", "pairwise", "direct:ports=1"}) {
          start(by(once, all.exchange())).wait();
          CHECK(all.came());
          CHECK(chosen_algorithm(of, exchange_call()) == "direct");
          start(all.exchange()).wait();
          CHECK(all.came());
        }
      },
      two_nodes);
}

TEST_CASE("a choice for one call is the one that runs") {
  const watchdog alive("by hand on one rank");
  std::array<std::optional<error>, 2> outcomes;
  run_threads(2, [&](team& of) {
    numbers all(of);
    of.choose(collective::alltoall, "direct");
    outcomes[of.rank()] = failure_of([&] {
      // Had it no effect, these would be the same call.
      task<> call = of.rank() == 0 ? by("bruck", all.exchange()) : all.exchange();
      start(of.engine(), with_timeout(5s, std::move(call))).wait();
      start(of.engine(), with_timeout(5s, barrier(of))).wait();
    });
  });
  for (const auto& why : outcomes) {
    REQUIRE(why);
    CHECK(why->code() == errc::mismatched_call);
    CHECK(says(why->text(), "by bruck"));
    CHECK(says(why->text(), "by direct"));
  }
}

TEST_CASE("a wrong choice for one call is refused at once") {
  run_threads(1, [](team& of) {
    numbers all(of);
    for (const auto* const text : {"quantum", "bruck:ports=0", "pairwise:ports=2", ""}) {
      const auto why = failure_of([&] { static_cast<void>(by(text, all.exchange())); });
      REQUIRE(why);
      CHECK(why->code() == errc::invalid_argument);
    }
  });
}

TEST_CASE("only a collective can be run by an algorithm") {
  run_threads(1, [](team& of) {
    const auto something = [](team& on) -> task<> { co_await barrier(on); };
    const auto why = failure_of([&] { static_cast<void>(by("srm", something(of))); });
    REQUIRE(why);
    CHECK(why->code() == errc::invalid_argument);
    CHECK(says(why->text(), "by: the task is not a collective's own"));
    CHECK(failure_of([] { static_cast<void>(by("srm", task<>())); }));
    plan meet(barrier(of));
    CHECK(failure_of([&] { static_cast<void>(by("srm", meet.run())); }));
    start(meet.run()).wait();
  });
}

TEST_CASE("a plan keeps the choice for its call") {
  run_threads(
      3,
      [](team& of) {
        numbers all(of);
        plan exchange(by("bruck:ports=2", all.exchange()));
        for (int round = 0; round < 20; ++round) {
          of.choose(collective::alltoall, round % 2 == 0 ? "pairwise" : "direct");
          // A rank without the plan makes the same choice call by call.
          if (of.rank() == 1) {
            start(by("bruck:ports=2", all.exchange())).wait();
          } else {
            start(exchange.run()).wait();
          }
          CHECK(all.came());
        }
      },
      two_nodes);
}

TEST_CASE("the environment chooses with options") {
  ::setenv("MUSTER_ALLTOALL", "bruck:ports=2", 1);
  run_threads(2, [](team& of) {
    CHECK(chosen_algorithm(of, exchange_call()) == "bruck");
    CHECK(of.selector().select(exchange_call()).how == tuning{.ports = 2});
    numbers all(of);
    start(all.exchange()).wait();
    CHECK(all.came());
    // It chose before, so that a program may choose again.
    of.choose(collective::alltoall, "direct");
    choose_from_environment(of);
    CHECK(of.selector().select(exchange_call()).how == tuning{.ports = 2});
  });
  ::setenv("MUSTER_ALLTOALL", "bruck:ports=none", 1);
  const auto why = failure_of([] { run_threads(1, [](team&) {}); });
  ::unsetenv("MUSTER_ALLTOALL");
  REQUIRE(why);
  CHECK(why->code() == errc::invalid_argument);
  CHECK(says(why->text(), "'ports=none'"));
}

}  // namespace
}  // namespace muster::testing
