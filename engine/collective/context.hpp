#pragma once

#include <algorithm>
#include <array>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/collective/arguments.hpp"
#include "engine/collective/catalog.hpp"
#include "engine/collective/combine.hpp"
#include "engine/collective/neighbour_set.hpp"
#include "engine/collective/pooled.hpp"
#include "engine/collective/prepared_call.hpp"
#include "engine/collective/stream_copy.hpp"
#include "engine/progress/waiter.hpp"
#include "engine/team/team.hpp"
#include "engine/wire/board.hpp"
#include "engine/wire/fabric.hpp"

namespace muster {

class context;

/// A wait of a collective: ends with the job's failure, or when a rank it needs is gone, too.
class collective_wait : public waiter {
public:
  bool interrupted(clock_time now, bool thorough) noexcept override;
  /// Ranks that share this one's core run only when this one yields.
  bool awaits_other_cores_only() const noexcept override;
  std::string describe() const override;

  template <class Promise>
  void await_suspend(std::coroutine_handle<Promise> self) noexcept {
    suspend(engine_of(me_), self);
  }

protected:
  explicit collective_wait(context& me) noexcept : me_(me) {}
  ~collective_wait() = default;
  /// Whether what has not happened yet depends on `rank`.
  virtual bool awaits(std::size_t rank) const noexcept = 0;

  static muster::engine& engine_of(context& me) noexcept;
  /// Looks on for a moment before the coroutine suspends, where that is likely to pay.
  bool look_again() noexcept;

  context& me_;
};

/// Waits for one end of a channel to get on.
class channel_wait final : public collective_wait {
public:
  enum class until { has_room, has_left, holds };
  channel_wait(context& me, const wire::channel& on, until what, std::size_t bytes,
               std::size_t peer) noexcept
      : collective_wait(me), channel_(on), what_(what), bytes_(bytes), peer_(peer) {}

  bool ready() noexcept override;
  bool await_ready() noexcept { return ready() || look_again(); }
  void await_resume() { rethrow_interruption(); }
  const void* watched() const noexcept override { return &channel_; }

private:
  bool awaits(std::size_t rank) const noexcept override { return rank == peer_; }

  const wire::channel& channel_;
  until what_;
  std::size_t bytes_;
  std::size_t peer_;
};

/// Waits until a neighbour has arrived at this operation, and checks that it is the same one.
class read_wait final : public collective_wait {
public:
  read_wait(context& me, std::size_t neighbour, std::size_t bytes) noexcept
      : collective_wait(me), neighbour_(neighbour), bytes_(bytes) {}

  bool ready() noexcept override;
  bool await_ready() noexcept { return ready() ? found_there() : look_again(); }
  std::span<const std::byte> await_resume();
  const void* watched() const noexcept override;

private:
  bool found_there() const noexcept;
  bool awaits(std::size_t rank) const noexcept override;

  std::size_t neighbour_;
  std::size_t bytes_;
};

class track;

/// A wait for several neighbours: for their arrival at the operation, or for an item of a track.
class neighbours_wait : public collective_wait {
protected:
  neighbours_wait(context& me, track* on, std::size_t item) noexcept
      : collective_wait(me), track_(on), item_(item) {}
  ~neighbours_wait() = default;
  /// Also true for a neighbour that turns out to be in another operation: that is to be thrown.
  bool is_here(std::size_t neighbour) const noexcept;
  /// What has to change before a neighbour is here that is not; of one that is, what changed last.
  const void* watched_of(std::size_t neighbour) const noexcept;

  track* track_;
  std::size_t item_;
};

/// Some neighbours: all of the node, or those in a list, which outlives whoever looks at them.
class neighbour_list {
public:
  explicit neighbour_list(std::size_t all) noexcept : size_(all) {}
  explicit neighbour_list(std::span<const std::size_t> chosen) noexcept
      : chosen_(chosen.data()), size_(chosen.size()) {}

