// What comes of a case, and whether it may.

#include <stdexcept>

#include "algos/catalog.hpp"
#include "tests/search/case.hpp"
#include "tests/search/survivor.hpp"
#include "transports/sim/trace.hpp"

namespace muster::testing {
namespace {

/// What ranks say; outlives the simulation, whose coroutines may end with it.
struct account {
  findings found;
  survivors seen;
};

/// Runs the case; its failures stay in `all`.
void run(const random_case& of, sim::simulation& all, account& of_all) {
  try {
    all.run([&](sim::rank& me) { return live(of, all, me, of_all.seen, of_all.found); });
  } catch (const std::runtime_error& why) {
    of_all.found.add(why.what());
  }
  of_all.seen.check(all, of_all.found);
}

}  // namespace

std::string run_case(const random_case& of, sim::defect planted) {
  constexpr std::uint64_t too_many_events = 20'000'000;
  sim::options options = of.in.options;
  options.defect = planted;
  options.progress = [](std::uint64_t events) {
    if (events > too_many_events) throw std::runtime_error("it goes on and on");
  };
  account of_all{{}, survivors(of.ranks)};
  sim::simulation all(of.in.model, algos::catalog(), options);
  run(of, all, of_all);
  return of_all.found.take();
}

std::string history_of(const random_case& of) {
  sim::trace trace;
  sim::options options = of.in.options;
  options.trace = &trace;
  account of_all{{}, survivors(of.ranks)};
  sim::simulation all(of.in.model, algos::catalog(), options);
  run(of, all, of_all);
  std::string text = trace.to_json(all.shape()) + of_all.found.take();
  for (std::size_t i = 0; i < all.size(); ++i) text += text_of(all.rank_at(i).failure()) + "\n";
  return text + std::to_string(all.events()) + " events";
}

}  // namespace muster::testing
