#include <muster/run/perform.hpp>

#include <algorithm>
#include <memory>
#include <numeric>
#include <string>

#include <muster/base/error.hpp>
#include <muster/coro/pooled.hpp>
#include <muster/run/kept_operations.hpp>
#include <muster/run/operation.hpp>

namespace muster {
namespace {

/// A copy of a layout, whose blocks follow each other where that does not say otherwise.
class complete_layout {
public:
  explicit complete_layout(const block_layout& given)
      : counts_(given.counts.size()),
        displacements_(given.displacements.empty() ? given.counts.size()
                                                   : given.displacements.size()),
        layout_{.counts = counts_, .displacements = displacements_} {
    std::ranges::copy(given.counts, counts_.data());
    if (given.displacements.empty()) {
      std::exclusive_scan(given.counts.begin(), given.counts.end(), displacements_.data(),
                          std::size_t{0});
    } else {
      std::ranges::copy(given.displacements, displacements_.data());
    }
  }
  const block_layout* get() const noexcept { return layout_.counts.empty() ? nullptr : &layout_; }

private:
  pooled<std::size_t> counts_;
  pooled<std::size_t> displacements_;
  block_layout layout_;
};

struct complete_layouts {
  complete_layout send;
  complete_layout receive;

  arguments put_into(arguments call) const noexcept {
    call.send_blocks = send.get();
    call.receive_blocks = receive.get();
    return call;
  }
};

/// One with layouts of its own. They are there before the operation and after it.
class varying_operation final : private complete_layouts, public operation {
public:
  varying_operation(muster::team& on, const arguments& call, const block_layout& send,
                    const block_layout& receive)
      : complete_layouts{complete_layout(send), complete_layout(receive)},
        operation(on, put_into(call)) {}
};

/// A copy of a neighborhood.
class complete_neighbors {
public:
  explicit complete_neighbors(const neighborhood& given)
      : sources_(given.sources.size()),
        destinations_(given.destinations.size()),
        view_{.sources = sources_, .destinations = destinations_, .pairs = given.pairs} {
    std::ranges::copy(given.sources, sources_.data());
    std::ranges::copy(given.destinations, destinations_.data());
  }
  arguments put_into(arguments call) const noexcept {
    call.neighbors = &view_;
    return call;
  }

private:
  pooled<std::size_t> sources_;
  pooled<std::size_t> destinations_;
  neighborhood view_;
};

/// One with neighbors, whose lists and layouts are its own likewise.
class neighbor_operation final : private complete_neighbors,
                                 private complete_layouts,
                                 public operation {
public:
  neighbor_operation(muster::team& on, const arguments& call, const neighborhood& with,
                     const block_layout& send, const block_layout& receive)
      : complete_neighbors(with),
        complete_layouts{complete_layout(send), complete_layout(receive)},
        operation(on, complete_neighbors::put_into(complete_layouts::put_into(call))) {}
};

// The task releases it.
task<> run(std::unique_ptr<operation> one) noexcept { return one.release()->run(); }

// Apart from calls that are found: those need no frame.
[[gnu::noinline]] task<> perform_anew(team& on, const arguments& call) {
  auto one = std::make_unique<operation>(on, call);
  // Where the engine has a thread of its own, calls are made on others, too: none is kept, and so
  // none is found.
  if (on.engine().has_own_thread() || !exists(call.what)) return run(std::move(one));
  return on.kept().keep(on, std::move(one))->run();
}

}  // namespace

task<> perform(team& on, const arguments& call) {
  if (exists(call.what)) [[likely]] {
    if (operation* const one = on.kept().find(on, call)) return one->run();
  }
  return perform_anew(on, call);
}

task<> perform(team& on, const arguments& call, const block_layout& send,
               const block_layout& receive) {
  return run(std::make_unique<varying_operation>(on, call, send, receive));
}

task<> perform_with(team& on, const arguments& call, const neighborhood& with,
                    const block_layout& send, const block_layout& receive) {
  return run(std::make_unique<neighbor_operation>(on, call, with, send, receive));
}

task<> perform_with(team& on, const arguments& call, const neighborhood& with,
                    std::size_t received) {
  if (received == call.count) return perform_with(on, call, with, {}, {});
  pooled<std::size_t> counts(with.sources.size());
  std::fill_n(counts.data(), counts.size(), received);
  return perform_with(on, call, with, {}, {.counts = counts});
}

task<> perform_after(team& on, arguments call, task<> before) {
  auto one = std::make_unique<operation>(on, call);
  one->reserve();
  operation& mine = *one;
  task<> part = run(std::move(one));
  try {
    co_await std::move(before);
  } catch (...) {
    mine.give_up(std::current_exception());
    throw;
  }
  co_await std::move(part);
}

void take_place(const task<>& collective) { operation_of(collective, "take_place").reserve(); }

std::string_view chosen_algorithm(const team& on, const arguments& call) {
  const bool misses_layout = has_varying_blocks(call.what) && !has_neighbors(call.what) &&
                             call.send_blocks == nullptr && call.receive_blocks == nullptr;
  if (!exists(call.what) || misses_layout) {
    throw error(errc::invalid_argument,
                "chosen_algorithm: " + std::string(name(call.what)) +
                    " has no layout; expected a collective with the layouts that it has");
  }
  return on.selector().select(call).row->id;
}

}  // namespace muster