  std::size_t size() const noexcept { return size_; }
  std::size_t operator[](std::size_t i) const noexcept {
    return chosen_ == nullptr ? i : chosen_[i];
  }
  /// Where in the list a neighbour is; `size()` if nowhere.
  std::size_t find(std::size_t neighbour) const noexcept {
    if (chosen_ == nullptr) return neighbour;
    return static_cast<std::size_t>(std::find(chosen_, chosen_ + size_, neighbour) - chosen_);
  }

private:
  const std::size_t* chosen_ = nullptr;
  std::size_t size_;
};

/// Waits until all neighbours, or all of some, are there, and checks that they are in the same
/// operation. This rank may be among them: it is not waited for.
class everybody final : public neighbours_wait {
public:
  everybody(context& me, const neighbour_list& among, track* on = nullptr,
            std::size_t item = 0) noexcept
      : neighbours_wait(me, on, item), among_(among) {}
  bool ready() noexcept override;
  bool await_ready() noexcept { return ready() ? found_there() : look_again(); }
  void await_resume();
  const void* watched() const noexcept override;

private:
  bool found_there() const noexcept;
  bool awaits(std::size_t rank) const noexcept override;

  neighbour_list among_;
  std::size_t next_ = 0;  // all before it are here
};

/// Neighbours in the order in which their data arrives:
/// `while (auto from = co_await here.next()) …`
///
/// Each is given once; the sequence ends when all were. Of those that are there it gives first the
/// one after this rank, so that ranks that find everything there do not all read from the same.
class arrivals final : public neighbours_wait {
public:
  /// Arrivals at the operation itself, of all neighbours but this rank, or of some.
  explicit arrivals(context& me) noexcept;
  arrivals(context& me, std::span<const std::size_t> neighbours) noexcept;
  /// Arrivals of item `item` of a track; lenders, whose items all come at once, only for item 0.
  arrivals(context& me, track& on, std::size_t item) noexcept;

  /// An awaiter of its own: g++ 12 copies one that is an lvalue.
  struct next_arrival {
    arrivals& among;
    bool await_ready() const noexcept {
      return among.found_count_ != 0 || among.pending_count_ == 0 || among.ready() ||
             among.look_again();
    }
    template <class Promise>
    void await_suspend(std::coroutine_handle<Promise> self) const noexcept {
      among.await_suspend(self);
    }
    std::optional<std::size_t> await_resume() const { return among.take_arrival(); }
  };
  next_arrival next() noexcept { return {*this}; }

  /// How many have been seen to be there and not been given: the next so many need no waiting.
  std::size_t seen() const noexcept { return found_count_; }

  bool ready() noexcept override;

private:
  bool awaits(std::size_t rank) const noexcept override;
  std::optional<std::size_t> take_arrival();

  // Neighbours not seen yet, and those seen but not given; all of them are looked at in one go,
  // so that their lines travel at the same time.
  neighbour_set pending_;
  neighbour_set found_;
  std::size_t pending_count_;
  std::size_t found_count_ = 0;
  std::size_t cursor_;
  bool looked_ = false;
};

/// How the blocks of a long operation are cut into items that fit into the stage.
///
/// A rank's contribution is `blocks` blocks of `block_bytes` (one block, or one for each rank);
/// item k holds the k-th piece of every block.
struct items {
  std::size_t block_bytes = 0;
  std::size_t blocks = 1;
  std::size_t ahead = 0;  ///< items that a writer may stage before the slowest reader took them
  std::size_t piece = 0;  ///< bytes of a block in one item, a multiple of the grain

  /// Where many ranks write, more than two items ahead would only take cache away; where readers
  /// follow one writer, he may go as far as the stage allows.
  static constexpr std::size_t in_step = 2;
  static constexpr std::size_t far = wire::staged_items;

  /// \param grain what pieces are multiples of, itself one of the cache line; one grain of every
  ///              block fits into an item
  items(std::size_t block_bytes, std::size_t blocks, std::size_t ahead = in_step,
        std::size_t grain = wire::cache_line) noexcept;

  std::size_t count() const noexcept { return (block_bytes + piece - 1) / piece; }
  std::size_t offset(std::size_t item) const noexcept { return item * piece; }
  std::size_t length(std::size_t item) const noexcept {
    return std::min(piece, block_bytes - offset(item));
  }
};

/// A stream of items from every rank of a node to its neighbours.
///
/// A writer either *lends* memory that its neighbours can read where it is, all items at once, or
/// *stages* item after item in the node's memory, at most `items::ahead` ahead of the slowest
/// reader. Readers need not know which.
class track {
public:
  /// With a `sole_reader`, a neighbour that alone reads what all others write, each writer waits
  /// only for what that one has taken of it, not for the slowest writer: see `take_of`.
  track(context& me, std::size_t index, const items& cut, std::size_t sole_reader = all) noexcept;

  const items& cut() const noexcept { return cut_; }

