#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <memory_resource>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <vector>

#include <muster/base/random.hpp>
#include <muster/coro/frame_pool.hpp>
#include <muster/coro/task.hpp>
#include <muster/select/catalog.hpp>
#include <muster/team/shape.hpp>

#include "transports/sim/arena.hpp"
#include "transports/sim/channel.hpp"
#include "transports/sim/core.hpp"
#include "transports/sim/counters.hpp"
#include "transports/sim/event_queue.hpp"
#include "transports/sim/faults.hpp"
#include "transports/sim/gathering.hpp"
#include "transports/sim/happens_before.hpp"
#include "transports/sim/links.hpp"
#include "transports/sim/model.hpp"
#include "transports/sim/node.hpp"
#include "transports/sim/pointer_table.hpp"
#include "transports/sim/rank.hpp"
#include "transports/sim/team.hpp"
#include "transports/sim/trace.hpp"

namespace muster::sim {

struct options {
  /// The node of each rank; their number is that of the ranks. Empty: the model's cluster, filled.
  std::vector<std::size_t> node_of;
  std::uint64_t seed = 1;
  /// Whether buffers hold anything. If not, they are addresses that nobody touches, so that
  /// thousands of ranks fit.
  bool payload = true;
  /// Events of one time happen in random order, instead of the order in which they came about.
  bool shuffle = false;
  /// Ranks are threads of one process and read each other's buffers where they are.
  bool one_process = false;
  /// Whether every read of shared memory is held against the announcements that its reader has
  /// read: see `premature_access`.
  bool watch_reads = false;
  /// See `machine::foreign_by_hand`.
  std::size_t foreign_from = 0;
  /// Ranks with a core each look on for as long as they wait, as MPI libraries do: none sleeps.
  bool look_on = false;
  /// Different buffers that the programs use in turn: what comes round again only after so many
  /// is in the caches only if all of it fits.
  std::size_t buffers_in_turn = 1;
  sim::faults faults = {};
  sim::defect defect = sim::defect::none;
  /// Filled as the simulation runs; outlives it.
  sim::trace* trace = nullptr;
  /// Called every so many events, with their number so far, if set.
  std::function<void(std::uint64_t)> progress = {};
};

/// Nothing will ever happen again although some ranks are not at their end. `what()` tells which of
/// them waits for whom.
class deadlock : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// A rank read shared memory without having read, itself or through others, the announcement of
/// what was written there last; or changed what it was sending before that had left. On hardware
/// that is a race, whatever the bytes were.
class premature_access : public std::runtime_error {
public:
  using std::runtime_error::runtime_error;
};

/// Ranks of one cluster under virtual time: each runs a program of coroutines on the production
/// engine, and what they do to each other takes the time a model says. One thread, no clock, no
/// randomness but the seed's: the same model, options and programs give the same run, always.
class simulation {
public:
  /// \param rows the algorithms to choose from; outlive the simulation
  simulation(const model& of, muster::catalog rows, sim::options how = {});
  ~simulation();
  simulation(const simulation&) = delete;
  simulation& operator=(const simulation&) = delete;

  std::size_t size() const noexcept { return ranks_.size(); }
  sim::rank& rank_at(std::size_t number) noexcept { return ranks_[number]; }
  const muster::shape& shape() const noexcept { return *shape_; }

  /// What a rank runs: begun at time 0 on each, when time reaches it.
  using program = std::function<task<>(sim::rank&)>;
  /// Runs the program on every rank to its end, once. What it throws on a rank is kept in
  /// `rank::failure`. \throws deadlock, premature_access
  void run(const program& each);

  picoseconds now() const noexcept { return now_; }
  std::uint64_t events() const noexcept { return events_; }

  // ---- for the parts of the simulation

  /// Costs of the model in picoseconds.
  struct fixed_costs {
    picoseconds latency, send, receive, flag, line_read, call, copy_call, core_switch,
        crowded_switch, wake, system_call;
  };
  const fixed_costs& costs() const noexcept { return costs_; }
  const sim::model& model() const noexcept { return model_; }
  const sim::options& options() const noexcept { return options_; }
  const muster::machine& machine() const noexcept { return machine_; }
  bool with_payload() const noexcept { return options_.payload; }
  bool is_ending() const noexcept { return ending_; }
  bool has(sim::defect one) const noexcept { return options_.defect == one; }
  /// What happened before what, if reads are watched.
  happens_before* order() noexcept { return order_ ? &*order_ : nullptr; }
  void read_prematurely(std::size_t reader, std::size_t writer, const std::string& operation);
  /// How long a rank that finds nothing goes on looking.
  picoseconds awake_for(std::size_t number) const noexcept;
  sim::trace* trace() const noexcept { return options_.trace; }
  wire::call_record* records() noexcept;

