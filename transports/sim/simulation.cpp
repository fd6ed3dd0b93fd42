#include "transports/sim/simulation.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include <muster/base/prefetch.hpp>

#include "transports/sim/core.hpp"

namespace muster::sim {
namespace {

[[noreturn]] void refuse(const std::string& what, const std::string& expected) {
  throw error(errc::invalid_argument, "simulation: " + what + "; expected " + expected);
}

std::vector<std::size_t> filled_cluster(const model& of) {
  std::vector<std::size_t> node_of;
  for (std::size_t node = 0; node < of.cluster.nodes; ++node) {
    node_of.insert(node_of.end(), of.cluster.ranks_a_node, node);
  }
  return node_of;
}

simulation::fixed_costs costs_of(const model& of) {
  return {.latency = from_ns(of.network.latency_ns),
          .send = from_ns(of.network.send_overhead_ns),
          .receive = from_ns(of.network.receive_overhead_ns),
          .flag = from_ns(of.memory.flag_ns),
          .line_read = from_ns(of.memory.line_read_ns),
          .call = from_ns(of.core.call_ns),
          .copy_call = from_ns(of.core.copy_call_ns),
          .core_switch = from_ns(of.core.switch_ns),
          .crowded_switch = from_ns(of.core.crowded_switch_ns),
          .wake = from_ns(of.core.wake_ns),
          .system_call = from_ns(of.core.system_call_ns)};
}

/// Ranks share cores round robin where there are more of them.
std::vector<place> places_of(const std::vector<std::size_t>& node_of,
                             const model::cluster_parameters& of) {
  const auto among = [](std::size_t core, std::size_t cores_each) {
    return cores_each == 0 ? place::unknown : static_cast<std::uint32_t>(core / cores_each);
  };
  std::vector<place> places(node_of.size());
  std::unordered_map<std::size_t, std::size_t> ranks_on;
  for (std::size_t i = 0; i < node_of.size(); ++i) {
    places[i].node = static_cast<std::uint32_t>(node_of[i]);
    const std::size_t core = ranks_on[node_of[i]]++ % of.cores_a_node;
    places[i].numa = among(core, of.cores_a_numa_node);
    places[i].l3 = among(core, of.cores_a_cache);
    places[i].core = static_cast<std::uint32_t>(core);
  }
  return places;
}

const model& checked(const model& of) {
  of.require_sense();
  return of;
}

}  // namespace

simulation::simulation(const sim::model& of, muster::catalog rows, sim::options how)
    : model_(checked(of)),
      rows_(rows),
      options_(std::move(how)),
      machine_(measured_by(of)),
      costs_(costs_of(of)),
      random_(options_.seed),
      outages_(options_.faults) {
  if (options_.buffers_in_turn == 0) refuse("buffers_in_turn is 0", "at least 1");
  machine_.foreign_by_hand = options_.foreign_from;
  if (options_.foreign_from != 0) machine_.zero_copy_from = options_.foreign_from;
  make_ranks(options_.node_of.empty() ? filled_cluster(of) : options_.node_of);
}

void simulation::make_ranks(const std::vector<std::size_t>& node_of) {
  for (const std::size_t node : node_of) {
    if (node > std::numeric_limits<std::uint32_t>::max()) {
      refuse("node_of has node " + std::to_string(node), "numbers below 2^32");
    }
  }
  const frame_pool::binding bound(pool_.get());
  shape_.emplace(places_of(node_of, model_.cluster));
  records_.emplace(wire::lanes * shape_->size() * sizeof(wire::call_record));
  require_sense(options_.faults, shape_->size(), shape_->nodes(), model_.network.rails);
  states_.resize(shape_->size(), wire::liveness::alive);
  ended_at_.resize(shape_->size());
  const sim::faults& faults = options_.faults;
  if (faults.silence_ns > 0) lost_.resize(shape_->size() * shape_->size());
  if (faults.silence_ns > 0 || !faults.host_deaths.empty()) {
    missed_.resize(shape_->size() * shape_->size());
  }
  gathering_.emplace(shape_->size());
  if (options_.watch_reads) order_.emplace(shape_->size());
  const std::vector<std::size_t> first_core = make_nodes();
  for (std::size_t i = 0; i < shape_->size(); ++i) {
    const std::size_t on = shape_->node_of(i);
    core& by = cores_[first_core[on] + shape_->place_of(i).core];
    whereabouts_.push_back({.on = nodes_[on].get(),
                            .index = static_cast<std::uint32_t>(shape_->index_of(i)),
                            .ranks = static_cast<std::uint32_t>(shape_->ranks_of(on).size()),
                            .unheard = 0,
                            .senders = 0});
    sim::rank& made = ranks_.emplace_back(*this, i, *nodes_[on], by);
    nodes_[on]->ranks.push_back(&made);
    by.add(made);
  }
}

std::vector<std::size_t> simulation::make_nodes() {
  std::vector<std::size_t> first_core;
  for (std::size_t i = 0; i < shape_->nodes(); ++i) {
    const std::size_t ranks = shape_->ranks_of(i).size();
    nodes_.push_back(std::make_unique<node>(model_, ranks));
    first_core.push_back(cores_.size());
    for (std::size_t c = 0; c < std::min(model_.cluster.cores_a_node, ranks); ++c) {
      cores_.emplace_back(*this);
    }
  }
  return first_core;
}

simulation::~simulation() {
  const frame_pool::binding bound(pool_.get());
  ending_ = true;
  // Ranks end one by one: what one has lent is not to be read any more by the next.
  for (const auto& each : nodes_) each->failure.end();
  for (const auto& [number, each] : teams_) each->end();
  for (sim::rank& each : ranks_) each.stop();
  ranks_.clear();
}

wire::call_record* simulation::records() noexcept {
  return reinterpret_cast<wire::call_record*>(records_->data());
}

picoseconds simulation::awake_for(std::size_t number) const noexcept {
  const std::size_t ranks = shape_->ranks_of(shape_->node_of(number)).size();
  const bool shared = ranks > model_.cluster.cores_a_node;
  if (options_.look_on && !shared) return std::numeric_limits<picoseconds>::max();
  return from(
      (shared ? waiting_policy::cores_shared() : waiting_policy::core_of_its_own()).yield_for);
}

// ---- events

void simulation::schedule(picoseconds when, event::kind what, std::size_t whose, void* subject,
                          std::uint64_t value) {
  if (ending_) return;
  const std::uint64_t order = options_.shuffle ? random_.next() : last_event_++;
  queue_.push({when, order, what, static_cast<std::uint32_t>(whose), subject, value});
}

picoseconds simulation::disturbed(picoseconds time) noexcept {
  if (model_.jitter > 0) {
    time +=
        static_cast<picoseconds>(static_cast<double>(time) * model_.jitter * random_.fraction());
  }
  if (random_.chance(options_.faults.delayed)) {
    time += static_cast<picoseconds>(1000 * options_.faults.longest_delay_ns * random_.fraction());
  }
  return time;
}

void simulation::run(const program& each) {
  const frame_pool::binding bound(pool_.get());
  program_ = each;
  running_ = size();
  for (sim::rank& one : ranks_) one.wake();
  schedule_faults();
  constexpr std::uint64_t between_reports = std::uint64_t{1} << 16;
  while (running_ != 0) {
    if (queue_.empty()) {
      end_vain_waits();
      continue;
    }
    const event next = queue_.pop();
    look_ahead();
    now_ = next.when;
    if (++events_ % between_reports == 0 && options_.progress) options_.progress(events_);
    happen(next);
    if (!premature_.empty()) throw premature_access(premature_);
  }
}

void simulation::read_prematurely(std::size_t reader, std::size_t writer,
                                  const std::string& operation) {
  if (!premature_.empty()) return;
  premature_ = "rank " + std::to_string(reader) + " reads, in " + operation + ", what rank " +
               std::to_string(writer) + " has not announced, or is overwriting";
}

// Where an operation has failed, its buffers may be gone.
void simulation::require_unchanged(channel& on, std::uint64_t from_byte) {
  const channel::pair& of = on.of();
  const std::size_t node = shape_->node_of(of.from);
  const bool is_whole = !nodes_[node]->failure.why() && !ending_ && !ranks_[of.from].dead_ &&
                        (of.team == 0 || !team_at(of.team).failure_on(node).why());
  const bool is_unchanged = !is_whole || on.is_unchanged(from_byte);
  on.let_go(from_byte);
  if (is_unchanged || !premature_.empty()) return;
  premature_ = "rank " + std::to_string(of.from) + " changes, in " +
               std::string(name(ranks_[of.from].what_)) + ", what it sends to rank " +
               std::to_string(of.to) + " before it has left";
}

namespace {

bool is_of_message(event::kind what) noexcept {
  return what == event::kind::transmit || what == event::kind::reach ||
         what == event::kind::deliver;
}

/// Whether a rank goes on, or looks whether it can.
bool is_of_rank(event::kind what) noexcept {
  return what == event::kind::run || what == event::kind::work_done || what == event::kind::deliver;
}

}  // namespace

// What the next events are about lies in the caches no more where there are thousands of ranks. It
// is found step by step, each of which needs what the one before has had fetched.
void simulation::look_ahead() const noexcept {
  // Events from one step to the next: about the time that a line of memory takes.
  constexpr std::size_t apart = 4;
  static_assert(3 * apart < event_queue::ahead);
  if (const event* const one = queue_.upcoming(3 * apart)) {
    if (is_of_message(one->what)) prefetch_to_read(one->subject, sizeof(message));
    if (is_of_rank(one->what)) ranks_[one->rank].prefetch();
  }
  if (const event* const one = queue_.upcoming(2 * apart)) {
    if (one->what == event::kind::deliver) {
      prefetch_to_read(static_cast<const message*>(one->subject)->on, sizeof(channel));
    }
    if (is_of_rank(one->what)) ranks_[one->rank].prefetch_coroutine();
  }
  if (const event* const one = queue_.upcoming(apart)) {
    if (is_of_rank(one->what)) ranks_[one->rank].prefetch_wait();
  }
}

void simulation::happen(const event& one) {
  sim::rank& whose = ranks_[one.rank];
  switch (one.what) {
    case event::kind::run:
      return whose.run();
    case event::kind::turn:
      return whose.core_.turn(one.value);
    case event::kind::work_done:
      if (whose.core_.paused_until() > now_) {
        return schedule(whose.core_.paused_until(), one.what, one.rank);
      }
      return whose.finish_work();
    case event::kind::store:
      return become_visible(one);
    case event::kind::transmit:
      return transmit(one);
    case event::kind::reach:
      return reach(one);
    case event::kind::deliver:
      return arrive(one);
    case event::kind::left: {
      auto& on = *static_cast<channel*>(one.subject);
      if (options_.watch_reads) require_unchanged(on, one.value);
      on.leave();
      whose.wake();
      return recycle(on);
    }
    case event::kind::credit: {
      auto& on = *static_cast<channel*>(one.subject);
      on.credit(one.value);
      hear(on.of().to);
      whose.wake();
      return recycle(on);
    }
    case event::kind::deadline:
      return whose.meet_deadline();
    case event::kind::die:
      return die(whose);
    case event::kind::die_with_host:
      return die_with_host(whose);
    case event::kind::notice_death:
      end_life(one.rank, wire::liveness::died);
      return all_look();
    case event::kind::stop:
      return whose.core_.pause_until(static_cast<picoseconds>(one.value));
    case event::kind::lose:
      return lose(one.rank, one.value);
    case event::kind::tell:
      return tell(one);
    case event::kind::told:
      return hear_told(one);
    case event::kind::notice_failure:
      return look_on(shape_->node_of(one.rank));
  }
}

void simulation::become_visible(const event& one) {
  sim::rank& announcer = ranks_[one.rank];
  hear(one.rank);
  if (order_) order_->become_visible(one.rank, one.subject);
  // Asked before the word changes: what a wait watches next may depend on it.
  concerned_.clear();
  for (sim::rank* each : announcer.node_.ranks) {
    if (each != &announcer && each->engine_.is_concerned_by(one.subject)) {
      concerned_.push_back(each);
    }
  }
  static_cast<wire::counter*>(one.subject)->store(one.value, std::memory_order_release);
  for (sim::rank* each : concerned_) {
    announcer.wake_other(*each);
  }
}

// One connection serves both ways. Numbers that follow each other spread over an interface's cache.
std::uint64_t simulation::queue_pair(std::size_t local, std::size_t remote) const noexcept {
  const whereabouts& here = whereabouts_[local];
  return remote * here.ranks + here.index;
}

void simulation::transmit(const event& one) {
  auto& sent = *static_cast<message*>(one.subject);
  const std::size_t sender = sent.from;
  node_interfaces& interfaces = whereabouts_[sender].on->interfaces;
  if (is_cut_off(sent)) return drop(sent);
  sent.rail = one.value == 0 ? interfaces.choose_rail(sent.bytes) : interfaces.next_rail();
  if (waits_for_rail(shape_->node_of(sender), sent, one)) return;
  const auto passage = interfaces.send(now_, queue_pair(sender, sent.to), sent.bytes, sent.rail);
  if (sent.leaves_later) {
    if (options_.watch_reads) sent.on->hold(sent);
    schedule(passage.ends, event::kind::left, sender, sent.on, sent.from_byte);
    sent.leaves_later = false;
  }
  // Also where the latency is 0 it arrives after it has left.
  const picoseconds takes = std::max<picoseconds>(disturbed(costs_.latency), 1);
  schedule(passage.begins + takes, event::kind::reach, sender, &sent);
  if (!random_.chance(options_.faults.repeated)) return;
  message& again = make_message();
  again = sent;
  sent.on->post();
  say(sender);
  schedule(passage.ends + 2 * disturbed(costs_.latency), event::kind::reach, sender, &again);
}

void simulation::reach(const event& one) {
  auto& sent = *static_cast<message*>(one.subject);
  if (nodes_[shape_->node_of(sent.to)]->is_gone) return drop(sent);
  node_interfaces& interfaces = whereabouts_[sent.to].on->interfaces;
  if (one.value != 0) sent.rail = interfaces.next_rail();
  if (waits_for_rail(shape_->node_of(sent.to), sent, one)) return;
  const auto passage =
      interfaces.receive(now_, queue_pair(sent.to, sent.from), sent.bytes, sent.rail);
  schedule(passage.ends, event::kind::deliver, sent.to, &sent);
}

void simulation::arrive(const event& one) {
  auto& sent = *static_cast<message*>(one.subject);
  channel& on = *sent.on;
  const std::size_t sender = sent.from;
  sim::rank& receiver = ranks_[sent.to];
  if (has_lost(sent.to, sender)) return drop(sent);
  hear(sender);
  if (options_.trace != nullptr) options_.trace->arrives(sent.to, sent.number, now_);
  if (on.deliver(sent)) {
    // Within a node it is the sender who has to wake a sleeper; elsewhere the interface does.
    if (receiver.is_local_peer(sender)) {
      ranks_[sender].wake_other(receiver);
    } else {
      receiver.wake();
    }
  }
  recycle(on);
}

// ---- channels

std::uint64_t simulation::key(const channel::pair& of) const noexcept {
  const std::uint64_t lane = of.team * wire::extent().link_lanes() + of.lane;
  const std::uint64_t which = lane * kinds_of_channel + static_cast<std::uint64_t>(of.what);
  return (which * size() + of.from) * size() + of.to;
}

channel& simulation::open(const channel::pair& of) {
  const std::uint64_t number = key(of);
  channel* known = channels_.find(number);
  if (known == nullptr) {
    if (free_channels_.empty()) free_channels_.push_back(&all_channels_.emplace_back(*this));
    known = free_channels_.back();
    channels_.insert(number, *known);
    free_channels_.pop_back();
    known->begin(of);
  }
  known->used();
  return *known;
}

void simulation::close(channel& used) noexcept {
  used.unused();
  recycle(used);
}

void simulation::recycle(channel& idle) noexcept {
  if (!idle.is_idle() || ending_) return;
  idle.end();
  channels_.erase(key(idle.of()));
  free_channels_.push_back(&idle);
}

link& simulation::make_link() {
  if (free_links_.empty()) free_links_.push_back(&all_links_.emplace_back(*this));
  link& one = *free_links_.back();
  free_links_.pop_back();
  return one;
}

void simulation::free_link(link& one) noexcept {
  one.end();
  free_links_.push_back(&one);
}

message& simulation::make_message() {
  if (free_messages_ == nullptr) free_messages_ = &all_messages_.emplace_back();
  message& one = *std::exchange(free_messages_, free_messages_->next);
  one.leaves_later = false;
  one.next = nullptr;
  one.number = ++messages_;
  return one;
}

void simulation::free_message(message& one) noexcept {
  if (with_payload()) one.body.clear();
  one.next = free_messages_;
  free_messages_ = &one;
}

// ---- teams made from others

std::uint64_t simulation::make_team(std::vector<std::size_t> members, const wire::extent& much) {
  std::erase_if(left_teams_, [this](const auto& each) { return each->is_quiet(now_); });
  const std::uint64_t number = ++last_team_;
  teams_.emplace(number, std::make_unique<team_memory>(*this, number, std::move(members), much));
  return number;
}

void simulation::leave(team_memory& one, picoseconds quiet) noexcept {
  if (!one.leave(quiet)) return;
  const auto known = teams_.find(one.number());
  left_teams_.push_back(std::move(known->second));
  teams_.erase(known);
}

bool simulation::all_heard(std::size_t number) const noexcept {
  return whereabouts_[number].unheard == 0;
}

void simulation::end_program(sim::rank& of) noexcept {
  if (!ending_) of.fabric().pass_failure_on();
  end_life(of.number(), wire::liveness::left);
  look_for_left(of.number());
  if (ending_) return;
  --running_;
  meet_if_all_came();
}

std::uint64_t simulation::come_to_meeting(std::size_t number, picoseconds when) noexcept {
  const std::uint64_t meeting = gathering_->come(number, when);
  meet_if_all_came();
  return meeting;
}

void simulation::meet_if_all_came() noexcept {
  if (!gathering_->meet(running_)) return;
  for (const sim::rank& each : ranks_) {
    schedule(std::max(now_, gathering_->met_at()), event::kind::run, each.number());
  }
}

void simulation::end_vain_waits() {
  if (moves_ == moves_when_stuck_) report_deadlock();
  moves_when_stuck_ = moves_;
  all_look();
}

void simulation::report_deadlock() const {
  std::string text = "deadlock: nothing will happen any more, but\n";
  constexpr std::size_t most_named = 32;
  std::size_t count = 0;
  for (const sim::rank& each : ranks_) {
    if (each.is_over() || each.is_dead() || ++count > most_named) continue;
    text += "rank " + std::to_string(each.number()) + " at " +
            std::to_string(to_ns(each.idle_since_)) + " ns: " + each.engine_.describe_waits();
  }
  if (count > most_named) text += "and " + std::to_string(count - most_named) + " more ranks\n";
  throw deadlock(text);
}

}  // namespace muster::sim
