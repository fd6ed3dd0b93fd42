// Broadcast over nodes, which the root serves in the order in which they are there.
//
//  1  of each other node whoever comes first speaks for it, and calls on the root
//  2  short: the root sends the message to each that calls. Longer: of all who have called by now
//     it makes a binomial tree, tells each of them its parent and its children, and sends the
//     message to its own children, these to theirs; then the same with those who have called
//     meanwhile
//  3  the others of a node copy it out of its speaker's stage, on the root's node of the root's, or
//     straight from its buffer where they can
//
// Where all are there ⌈log2 n⌉ steps between nodes, after a call and an answer. A node that comes
// late is in nobody's way, nor is a late rank of a node that is there: but for the root nobody
// waits for one who is late.
//
// Source: this library's own, after the notices of arrival of Qian 2010 (6.4) and the pipeline in
// nodes of Tipparaju, Nieplocha, Panda 2003 (2.2, 2.4).

#include <bit>
#include <span>

#include <muster/coro/when_all.hpp>

#include "algos/algorithms.hpp"
#include "algos/patterns/arrival/first_comers.hpp"
#include "algos/patterns/call/suitability.hpp"
#include "algos/patterns/node/node_broadcast.hpp"
#include "algos/patterns/trees/family.hpp"

namespace muster::algos {
namespace {

/// Shorter than it takes to say who sends it.
bool goes_straight(const arguments& call) { return call.bytes() <= 4096; }

/// No more pieces than a stage has room for, so that nobody waits for a local peer.
segments cut_for(const arguments& call) {
  constexpr std::size_t kib = 1024;
  segments cut(call.bytes(), 1, segments::far);
  const std::size_t lines = call.bytes() / cut.ahead / wire::cache_line + 1;
  if (call.bytes() > 8 * kib && call.bytes() < 64 * kib) cut.piece = lines * wire::cache_line;
  return cut;
}

task<> send_to(node_broadcast& in, std::span<const std::size_t> speakers) {
  std::size_t k = 0;
  do {
    const auto piece = in.call.count == 0 ? std::span<std::byte>() : in.piece(k);
    for (const std::size_t to : speakers) co_await in.me.send(to, piece);
  } while (++k < in.count());
}

task<> serve_as_a_tree(node_broadcast& in, pooled_list<std::size_t> speakers) {
  speakers.insert(speakers.begin(), in.me.rank());
  // Those with most members below them, who have most to do, are told first.
  for (std::size_t below = std::bit_ceil(speakers.size()) / 2; below != 0; below /= 2) {
    for (std::size_t i = below; i < speakers.size(); i += 2 * below) {
      family one(speakers, i);
      co_await in.me.send_note(speakers[i], one.note());
    }
  }
  const auto children = family(speakers, 0).children();
  co_await send_to(in, children);
}

/// The root's part between nodes.
task<> serve(node_broadcast& in) {
  callers here(in.me);
  for (;;) {
    auto speakers = co_await here.next_that_are_here(family::most - 1);
    if (speakers.empty()) co_return;
    if (goes_straight(in.call)) {
      co_await send_to(in, speakers);
    } else {
      co_await serve_as_a_tree(in, std::move(speakers));
    }
  }
}

/// What a speaker does before it has its place.
task<> find_place(node_broadcast& in) {
  co_await call_on_root(in.me);
  in.place.parent = in.call.root;
  if (goes_straight(in.call)) co_return;
  family mine;
  co_await in.me.receive_note(in.call.root, mine.note());
  in.place.parent = mine.parent();
  for (const std::size_t child : mine.children()) in.place.children.push_back({child});
}

task<> run(context& me, const arguments& call) {
  node_broadcast in(me, call, cut_for(call));
  const std::size_t speaker = first_speaker(me);
  me.arrive();
  if (me.rank() == call.root) {
    auto elsewhere = serve(in);
    auto here = speak(in);
    co_await when_all(std::move(elsewhere), std::move(here));
  } else if (me.node_index() == speaker) {
    co_await find_place(in);
    co_await speak(in);
  } else {
    co_await listen(in, speaker);
  }
}

/// A speaker whose stage is full waits for its local peers, and all below it with it.
bool suits(const shape&, const machine&, const arguments& call) {
  return call.bytes() <= wire::long_stage_bytes;
}

}  // namespace

const algorithm bcast_early_nodes = {
    .id = "early_nodes",
    .what = collective::bcast,
    .summary = "whoever comes first of each node calls on the root, which serves those who called",
    .source = "own; Qian 6.4, SRM 2.2",
    .needs = "up to 1 MiB, which a stage holds",
    .suits = suits,
    .stages = pipeline_stages,
    .run = run,
};

}  // namespace muster::algos