  /// \param whose a rank
  void schedule(picoseconds when, event::kind what, std::size_t whose, void* subject = nullptr,
                std::uint64_t value = 0);
  /// `time` with the model's jitter and the faults' delays.
  picoseconds disturbed(picoseconds time) noexcept;

  /// What others need to know of a rank to send to it, side by side for all ranks: an event that is
  /// another rank's would fetch the rank itself for that.
  struct whereabouts {
    node* on;
    std::uint32_t index;    ///< in the node
    std::uint32_t ranks;    ///< of the node
    std::uint32_t unheard;  ///< flags and messages on their way from it
    std::uint32_t senders;  ///< ranks that have sent it messages
  };
  const whereabouts& whereabouts_of(std::size_t number) const noexcept {
    return whereabouts_[number];
  }
  /// A flag or message of a rank is on its way, has been heard of.
  void say(std::size_t number) noexcept { ++whereabouts_[number].unheard; }
  void hear(std::size_t number) noexcept {
    --whereabouts_[number].unheard;
    look_for_left(number);
  }
  void send_to_for_the_first_time(std::size_t number) noexcept { ++whereabouts_[number].senders; }
  std::size_t senders_to(std::size_t number) const noexcept { return whereabouts_[number].senders; }

  channel& open(const channel::pair& of);
  void close(channel& used) noexcept;
  link& make_link();
  void free_link(link& one) noexcept;
  message& make_message();
  void free_message(message& one) noexcept;

  /// Makes memory for a team of these ranks; the team's number.
  std::uint64_t make_team(std::vector<std::size_t> members, const wire::extent& much);
  team_memory& team_at(std::uint64_t number) noexcept { return *teams_.at(number); }
  void unmake_team(std::uint64_t number) noexcept { teams_.erase(number); }
  /// A rank leaves a team, whose flags are all visible at `quiet`.
  void leave(team_memory& one, picoseconds quiet) noexcept;
  node& node_at(std::size_t number) noexcept { return *nodes_[number]; }

  /// A team, or the job where the number is 0, is broken for the ranks of a node, unless it was.
  void break_on(std::size_t node, std::uint64_t team, const wire::failure& why) noexcept;
  /// A rank tells the other nodes of a team why that is broken.
  void tell_failure(std::size_t from, std::uint64_t team, const wire::failure& why) noexcept;
  muster::catalog rows() const noexcept { return rows_; }
  /// Some rank got on.
  void moved() noexcept { ++moves_; }
  /// What a rank knows of another's life.
  wire::liveness state(std::size_t observer, std::size_t number) const noexcept;
  /// Whether a rank holds another for dead, since it has not heard of it.
  bool has_lost(std::size_t observer, std::size_t number) const noexcept {
    return !lost_.empty() && lost_[observer * size() + number];
  }
  /// When what leaves one rank for another arrives there, in whatever way; `outages::never` if it
  /// does not.
  picoseconds passes(std::size_t from, std::size_t to, picoseconds leaves,
                     picoseconds takes) const noexcept;
  /// Whether some rank holds this one for dead so, or this one some rank.
  bool is_apart(std::size_t number) const noexcept;
  bool all_heard(std::size_t number) const noexcept;
  void end_program(sim::rank& of) noexcept;
  /// A rank has come to a meeting, as of `when`; the meeting's number.
  std::uint64_t come_to_meeting(std::size_t number, picoseconds when) noexcept;
  bool is_met(std::uint64_t meeting) const noexcept { return gathering_->is_over(meeting, now_); }
  const program& rank_program() const noexcept { return program_; }

private:
  void make_ranks(const std::vector<std::size_t>& node_of);
  /// And their cores; the number of each node's first.
  std::vector<std::size_t> make_nodes();
  // ---- faults
  void schedule_faults();
  /// All look then whether they wait in vain.
  void schedule_looks(picoseconds when);
  /// Ranks of other nodes do not hear of a rank in this time, in nanoseconds.
  void schedule_silence(std::size_t of, double from, double until);
  /// A rank does not hear of those of other nodes.
  void schedule_silence_around(std::size_t observer, double from, double until);
  void schedule_loss(std::size_t observer, std::size_t lost, double from, double until);
  /// Where ranks give each other up, nobody waits until nothing else happens to see that one left.
  void look_for_left(std::size_t number) noexcept {
    const bool has_left = states_[number] == wire::liveness::left && all_heard(number);
    if (has_left && !lost_.empty()) schedule_looks(now_ + costs_.latency);
  }
  void end_life(std::size_t number, wire::liveness how) noexcept;
  /// Whether something that the other one has said will never be heard.
  bool misses(std::size_t observer, std::size_t number) const noexcept {
    return !missed_.empty() && missed_[observer * size() + number];
  }
  /// Whether a rank can have been told how another one ended.
  bool is_end_told(std::size_t observer, std::size_t number) const noexcept;
  void end_rank(sim::rank& one) noexcept;
  void die(sim::rank& one) noexcept;
  void die_with_host(sim::rank& one) noexcept;
  void lose(std::size_t observer, std::size_t number) noexcept;
  /// News of a failure leave, arrive.
  void tell(const event& one);
  void hear_told(const event& one);
  /// Whether news have to wait at a node, and come again later or not at all.
  bool waits_at(std::size_t node, const event& one);
  /// The same for a message.
  bool waits_for_rail(std::size_t node, message& sent, const event& one);
  picoseconds rail_is_back(std::size_t node, std::size_t rail) const noexcept;
  bool is_cut_off(const message& sent) const noexcept;
  void drop(message& lost) noexcept;
  static void look(sim::rank& one) noexcept;
  void look_on(std::size_t node) noexcept;

