#include "tests/soak/job.hpp"

#include <string_view>

namespace muster::testing {

soak_job make_job(std::uint64_t seed) {
  random_stream random(seed);
  soak_job job;
  job.seed = seed;
  job.ranks = 2 + random.below(8);
  job.nodes = random.one_in(2) ? 1 : 1 + random.below(job.ranks);
  constexpr std::size_t kernel_copies_from[] = {0, 0, 4096, 100'000};
  job.kernel_copies_from = kernel_copies_from[random.below(4)];
  job.rounds = 10 + random.below(60);
  job.passes = 3 + random.below(4);
  if (random.one_in(5)) job.limit = std::chrono::microseconds(100 + random.below(30'000));
  return job;
}

namespace {

soak_team make_team(random_stream& random, std::size_t before) {
  soak_team made;
  made.how = static_cast<soak_team::making>(random.below(3));
  made.from = random.below(before + 1);
  made.seed = random.next();
  made.calls = 1 + random.below(20);
  made.largest_count = random.one_in(3) ? 5000 : 100;
  return made;
}

std::string_view name(soak_team::making how) {
  constexpr std::string_view names[] = {"split", "duplicate", "subset"};
  return names[static_cast<std::size_t>(how)];
}

}  // namespace

soak_round make_round(const soak_job& of, std::size_t index) {
  struct mixture {
    std::size_t calls;
    std::size_t largest_count;
  };
  // More short ones than there are lanes; some of all lengths; a few long ones.
  constexpr mixture mixtures[] = {
      {3 * wire::lanes, 40}, {3 * wire::lanes, 40}, {20, 5000}, {20, 5000}, {20, 500},
      {4, 100'000}};
  random_stream random(derive(of.seed, index));
  const mixture& chosen = mixtures[random.below(std::size(mixtures))];
  soak_round round;
  round.calls =
      random_calls(random.next(), of.ranks, 1 + random.below(chosen.calls), chosen.largest_count);
  round.how = random_conduct(random);
  round.how.limit = of.limit;
  if (random.one_in(3)) round.how.runs = 2 + random.below(3);
  const std::size_t teams = random.one_in(3) ? 1 + random.below(4) : 0;
  for (std::size_t i = 0; i < teams; ++i) round.teams.push_back(make_team(random, i));
  return round;
}

std::size_t calls_of(const soak_job& job) {
  std::size_t calls = 0;
  for (std::size_t i = 0; i < job.rounds; ++i) {
    const soak_round round = make_round(job, i);
    calls += round.calls.size() * round.how.runs;
  }
  return calls * job.passes;
}

std::string describe(const soak_job& job) {
  std::string text = "job " + std::to_string(job.seed) + ": " + std::to_string(job.ranks) +
                     " ranks on " + std::to_string(job.nodes) + " nodes, " +
                     std::to_string(job.passes) + " times " + std::to_string(job.rounds) +
                     " rounds";
  if (job.kernel_copies_from != 0) {
    text += ", kernel copies from " + std::to_string(job.kernel_copies_from);
  }
  if (job.limit) text += ", deadlines after " + std::to_string(job.limit->count()) + " ns";
  return text;
}

std::string describe(const soak_round& round) {
  std::string text = std::to_string(round.how.in_flight) + " in flight";
  if (round.how.together) text += ", together";
  if (round.how.unpunctual) text += ", late now and then";
  if (round.how.runs > 1) text += ", planned and run " + std::to_string(round.how.runs) + " times";
  for (std::size_t i = 0; i < round.teams.size(); ++i) {
    const soak_team& each = round.teams[i];
    text += "\n  team " + std::to_string(i + 1) + ": " + std::string(name(each.how)) + " of team " +
            std::to_string(each.from) + ", up to " + std::to_string(each.calls) + " calls";
  }
  for (const spec& call : round.calls) text += "\n  " + describe(call);
  return text + "\n";
}

std::string how_to_replay(const soak_job& job) {
  return "replay: tools/test --soak-replay " + std::to_string(job.seed);
}

}  // namespace muster::testing
