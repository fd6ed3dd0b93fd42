#include "transports/shm/job.hpp"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <utility>

#include "transports/shm/fence.hpp"
#include "transports/shm/foreign.hpp"

namespace muster::shm {

struct job::header {
  std::uint64_t magic;
  flight_directory flights;
  std::uint64_t ranks;
  std::uint64_t arena_bytes;
  std::uint64_t boards_bytes;
  std::uint64_t ring_bytes;
  muster::machine measured;
  bool one_process;
  bool nobody_sleeps;
  alignas(wire::cache_line) failure_record failure;
};

// "MUSTER" and what would differ between builds that lay out memory differently.
std::uint64_t job::version() noexcept {
  return 0x4d55'5354'4552'0000 ^ (sizeof(header) << 40) ^
         ((wire::board::bytes(3) + team_memory::bytes(3, {})) * 0x9e37'79b9);
}

namespace {

constexpr std::size_t round_up(std::size_t bytes, std::size_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

std::size_t node_bytes(std::size_t ranks, const job_options& options) {
  return wire::board::bytes(ranks) + ranks * (options.arena_bytes + options.boards_bytes);
}

/// A power of two, since what was once divided by it is divided by it for ever.
std::size_t ring_bytes_for(std::size_t ranks, std::size_t link_bytes) {
  constexpr std::size_t least = 4096;
  return std::clamp(std::bit_floor(link_bytes / ranks), least, wire::link::capacity);
}

/// Since the system started; it wraps around.
std::uint32_t coarse_ms() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return static_cast<std::uint32_t>(now.tv_sec * 1000 + now.tv_nsec / 1'000'000);
}

[[noreturn]] void refuse(const std::string& why) { throw error(errc::bootstrap, why); }

std::size_t parse_number(std::string_view& text) {
  std::size_t value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc{}) refuse("'" + std::string(text) + "' does not begin with a number");
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (!text.empty() && text.front() != ',') {
    refuse("a comma should come before '" + std::string(text) + "'");
  }
  if (!text.empty()) text.remove_prefix(1);
  return value;
}

int adopt(std::size_t descriptor) {
  const bool fits = descriptor <= static_cast<std::size_t>(std::numeric_limits<int>::max());
  const int fd = fits ? static_cast<int>(descriptor) : -1;
  // The job's descriptors are this rank's, not its children's.
  if (::fcntl(fd, F_SETFD, FD_CLOEXEC) != 0) {
    refuse("descriptor " + std::to_string(descriptor) + " is not open");
  }
  return fd;
}

/// What is no memory is somebody else's, and stays open.
descriptor adopt_memory(std::size_t number) {
  if (::fcntl(static_cast<int>(number), F_GET_SEALS) < 0) {
    refuse("descriptor " + std::to_string(number) + " is not the shared memory of a job");
  }
  return descriptor(adopt(number));
}

}  // namespace

std::size_t link_memory_asked_for() {
  const char* const text = environment::read(environment::link_memory);
  if (text == nullptr) return std::size_t{64} << 20;
  const std::string_view digits(text);
  std::size_t bytes = 0;
  const auto [end, code] = std::from_chars(digits.begin(), digits.end(), bytes);
  if (code == std::errc{} && end == digits.end()) return bytes;
  throw error(errc::invalid_argument, std::string(environment::link_memory.name) + " is '" + text +
                                          "'; expected a number of bytes");
}

// The control segment: header, places, lines, who watches whom, what all ranks share as a team,
// what each keeps of its calls, what each gives out for other teams, who has said something to
// whom, and a ring for each pair, which takes no memory until it is used.
struct job::control_layout {
  std::size_t places, lines, watchers, each_watchers, team, flights, each_flight, controls,
      each_controls, connected, rings, each_ring, end;