  /// Offers the whole contribution where it is, if neighbours can get at it there. They can then
  /// read it until `returned`. Where they will only `copy` from it, it may also be lent where they
  /// cannot load from it, if that is faster on this machine.
  /// \returns whether it was lent; if not, stage it.
  enum class lending { for_loads, for_copies };
  bool lend(std::span<const std::byte> contribution, lending how) noexcept;
  bool lent() const noexcept { return lent_; }

  /// Waits for a free place for `item` in this rank's stage and gives it; block b's piece goes to
  /// `b * cut().piece`. `readers`: all neighbours, one, or some.
  class room_wait;
  room_wait room(std::size_t item, std::size_t readers = all) noexcept;
  room_wait room(std::size_t item, std::span<const std::size_t> readers) noexcept;
  /// Makes `item` visible, after its room was filled.
  void post(std::size_t item) noexcept;

  /// Waits for a neighbour's item.
  class item_wait;
  item_wait arrived(std::size_t neighbour, std::size_t item) noexcept;
  /// Where the piece of `block` of an item that has arrived can be read; null where it can only be
  /// copied.
  const std::byte* piece(std::size_t neighbour, std::size_t item, std::size_t block) noexcept;
  /// Copies the piece of `block` of an item that has arrived to its place in `whole`, and from a
  /// lender, on item 0, the whole block at once. Awaited, like all local work.
  wire::work_wait copy(std::size_t neighbour, std::size_t item, std::size_t block,
                       std::span<std::byte> whole);
  /// Whether a neighbour whose first item has arrived lends.
  bool lends(std::size_t neighbour) const noexcept;
  /// Items that must be taken from a neighbour whose first one has arrived.
  std::size_t items_of(std::size_t neighbour) const noexcept;

  /// This rank is done with `item`, and all before it, of every neighbour.
  void take(std::size_t item) noexcept;
  /// The sole reader is done with `item`, and all before it, of one neighbour.
  void take_of(std::size_t neighbour, std::size_t item) noexcept;
  /// Waits until the readers are done with what was lent; at once if nothing was.
  class return_wait;
  return_wait returned(std::size_t readers = all) noexcept;

  /// Neighbours whose item has arrived, in that order.
  arrivals here(std::size_t item) noexcept;
  /// Waits for the item of every neighbour, or of some.
  everybody all_here(std::size_t item) noexcept;
  everybody all_here(std::size_t item, std::span<const std::size_t> neighbours) noexcept {
    return {me_, neighbour_list(neighbours), this, item};
  }

  static constexpr std::size_t all = std::numeric_limits<std::size_t>::max();

protected:
  wire::posting& posting(std::size_t neighbour) const noexcept;
  std::byte* stage(std::size_t neighbour, std::size_t item) const noexcept;
  /// Whether readers had better copy a contribution of so many bytes from this rank's memory, if
  /// its blocks are, or the longest is, of `block_bytes`.
  bool is_better_foreign(std::size_t bytes, std::size_t block_bytes) const noexcept;
  /// Offers memory; the first post tells. \returns whether readers can get at it.
  bool offer(std::span<const std::byte> memory, bool foreign, std::size_t items_to_take) noexcept;
  void fetch(std::size_t neighbour, const wire::origin& from, std::size_t offset,
             std::span<std::byte> to);

  context& me_;
  std::size_t index_;
  items cut_;
  // Of a track whose writers have different numbers of items: how many this rank takes of each.
  std::span<const std::size_t> takes_ = {};

private:
  friend class neighbours_wait;
  bool is_here(std::size_t neighbour, std::size_t item) const noexcept;
  const void* watched_of(std::size_t neighbour) const noexcept;

  std::size_t sole_reader_;
  bool lent_ = false;
  std::size_t lent_items_ = 0;  // that readers take before what was lent is returned
};

/// Waits for the last users of an operation's lane and stage.
class turn_wait final : public collective_wait {
public:
  explicit turn_wait(context& me) noexcept : collective_wait(me) {}
  bool ready() noexcept override;
  /// Looks on where that is likely to pay.
  bool await_ready() noexcept;
  void await_suspend(const coroutine_place& place, std::coroutine_handle<> self) noexcept {
    suspend(place, self);
  }
  void await_resume() { rethrow_interruption(); }

private:
  bool awaits(std::size_t rank) const noexcept override;
  /// Looks on, but far apart.
  bool look_later() noexcept;
};

/// What an algorithm sees of its operation: this rank, its team and node, and the verbs with which
/// it moves, combines and waits. One object per rank and operation, alive while it runs; that of a
/// plan also between its runs.
class context : public bracket {
public:
  context(team& of, const arguments& call, const prepared_call& prepared) noexcept;
  context(const context&) = delete;
  context& operator=(const context&) = delete;

