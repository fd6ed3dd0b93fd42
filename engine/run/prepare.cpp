#include <muster/run/prepare.hpp>

#include <muster/base/error.hpp>
#include <muster/call/describe.hpp>
#include <muster/run/check.hpp>
#include <muster/select/recorded_call.hpp>

namespace muster {
namespace {

/// Reductions of the user's own may throw; where time is virtual, work takes some; and what is lent
/// may be taken back meanwhile.
few_combiner choose_few_combiner(const team& on, const arguments& call, stage_kind stages) {
  if (!has_op(call.what) || call.custom != nullptr || on.time() != nullptr ||
      stages >= stage_kind::lengthy) {
    return nullptr;
  }
  return combiner_of_few(call.op, call.type, call.contributed_bytes(on.size()));
}

}  // namespace

prepared_call prepare(const team& on, const arguments& call, const choice& by_hand) {
  check(on, call);
  const choice chosen = on.selector().select(call, by_hand);
  prepared_call result;
  result.chosen = chosen.row;
  result.how = chosen.how;
  arguments tuned = call;
  tuned.how = chosen.how;
  result.only_takes_place = chosen.row->leaves != leavable::no || moves_nothing(call);
  result.stages = result.only_takes_place ? stage_kind::none
                                          : chosen.row->stages(on.shape(), on.machine(), tuned);
  if (result.stages >= stage_kind::lengthy &&
      on.fabric().memory().board().extent().long_stages == 0) {
    throw error(errc::invalid_argument,
                describe(call) +
                    ": takes long stages, and its team was made without; expected a "
                    "team that `duplicate_for_runs` made for what it needs");
  }
  result.combine_few = choose_few_combiner(on, call, result.stages);
  result.kind = pack_kind(tuned, on.selector().number_of(*chosen.row));
  result.count = agreed_count(call);
  result.details = agreed_details(call);
  // Odd multipliers spread the parts over the word; the order of operations mixes it.
  result.fingerprint = result.count * 0x9e37'79b9'7f4a'7c15U + call.root * 0xc2b2'ae3d'27d4'eb4fU +
                       result.kind + result.details;
  return result;
}

}  // namespace muster
