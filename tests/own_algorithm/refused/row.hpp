// A row that the libraries here change, to its disadvantage.
#pragma once

#include <muster/run/context.hpp>

namespace muster::testing {

/// An allgather of which every rank receives nothing but its own block.
inline task<> keep_own(context& me, const arguments& call) {
  me.arrive();
  co_await me.copy(call.received_from(me.rank()), call.own_block(me.rank()));
}

inline algorithm row_named(std::string_view id) {
  return {
      .id = id,
      .what = collective::allgather,
      .summary = "every rank keeps its own block",
      .source = "tests/own_algorithm/refused",
      .suits = [](const shape&, const machine&, const arguments&) { return true; },
      .stages = [](const shape&, const machine&, const arguments&) { return stage_kind::none; },
      .run = keep_own,
  };
}

}  // namespace muster::testing