  /// The algorithm's coroutine, with this context around it.
  task<> run();

  muster::engine& engine() const noexcept { return team_.engine(); }
  std::size_t rank() const noexcept { return team_.rank(); }
  std::size_t size() const noexcept { return team_.size(); }
  const muster::shape& shape() const noexcept { return team_.shape(); }
  const arguments& call() const noexcept { return call_; }

  /// The ranks of this rank's node, ascending; a neighbour is an index into it.
  std::span<const std::size_t> node() const noexcept { return node_; }
  std::size_t node_index() const noexcept { return index_; }
  std::size_t rank_of(std::size_t neighbour) const noexcept { return node_[neighbour]; }

  /// Announces this rank's arrival. Every rank of every operation does so exactly once.
  void arrive() noexcept;
  /// The same, with up to `wire::short_stage_bytes` bytes for the neighbours to read.
  void publish(std::span<const std::byte> bytes) noexcept { publish(bytes, {}); }
  /// The same with two stretches of bytes, one after the other.
  void publish(std::span<const std::byte> first, std::span<const std::byte> second) noexcept;
  /// Waits for a neighbour to arrive; what it published, which must be `bytes` long.
  read_wait read(std::size_t neighbour, std::size_t bytes) noexcept {
    return {*this, neighbour, bytes};
  }
  /// Waits for all neighbours to arrive, or for some, who stand for the others.
  everybody all_here() noexcept { return {*this, neighbour_list(node_.size())}; }
  everybody all_here(std::span<const std::size_t> neighbours) noexcept {
    return {*this, neighbour_list(neighbours)};
  }
  /// Neighbours in the order of their arrival.
  arrivals here() noexcept { return arrivals(*this); }
  arrivals here(std::span<const std::size_t> neighbours) noexcept { return {*this, neighbours}; }
  /// What a neighbour that has arrived published.
  std::span<const std::byte> published(std::size_t neighbour, std::size_t bytes) const noexcept {
    return {publication(neighbour, bytes), bytes};
  }

  /// Sends bytes to a rank of any node; complete when they may be changed. In order per pair.
  task<> deliver(std::size_t rank, std::span<const std::byte> bytes);
  /// Receives the next bytes from a rank of any node into their place.
  task<> expect(std::size_t rank, std::span<std::byte> bytes);

  /// A copy that lives as long as the operation, so that it may be lent: what an algorithm's own
  /// frame holds is gone before a failure is announced.
  std::span<const std::byte> set_aside(std::span<const std::byte> bytes);
  /// The same for several blocks, each of which is exchanged for its copy.
  void set_aside(std::span<std::span<const std::byte>> blocks);

  /// Local work. Awaited, so that it can take time where time is virtual.
  wire::work_wait copy(std::span<std::byte> to, std::span<const std::byte> from) noexcept {
    wire::virtual_time* const time = fabric().time();
    // In-place forms meet here with both sides the same.
    if (to.data() != from.data() && !from.empty()) move_bytes(time, to, from.data());
    return wire::work_wait(time);
  }
  /// The same into this rank's result; past the cache, where the results of the node's ranks would
  /// not stay in it anyway.
  wire::work_wait copy_result(std::span<std::byte> to, const std::byte* from) {
    wire::virtual_time* const time = fabric().time();
    read_neighbours([&] {
      if (results_exceed_cache_) {
        stream_copy(to.data(), from, to.size());
      } else {
        move_bytes(time, to, from);
      }
    });
    return wire::work_wait(time);
  }
  wire::work_wait combine(std::byte* to, std::span<const std::byte* const> from,
                          std::size_t count) {
    wire::virtual_time* const time = fabric().time();
    read_neighbours([&] {
      if (time != nullptr) [[unlikely]] {
        time->combine(call_, to, from, count);
      } else {
        muster::combine(call_, to, from, count);
      }
    });
    return wire::work_wait(time);
  }

