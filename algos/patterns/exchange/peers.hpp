#pragma once

#include <cstddef>

#include <muster/run/context.hpp>

/// All other ranks, in orders in which to turn to them: each rank begins somewhere else, so that
/// they do not all turn to the same.
namespace muster::algos {

/// The one after this rank, the one after that, and so on, going round.
inline pooled_list<std::size_t> ranks_after(const context& me) {
  pooled_list<std::size_t> all;
  all.reserve(me.size() - 1);
  for (std::size_t step = 1; step < me.size(); ++step) {
    all.push_back((me.rank() + step) % me.size());
  }
  return all;
}

/// The one before this rank, the one before that, and so on, going round: where each rank sends in
/// the order of `ranks_after`, messages come in this one.
inline pooled_list<std::size_t> ranks_before(const context& me) {
  pooled_list<std::size_t> all;
  all.reserve(me.size() - 1);
  for (std::size_t step = 1; step < me.size(); ++step) {
    all.push_back((me.rank() + me.size() - step) % me.size());
  }
  return all;
}

}  // namespace muster::algos
