#include "tools/mpi/shim.hpp"

#include <pthread.h>

#include <cstdio>
#include <exception>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <muster/environment/environment.hpp>

#include "tools/mpi/communicator_copy.hpp"
#include "tools/mpi/gather.hpp"
#include "tools/mpi/init_bootstrap.hpp"
#include "tools/mpi/mpi_messenger.hpp"

namespace muster::mpi {
namespace {

/// Whether a report is wanted, also of a process that has no shim.
bool& is_reporting() noexcept {
  static bool answer = false;
  return answer;
}

/// All processes together; the first one prints.
void print_report(const usages* own) {
  const std::vector<std::string> all =
      gather_texts(own == nullptr ? "" : to_text(*own) + "end\n", MPI_COMM_WORLD);
  if (all.empty()) return;
  summary whole;
  for (const std::string& one : all) {
    if (one.empty()) {
      whole.add_rank_without();
    } else {
      whole.add_rank(parse_usages(one));
    }
  }
  std::fputs(describe(whole).c_str(), stderr);
}

/// Whether ranks of different machines can reach each other. By the MPI's messages: whoever drives
/// the engine has to be allowed to call it.
bool reaches_machines(const settings& own, const conditions& found, progress_hook hook) {
  if (own.net != between_machines::mpi) return own.net != between_machines::leave;
  const bool may_have_thread = own.progress.who != progress_choice::by::caller;
  return hook != progress_hook::without_mpi && (!may_have_thread || found.all_have_threads);
}

/// \param near of this process's machine
MPI_Comm communicator_of(const init_bootstrap& world, const neighbors_here& near) {
  if (near.ranks.size() == world.size()) return MPI_COMM_WORLD;
  MPI_Comm made = MPI_COMM_NULL;
  PMPI_Comm_split(MPI_COMM_WORLD, static_cast<int>(near.ranks.front()), 0, &made);
  return made;
}

struct joined_ranks {
  std::unique_ptr<node> ranks = nullptr;  // it failed
  joining how = joining::done;
  std::string why = {};
};

/// \param by how ranks of different machines reach each other; `leave`: only those of this one join
joined_ranks join(bootstrap& world, bootstrap& near, std::size_t lowest, between_machines by,
                  way_to_wait wait, const node_options& how) {
  try {
    switch (by) {
      case between_machines::leave:
        return {.ranks = join_node(near, how)};
      case between_machines::mpi: {
        communicator_copy own(MPI_COMM_WORLD, wait);
        const auto by = [&own] { return std::make_unique<mpi_messenger>(own.take()); };
        return {.ranks = join_machines(world, near, lowest, by, how)};
      }
      default:
        return {.ranks = join_machines(world, lowest, by, how)};
    }
  } catch (const error& failed) {
    const bool is_setting = failed.code() == errc::invalid_argument;
    return {.how = is_setting ? joining::wrong_setting : joining::failed, .why = failed.text()};
  } catch (const std::exception& failed) {
    return {.how = joining::failed, .why = failed.what()};
  }
}

void release(MPI_Comm& one) {
  if (one != MPI_COMM_WORLD) PMPI_Comm_free(&one);
}

}  // namespace

guests<shim>& shim::in_progress() noexcept {
  static guests<shim> all;
  return all;
}

// What a child process inherits is the ranks' own, and none of its threads are there to go on:
// nothing is touched or destroyed.
void shim::forget_in_children() {
  ::pthread_atfork(nullptr, nullptr, [] {
    is_reporting() = false;
    active().store(nullptr, std::memory_order_relaxed);
  });
}

progress_hook shim::hook_in(const conditions& found) {
  if (!found.all_have_hooks) return progress_hook::none;
  return hook_into_progress({on_progress, on_progress_without_mpi, has_work},
                            found.some_have_threads);
}

void shim::begin(notice_board* board) {
  const prompt_answers meanwhile;
  init_bootstrap world;
  const self_introduction self = introduce_self();
  std::vector<introduction> all(world.size());
  if (!all_are_present(world, board, settings::wants_report(),
                       std::as_bytes(std::span(&self.said, 1)),
                       std::as_writable_bytes(std::span(all)))) {
    return;
  }
  forget_in_children();
  environment::report_unknown(world.rank() == 0);
  const auto [own, found, here] = agree(self, world.rank(), all);
  is_reporting() = own.report;
  if (!own.takes_anything()) return;
  const progress_hook hook = hook_in(found);
  const bool joins_machines =
      here.ranks.size() < world.size() && reaches_machines(own, found, hook);
  MPI_Comm together = joins_machines ? MPI_COMM_WORLD : communicator_of(world, here);
  const way_to_wait wait = here.yield_in_vain ? wait_patiently : wait_yielding;
  world.wait_by(wait);
  init_bootstrap near(here.ranks, wait);
  joined_ranks mine =
      join(world, near, here.ranks.front(), joins_machines ? own.net : between_machines::leave,
           wait, {.naps = here.yield_in_vain && !found.some_have_threads});
  if (!all_joined(joins_machines ? world : near, mine.how, mine.why, own.report)) {
    if (mine.ranks) mine.ranks->give_up();
    mine.ranks.reset();
    release(together);
    return;
  }
  // Until `end`, which may come when static objects have been destroyed. release: all of it, for
  // other threads.
  active().store(new shim(own, found, hook, together, std::move(mine.ranks)),
                 std::memory_order_release);
}

void shim::end() {
  std::optional<usages> own;
  if (shim* const one = active().load(std::memory_order_relaxed)) {
    // What belongs to freed requests is still to be completed.
    const driver::entry here(one->driver_);
    one->driver_.until([one] {
      one->look();
      return one->under_way_.load(std::memory_order_relaxed) == 0 &&
             !one->communicators_.has_unmade();
    });
    if (one->tally_.wanted()) own = one->report();
  }
  if (std::exchange(is_reporting(), false)) print_report(own ? &*own : nullptr);
  // A thread of the MPI's own may be looking after its progress.
  const std::unique_ptr<shim> ended(in_progress().dismiss(active()));
}

shim::shim(const settings& own, const conditions& found, progress_hook hook, MPI_Comm together,
           std::unique_ptr<node> ranks)
    : settings_(own),
      taken_(own.enabled),
      together_(together),
      node_(std::move(ranks)),
      driver_(node_->engine(), found.some_have_threads),
      hook_(hook),
      all_have_threads_(found.all_have_threads),
      tally_(own.report),
      communicators_(together_, *node_, driver_, hook_),
      persistent_(driver_),
      has_short_way_(!devices_.possible() && !driver_.engine().has_own_thread() &&
                     !driver_.has_many_threads() && !tally_.wanted()) {
  if (hook_ == progress_hook::none) {
    // An operation would stand still while the program waits for something else.
    for (auto& forms_of_one : taken_) {
      forms_of_one[static_cast<std::size_t>(form::nonblocking)] = false;
      forms_of_one[static_cast<std::size_t>(form::persistent)] = false;
    }
  }
  // Clocks of different machines cannot be compared.
  if (!own.report || node_->team().shape().nodes() > 1) return;
  driver_.on_engine([this] {
    arrivals_ = std::make_unique<arrival_log>(driver_.engine());
    node_->team().record_arrivals(arrivals_.get());
  });
}

shim::~shim() {
  delete_done_with();
  free_operations();
  release(together_);
}

usages shim::report() {
  if (arrivals_ == nullptr) return tally_.all();
  std::vector<arrival_log::site> sites;
  driver_.on_engine([&] {
    node_->team().record_arrivals(nullptr);
    sites = arrivals_->sites();
  });
  std::erase_if(sites, [](const arrival_log::site& one) { return one.label >= kind::numbers; });
  for (arrival_log::site& one : sites) one.what = kind::numbered(one.label).name();
  const std::vector<std::string> all =
      gather_texts(write_arrivals(node_->team(), std::move(sites)), together_);
  usages own = tally_.all();
  if (all.empty()) return own;
  const std::map<std::string, balance> judged = judge_arrivals(all);
  // Also where only others of this machine made such calls.
  for (std::uint64_t number = 0; number < kind::numbers; ++number) {
    const kind of = kind::numbered(number);
    const auto at = judged.find(of.name());
    if (at != judged.end()) own[of].arrivals = at->second;
  }
  return own;
}

}  // namespace muster::mpi