  /// "allreduce(16 x float64, sum), operation 7", for messages.
  std::string describe() const;

protected:
  // The operation begins with its place in the team's order, and ends well or by breaking the team
  // (unless it is broken already).
  void take_place() noexcept;
  void end(const std::exception_ptr& failure) noexcept override;
  /// One that is still under way ends here.
  ~context() { end_if_running(); }
  void end_if_running() noexcept {
    turn_.reset();  // its coroutine may go before this object does
    refusal_ = nullptr;
    if (running_) [[unlikely]] {
      abandon_destroyed();
    }
  }

private:
  friend class collective_wait;
  friend class turn_wait;
  friend class read_wait;
  friend class neighbours_wait;
  friend class everybody;
  friend class arrivals;
  friend class track;
  friend class varying_track;
  friend class takers_wait;

  wire::fabric& fabric() const noexcept { return team_.fabric(); }
  /// The time that this rank's work so far takes.
  wire::work_wait work() const noexcept { return wire::work_wait(fabric().time()); }
  static void move_bytes(wire::virtual_time* time, std::span<std::byte> to,
                         const std::byte* from) noexcept {
    if (to.empty()) return;  // there may be no address
    if (time != nullptr) [[unlikely]] {
      time->copy(to, from);
    } else {
      std::memcpy(to.data(), from, to.size());
    }
  }
  const wire::board& board() const noexcept { return team_.fabric().board(); }
  wire::arrival& arrival(std::size_t neighbour) const noexcept { return lane_[neighbour]; }
  bool has_arrived(std::size_t neighbour) const noexcept {
    // acquire: pairs with the release in `fabric::announce`.
    const std::uint64_t word = arrival(neighbour).word.load(std::memory_order_acquire);
    return ((word ^ ticket_.word) >> 32) == 0;
  }
  /// Whether a neighbour that has arrived is in another operation than this rank.
  bool differs(std::size_t neighbour) const noexcept {
    // relaxed: whoever asks has seen the word with acquire.
    return arrival(neighbour).word.load(std::memory_order_relaxed) != ticket_.word;
  }
  /// Of a neighbour that has arrived: throws if it is in another operation, and takes note of what
  /// it says it has completed.
  void check_fingerprint(std::size_t neighbour) {
    if (differs(neighbour)) [[unlikely]] {
      throw_mismatch(neighbour);
    }
    std::uint64_t& known = team_.known_complete_[neighbour];
    known = std::max(known, arrival(neighbour).completed.load(std::memory_order_relaxed));
  }
  /// A neighbour was there at the first look. Where it waits for nobody it is ahead, and what it
  /// will be asked for next is probably there, too: that can travel meanwhile.
  void look_ahead(std::size_t neighbour, std::size_t published) const noexcept {
    if (has_root(call_.what) && ticket_.kind <= stage_kind::one_way) {
      prefetch_next(neighbour, published);
    }
  }
  void prefetch_next(std::size_t neighbour, std::size_t published) const noexcept;
  /// Where so many bytes of a one-way operation lie: those stages go with the lanes.
  std::byte* one_way_stage(std::size_t lane, std::size_t neighbour,
                           std::size_t bytes) const noexcept {
    return bytes <= wire::tiny_stage_bytes ? board().tiny_stage(lane, neighbour)
                                           : board().short_stage(lane, neighbour);
  }
  void prepare_next_publication(std::size_t bytes) const noexcept;
  /// Where time is virtual, fetching a flag's line takes some.
  void have_fetched(const void* flag) const noexcept {
    if (wire::virtual_time* time = fabric().time()) [[unlikely]] {
      time->fetch_line(flag);
    }
  }
  [[noreturn]] void throw_mismatch(std::size_t neighbour) const;
  /// Set as long as it lives, also where the work between them throws.
  class reading_marks {
  public:
    explicit reading_marks(wire::fabric& on) noexcept : on_(on) { on_.begin_reading(); }
    ~reading_marks() { on_.end_reading(); }
    reading_marks(const reading_marks&) = delete;
    reading_marks& operator=(const reading_marks&) = delete;