  control_layout(std::size_t ranks, std::size_t boards_bytes, std::size_t ring_bytes) {
    constexpr std::size_t page = 4096;
    places = round_up(sizeof(header), wire::cache_line);
    lines = round_up(places + ranks * sizeof(place), wire::cache_line);
    watchers = lines + ranks * sizeof(rank_line);
    each_watchers = round_up((ranks + 7) / 8, wire::cache_line);
    team = watchers + ranks * each_watchers;
    flights = round_up(team + team_memory::bytes(ranks, {}), page);
    each_flight = round_up(sizeof(flight_record), page);
    controls = flights + ranks * each_flight;
    // A team's controls are much smaller than its boards, but for very many ranks.
    each_controls = round_up(boards_bytes / 16, page);
    connected = controls + ranks * each_controls;
    rings = round_up(connected + ranks * ranks, page);
    each_ring = sizeof(ring) + ring_bytes;
    end = rings + ranks * ranks * each_ring;
  }
};

job::job() : process_(::getpid()) {}

bool job::is_inherited() const noexcept { return process_ != ::getpid(); }

job::control_layout job::layout() const noexcept {
  return {size(), head().boards_bytes, head().ring_bytes};
}

job job::create(const job_options& options) {
  job made;
  made.places_ = options.places;
  made.shape_.emplace(made.places_);
  const std::size_t ranks = made.size();
  const std::size_t nodes = made.shape_->nodes();
  const std::size_t ring_bytes =
      ring_bytes_for(ranks, options.link_bytes ? *options.link_bytes : link_memory_asked_for());
  const control_layout layout(ranks, options.boards_bytes, ring_bytes);
  made.control_ = segment::create("muster-job", layout.end);
  for (std::size_t node = 0; node < nodes; ++node) {
    made.nodes_.push_back(
        segment::create("muster-node", node_bytes(made.shape_->ranks_of(node).size(), options)));
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) made.bells_.emplace_back();

  header& head = made.head();
  head.ranks = ranks;
  head.arena_bytes = options.arena_bytes;
  head.boards_bytes = options.boards_bytes;
  head.ring_bytes = ring_bytes;
  head.measured = options.measured;
  // Where nobody sleeps, whoever would wake them needs no fence of its own, either.
  head.measured.asymmetric_fence = options.nobody_sleeps || asymmetric_fence_works();
  head.measured.shared_scratch_bytes = options.arena_bytes;
  head.measured.message_piece = ring_bytes / 2;
  head.one_process = options.one_process;
  head.nobody_sleeps = options.nobody_sleeps;
  std::copy(options.places.begin(), options.places.end(),
            reinterpret_cast<place*>(made.control_.base() + layout.places));
  head.flights.layout = flight_directory::this_layout;
  head.flights.ranks = static_cast<std::uint32_t>(ranks);
  head.flights.first = layout.flights;
  head.flights.stride = layout.each_flight;
  head.flights.first_asleep = layout.lines + offsetof(rank_line, parked);
  head.flights.asleep_stride = sizeof(rank_line);
  head.flights.magic = flight_directory::right_magic;
  head.magic = version();
  // Right for ranks that are threads; a process that joins puts its own.
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    made.line(rank).process.store(::getpid(), std::memory_order_relaxed);
  }
  if (!options.nobody_sleeps) register_for_asymmetric_fence();
  return made;
}

std::optional<job> job::join() {
  const char* variable = environment::read(environment::job);
  if (variable == nullptr) return std::nullopt;
  std::string_view text = variable;
  std::optional<job> joined;
  try {
    const std::size_t rank = parse_number(text);
    segment control = segment::attach(adopt_memory(parse_number(text)));
    segment node = segment::attach(adopt_memory(parse_number(text)));
    std::vector<doorbell> bells;
    while (!text.empty()) bells.emplace_back(doorbell(adopt(parse_number(text))));
    joined = attach(rank, std::move(control), std::move(node), std::move(bells));
  } catch (const error& why) {
    throw error(errc::bootstrap, std::string(environment_name) + ": " + why.text() +
                                     "; expected what `muster run` sets");
  }
  // Whatever this process starts is not a rank of this job.
  ::unsetenv(environment_name);
  return joined;
}

job job::attach(std::size_t rank, segment control, segment node, std::vector<doorbell> bells) {
  job joined;
  joined.joined_as_ = rank;
  joined.control_ = std::move(control);
  joined.bells_ = std::move(bells);
  const header& head = joined.head();
  if (joined.control_.bytes() < sizeof(header) || head.magic != version()) {
    refuse("this is not the control segment of a job of this version of Muster");
  }
  if (joined.bells_.size() != head.ranks || rank >= head.ranks) {
    refuse("rank or number of doorbells do not fit a job of " + std::to_string(head.ranks));
  }
  joined.read_places();
  joined.nodes_.resize(joined.shape_->nodes());
  joined.nodes_[joined.shape_->node_of(rank)] = std::move(node);
  // It takes the kernel some 15 ms in a process that has threads.
  if (!head.nobody_sleeps) register_for_asymmetric_fence();
  let_others_read();
  // release: whoever reads what this rank lends finds it here.
  joined.line(rank).process.store(::getpid(), std::memory_order_release);
  return joined;
}

void job::read_places() {
  const std::size_t ranks = head().ranks;
  const control_layout layout(ranks, head().boards_bytes, head().ring_bytes);
  const auto* first = reinterpret_cast<const place*>(control_.base() + layout.places);
  places_.assign(first, first + ranks);
  shape_.emplace(places_);
}

std::string job::environment_for(std::size_t rank) const {
  std::string text = std::to_string(rank);
  for (const int descriptor : descriptors_for(rank)) text += "," + std::to_string(descriptor);
  return text;
}

std::vector<int> job::descriptors_for(std::size_t rank) const {
  std::vector<int> all = {control_.descriptor(), nodes_[shape_->node_of(rank)].descriptor()};
  for (const doorbell& bell : bells_) all.push_back(bell.descriptor());
  return all;
}

