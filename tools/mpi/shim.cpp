#include "tools/mpi/shim.hpp"

#include <pthread.h>

#include <cstdio>
#include <exception>
#include <map>
#include <utility>

#include <muster/environment/environment.hpp>

#include "tools/mpi/gather.hpp"
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
bool reaches_machines(const settings& own, const conditions& found) {
  if (own.net != between_machines::mpi) return own.net != between_machines::leave;
  const bool may_have_thread = own.progress.who != progress_choice::by::caller;
  return found.hook != progress_hook::without_mpi && (!may_have_thread || found.all_have_threads);
}

/// Without the MPI, whose way takes several collective calls, where all ranks are on one.
MPI_Comm ranks_of_this_machine(bootstrap& world) {
  if (share_a_machine(world)) return MPI_COMM_WORLD;
  MPI_Comm near = MPI_COMM_NULL;
  PMPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near);
  return near;
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

void shim::begin(notice_board* board) {
  if (!all_are_present(board, settings::wants_report())) return;
  forget_in_children();
  communicator_bootstrap world(MPI_COMM_WORLD);
  environment::report_unknown(world.rank() == 0);
  const settings own = agree_on_settings(world);
  is_reporting() = own.report;
  if (!own.takes_anything()) return;
  const conditions found =
      agree_on_conditions(world, {on_progress, on_progress_without_mpi, has_work});
  MPI_Comm together = ranks_of_this_machine(world);
  communicator_bootstrap near(together);
  const bool joins_machines = near.size() < world.size() && reaches_machines(own, found);
  std::unique_ptr<node> ranks;
  std::string why;
  auto mine = joining::done;
  try {
    const node_options how{.may_nap = !found.some_have_threads};
    if (!joins_machines) {
      ranks = join_node(near, how);
    } else if (own.net == between_machines::mpi) {
      ranks = join_machines(world, near, std::make_unique<mpi_messenger>(MPI_COMM_WORLD), how);
    } else {
      ranks = join_machines(world, near, own.net, how);
    }
  } catch (const error& failed) {
    why = failed.text();
    mine = failed.code() == errc::invalid_argument ? joining::wrong_setting : joining::failed;
  } catch (const std::exception& failed) {
    why = failed.what();
    mine = joining::failed;
  }
  if (!all_joined(joins_machines ? world : near, mine, why, own.report)) {
    if (ranks) ranks->give_up();
    ranks.reset();
    release(together);
    return;
  }
  if (joins_machines) {
    release(together);
    together = MPI_COMM_WORLD;
  }
  // Until `end`, which may come when static objects have been destroyed. release: all of it, for
  // other threads.
  active().store(new shim(own, found, together, std::move(ranks)), std::memory_order_release);
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

shim::shim(const settings& own, const conditions& found, MPI_Comm together,
           std::unique_ptr<node> ranks)
    : settings_(own),
      taken_(own.enabled),
      together_(together),
      node_(std::move(ranks)),
      driver_(node_->engine(), found.some_have_threads),
      hook_(found.hook),
      all_have_threads_(found.all_have_threads),
      tally_(own.report),
      communicators_(together_, *node_, driver_, hook_),
      persistent_(driver_) {
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