  private:
    wire::fabric& on_;
  };
  /// Does work that reads neighbours' memory. They may have lent it, and whoever lends takes it
  /// back when the operation fails: then the work is not begun, or does not count.
  /// \throws error where the team is broken before or after.
  template <class Work>
  void read_neighbours(Work work) {
    if (ticket_.kind < stage_kind::lengthy) {  // nothing is lent
      work();
      return;
    }
    bool whole = false;
    {
      const reading_marks marks(fabric());
      whole = !fabric().broken();
      if (whole) work();
    }
    if (!whole || fabric().broken()) [[unlikely]] {
      throw_breakage();
    }
  }
  [[noreturn]] void throw_breakage() const;
  /// Where a rank's published bytes lie.
  std::byte* publication(std::size_t neighbour, std::size_t bytes) const noexcept {
    if (bytes <= wire::inline_bytes) return arrival(neighbour).payload.data();
    return bytes <= wire::tiny_stage_bytes ? board().tiny_stage(ticket_.stage, neighbour)
                                           : board().short_stage(ticket_.stage, neighbour);
  }
  bool begin(const coroutine_place& place, std::coroutine_handle<> self) noexcept override;
  void enter() override;
  void complete() noexcept;
  void abandon(const error& why) noexcept;
  [[gnu::cold]] void abandon(const std::exception_ptr& failure) noexcept;
  [[gnu::cold]] void abandon_destroyed() noexcept;
  [[gnu::cold]] void refuse() noexcept;
  void write_record() noexcept;
  /// Bytes that the ranks of this node receive together.
  std::size_t received_in_node() const noexcept;
  /// Why waiting for `rank` is in vain, if it is.
  std::exception_ptr lost(std::size_t rank) const noexcept;
  std::optional<error> mismatch(std::size_t rank) const;
  std::exception_ptr breakage() const noexcept;
  bool lane_is_free() noexcept;

  team& team_;
  arguments call_;
  std::span<const std::size_t> node_;
  std::size_t index_;
  prepared_call prepared_;
  bool running_ = false;
  bool results_exceed_cache_ = false;
  wire::arrival* lane_ = nullptr;  // of all neighbours
  ticket ticket_;
  std::vector<std::byte> aside_;
  std::optional<turn_wait> turn_;  // while it waits for its turn
  std::exception_ptr refusal_;     // why it did not even begin
};

// ---- waits that need the whole of context

inline everybody track::all_here(std::size_t item) noexcept {
  return {me_, neighbour_list(me_.node().size()), this, item};
}

/// Waits until readers have taken so many items that one more has room, or all are returned.
class takers_wait : public collective_wait {
public:
  takers_wait(context& me, std::size_t track, std::uint64_t items,
              const neighbour_list& readers) noexcept
      : collective_wait(me), track_(track), items_(items), readers_(readers) {}
  /// `readers` are those to wait for: all neighbours, or one. `sole_reader`, if there is one, says
  /// in this rank's line what it took of this rank.
  takers_wait(context& me, std::size_t track, std::uint64_t items, std::size_t readers,
              std::size_t sole_reader) noexcept;
  bool ready() noexcept override;
  bool await_ready() noexcept { return ready() || look_again(); }
  const void* watched() const noexcept override;

protected:
  ~takers_wait() = default;

private:
  bool awaits(std::size_t rank) const noexcept override;
  const wire::counter& taken_by(std::size_t line) const noexcept;
  bool is_taken(std::size_t line) const noexcept;

  std::size_t track_;
  std::uint64_t items_;
  neighbour_list readers_;
  std::size_t sole_reader_ = track::all;
  std::size_t next_ = 0;  // the first reader not yet known to be far enough
  std::size_t end_ = readers_.size();
};

class track::room_wait final : public takers_wait {
public:
  room_wait(context& me, std::size_t track, std::uint64_t items, std::size_t readers,
            std::size_t sole_reader, std::byte* place) noexcept
      : takers_wait(me, track, items, readers, sole_reader), place_(place) {}
  room_wait(context& me, std::size_t track, std::uint64_t items, const neighbour_list& readers,
            std::byte* place) noexcept
      : takers_wait(me, track, items, readers), place_(place) {}
  std::byte* await_resume() {
    rethrow_interruption();
    return place_;
  }

private:
  std::byte* place_;
};

class track::return_wait final : public takers_wait {
public:
  using takers_wait::takers_wait;
  void await_resume() { rethrow_interruption(); }
};

class track::item_wait final : public collective_wait {
public:
  item_wait(context& me, track& on, std::size_t neighbour, std::size_t item) noexcept
      : collective_wait(me), track_(on), neighbour_(neighbour), item_(item) {}
  bool ready() noexcept override;
  bool await_ready() noexcept { return ready() || look_again(); }
  void await_resume();
  const void* watched() const noexcept override;

private:
  bool awaits(std::size_t rank) const noexcept override;

  track& track_;
  std::size_t neighbour_;
  std::size_t item_;
};

}  // namespace muster