  void require_unchanged(channel& on, std::uint64_t from_byte);
  /// Has the cache lines of coming events fetched.
  void look_ahead() const noexcept;
  void happen(const event& one);
  void become_visible(const event& one);
  void transmit(const event& one);
  void reach(const event& one);
  void arrive(const event& one);
  void recycle(channel& idle) noexcept;
  void all_look() noexcept;
  void meet_if_all_came() noexcept;
  /// Nothing is to happen any more: looks whether some wait is in vain.
  void end_vain_waits();
  [[noreturn]] void report_deadlock() const;
  /// Of a channel.
  std::uint64_t key(const channel::pair& of) const noexcept;
  /// The number of the connection between two ranks at the interface of the first one's node.
  std::uint64_t queue_pair(std::size_t local, std::size_t remote) const noexcept;

  std::shared_ptr<arena> arena_{std::make_shared<arena>()};
  // Frames outlive everything that may hold one.
  struct retirement {
    void operator()(frame_pool* pool) const noexcept { frame_pool::retire(pool); }
  };
  std::unique_ptr<frame_pool, retirement> pool_{new frame_pool(arena_)};
  sim::model model_;
  muster::catalog rows_;
  sim::options options_;
  muster::machine machine_;
  fixed_costs costs_;
  random_stream random_;
  program program_;

  picoseconds now_ = 0;
  event_queue queue_;
  std::vector<sim::rank*> concerned_;  // by a flag that becomes visible
  std::uint64_t events_ = 0;
  std::uint64_t last_event_ = 0;
  std::uint64_t moves_ = 0;
  std::uint64_t moves_when_stuck_ = ~std::uint64_t{0};
  std::size_t running_ = 0;              // programs
  std::optional<happens_before> order_;  // where reads are watched
  std::string premature_;                // what was read so, first
  bool ending_ = false;
  std::optional<gathering> gathering_;

  std::vector<wire::liveness> states_;
  std::vector<picoseconds> ended_at_;
  sim::outages outages_;
  std::vector<bool> missed_;  // by observer, then rank; empty where nothing is lost
  std::vector<bool> lost_;    // by observer, then rank; empty where nobody loses anybody so
  /// What a rank has told another node.
  struct news {
    std::size_t from;
    std::size_t node;
    std::uint64_t team;
    wire::failure why;
  };
  std::deque<news> told_;

  std::optional<muster::shape> shape_;
  std::optional<pages> records_;
  std::vector<std::unique_ptr<node>> nodes_;
  std::vector<whereabouts> whereabouts_;  // of ranks
  std::pmr::deque<core> cores_{arena_.get()};
  // Teams made from others, by number, and those whose ranks have all left them.
  std::unordered_map<std::uint64_t, std::unique_ptr<team_memory>> teams_;
  std::vector<std::unique_ptr<team_memory>> left_teams_;
  std::uint64_t last_team_ = 0;
  pointer_table<channel> channels_{arena_.get()};
  std::pmr::deque<channel> all_channels_{arena_.get()};
  std::vector<channel*> free_channels_;
  std::pmr::deque<link> all_links_{arena_.get()};
  std::vector<link*> free_links_;
  std::pmr::deque<message> all_messages_{arena_.get()};
  message* free_messages_ = nullptr;
  std::uint64_t messages_ = 0;
  std::pmr::deque<sim::rank> ranks_{arena_.get()};
};

}  // namespace muster::sim