job::header& job::head() const noexcept { return *reinterpret_cast<header*>(control_.base()); }
const muster::machine& job::machine() const noexcept { return head().measured; }
bool job::one_process() const noexcept { return head().one_process; }
std::size_t job::arena_bytes() const noexcept { return head().arena_bytes; }

rank_line& job::line(std::size_t rank) const noexcept {
  return reinterpret_cast<rank_line*>(control_.base() + layout().lines)[rank];
}

std::span<std::atomic<std::uint64_t>> job::watchers_of(std::size_t rank) const noexcept {
  const control_layout at = layout();
  std::byte* const first = control_.base() + at.watchers + rank * at.each_watchers;
  return {reinterpret_cast<std::atomic<std::uint64_t>*>(first), (size() + 63) / 64};
}

team_memory job::team() const noexcept { return team_memory(control_.base() + layout().team); }

ring& job::ring_of(std::size_t sender, std::size_t receiver) const noexcept {
  const control_layout at = layout();
  const std::size_t number = receiver * size() + sender;
  return *reinterpret_cast<ring*>(control_.base() + at.rings + number * at.each_ring);
}

std::size_t job::ring_bytes() const noexcept { return head().ring_bytes; }

std::atomic<std::uint8_t>& job::connected(std::size_t sender, std::size_t receiver) const noexcept {
  std::byte* const first = control_.base() + layout().connected;
  return reinterpret_cast<std::atomic<std::uint8_t>*>(first)[receiver * size() + sender];
}

void job::connect(std::size_t sender, std::size_t receiver) const noexcept {
  connected(sender, receiver).store(1, std::memory_order_relaxed);
  // release: whoever counts it finds who it is.
  line(receiver).connections.fetch_add(1, std::memory_order_release);
}

bool job::is_connected(std::size_t sender, std::size_t receiver) const noexcept {
  // relaxed: what is in the ring is published by the ring.
  return connected(sender, receiver).load(std::memory_order_relaxed) != 0;
}

flight_record& job::flight(std::size_t rank) const noexcept {
  const control_layout at = layout();
  return *reinterpret_cast<flight_record*>(control_.base() + at.flights + rank * at.each_flight);
}

flight_directory& job::flights() const noexcept {
  static_assert(offsetof(header, flights) == flight_directory::place);
  return head().flights;
}

segment_part job::controls(std::size_t rank) const noexcept {
  const control_layout at = layout();
  return {&control_, {control_.base() + at.controls + rank * at.each_controls, at.each_controls}};
}

wire::board job::board(std::size_t node) const noexcept {
  return {node_base(node), shape_->ranks_of(node).size()};
}

std::byte* job::node_base(std::size_t node) const noexcept { return nodes_[node].base(); }

std::span<std::byte> job::arena(std::size_t node, std::size_t index) const noexcept {
  const std::size_t start = wire::board::bytes(shape_->ranks_of(node).size());
  return {node_base(node) + start + index * arena_bytes(), arena_bytes()};
}

segment_part job::boards(std::size_t rank) const noexcept {
  const std::size_t node = shape_->node_of(rank);
  const std::size_t ranks = shape_->ranks_of(node).size();
  const std::size_t bytes = head().boards_bytes;
  const std::size_t start = wire::board::bytes(ranks) + ranks * arena_bytes();
  return {&nodes_[node], {node_base(node) + start + shape_->index_of(rank) * bytes, bytes}};
}

void job::ring_all() const noexcept {
  for (const doorbell& bell : bells_) bell.ring();
}

wire::liveness job::state(std::size_t rank) const noexcept {
  // acquire: pairs with `set_state`.
  return static_cast<wire::liveness>(line(rank).state.load(std::memory_order_acquire));
}

// The rank looks at that line whenever it announces something: it is written to rarely.
void job::note_missed(std::size_t rank) const noexcept {
  constexpr std::uint32_t often_enough_ms = 100;
  std::atomic<std::uint32_t>& missed = line(rank).missed;
  const std::uint32_t now = coarse_ms();
  // relaxed: it is a time, and of nothing else.
  if (now - missed.load(std::memory_order_relaxed) >= often_enough_ms) {
    missed.store(now, std::memory_order_relaxed);
  }
}

bool job::is_missed(std::size_t rank) const noexcept {
  constexpr std::uint32_t recently_ms = 1000;
  const std::uint32_t last = line(rank).missed.load(std::memory_order_relaxed);
  return last != 0 && coarse_ms() - last < recently_ms;
}

void job::set_state(std::size_t rank, wire::liveness state) const noexcept {
  // release: whoever sees a rank gone sees all that it had announced before.
  line(rank).state.store(static_cast<std::uint32_t>(state), std::memory_order_release);
  ring_all();
}

void job::fail(const wire::failure& why) const noexcept {
  if (head().failure.write(why)) ring_all();
}

const std::atomic<std::uint32_t>& job::failure_state() const noexcept {
  return head().failure.state;
}

std::optional<wire::failure> job::failed() const { return head().failure.read(); }

}  // namespace muster::shm
