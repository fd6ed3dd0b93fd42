#include "engine/collective/perform.hpp"

#include <numeric>

#include "engine/collective/check.hpp"
#include "engine/collective/collectives.hpp"
#include "engine/collective/context.hpp"
#include "engine/collective/pooled.hpp"

namespace muster {

namespace {

task<> run(team& on, arguments call, task<>* before) {
  check(on, call);
  on.require_whole();
  const algorithm& chosen = on.select(call);
  context me(on, call, chosen);
  try {
    if (before != nullptr) co_await std::move(*before);
    co_await me.turn();
    co_await chosen.run(me, call);
    me.complete();
  } catch (const error& why) {
    me.abandon(why);
    throw;
  } catch (const std::exception& why) {
    me.abandon(error(errc::resource, me.describe() + ": " + why.what(), on.rank()));
    throw;
  }
}

/// A layout whose blocks follow each other where it does not say otherwise.
class complete_layout {
public:
  explicit complete_layout(const block_layout& given)
      : layout_(given), displacements_(given.displacements.empty() ? given.counts.size() : 0) {
    if (displacements_.size() == 0) return;
    std::exclusive_scan(given.counts.begin(), given.counts.end(), displacements_.data(),
                        std::size_t{0});
    layout_.displacements = displacements_;
  }
  const block_layout* get() const noexcept { return layout_.counts.empty() ? nullptr : &layout_; }

private:
  block_layout layout_;
  pooled<std::size_t> displacements_;
};

}  // namespace

task<> perform(team& on, arguments call) { return run(on, call, nullptr); }

task<> perform_after(team& on, arguments call, task<> before) { co_await run(on, call, &before); }

task<> perform(team& on, arguments call, block_layout send, block_layout receive) {
  const complete_layout complete_send(send);
  const complete_layout complete_receive(receive);
  call.send_blocks = complete_send.get();
  call.receive_blocks = complete_receive.get();
  co_await perform(on, call);
}

task<> barrier(team& on) { return perform(on, arguments{}); }

std::string_view chosen_algorithm(const team& on, const arguments& call) {
  return on.select(call).id;
}

}  // namespace muster
