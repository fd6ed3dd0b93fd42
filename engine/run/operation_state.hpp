#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include <muster/base/copy_bytes.hpp>
#include <muster/base/prefetch.hpp>
#include <muster/call/arguments.hpp>
#include <muster/run/flight_recorder.hpp>
#include <muster/run/scratch_memory.hpp>
#include <muster/run/team.hpp>
#include <muster/run/verb_checks.hpp>
#include <muster/select/catalog.hpp>
#include <muster/select/prepared_call.hpp>
#include <muster/wire/fabric.hpp>

namespace muster {

/// One that has lent memory from which others cannot copy themselves, and copies for them.
class lender {
public:
  virtual void answer_readers() noexcept = 0;

protected:
  ~lender() = default;

private:
  friend class lender_list;
  lender* next_ = nullptr;
};

/// Those of an operation.
class lender_list {
public:
  bool empty() const noexcept { return first_ == nullptr; }
  void add(lender& one) noexcept { one.next_ = std::exchange(first_, &one); }
  void remove(const lender& one) noexcept {
    lender** at = &first_;
    while (*at != &one) at = &(*at)->next_;
    *at = one.next_;
  }
  void answer_readers() noexcept {
    for (lender* one = first_; one != nullptr; one = one->next_) one->answer_readers();
  }

private:
  lender* first_ = nullptr;
};

/// An operation as its waits and pipelines see it: the call, its place in the team's order, and
/// what its ranks have announced. Algorithms see its `context`.
class operation_state {
public:
  operation_state(const operation_state&) = delete;
  operation_state& operator=(const operation_state&) = delete;

  muster::team& team() const noexcept { return team_; }
  muster::engine& engine() const noexcept { return team_.engine(); }
  std::size_t rank() const noexcept { return team_.rank(); }
  std::size_t size() const noexcept { return team_.size(); }
  const muster::shape& shape() const noexcept { return team_.shape(); }
  const muster::machine& machine() const noexcept { return team_.machine(); }
  const arguments& call() const noexcept { return call_; }
  const muster::ticket& ticket() const noexcept { return ticket_; }

  /// The ranks of this rank's node, ascending; a local peer is an index into it.
  std::span<const std::size_t> node() const noexcept { return node_; }
  std::size_t node_index() const noexcept { return index_; }
  std::size_t rank_of(std::size_t local_peer) const noexcept { return node_[local_peer]; }

  wire::node_memory& memory() const noexcept { return team_.memory(); }
  const wire::board& board() const noexcept { return memory().board(); }
  wire::membership& members() const noexcept { return team_.members(); }
  wire::links& links() const noexcept { return team_.links(); }
  wire::virtual_time* time() const noexcept { return team_.time(); }
  bookkeeping& books() const noexcept { return team_.books(); }
  /// A link of this operation.
  wire::open_link link(std::size_t peer, wire::links::purpose what) const {
    return {links(), ticket_.link_lane, peer, what};
  }

  /// "allreduce(16 x float64, sum), operation 7", for messages.
  std::string describe() const;

  /// Whether `verb_checks` are asked: in builds with assertions, and under virtual time.
  bool is_checked() const noexcept {
#ifdef NDEBUG
    return time() != nullptr;
#else
    return true;
#endif
  }
  verb_checks checks() const noexcept { return {call_.what, prepared_.chosen->id, ticket_.kind}; }

  // ---- arrivals

  wire::arrival& arrival(std::size_t local_peer) const noexcept { return lane_[local_peer]; }
  bool has_arrived(std::size_t local_peer) const noexcept {
    // acquire: pairs with the release in `node_memory::announce`.
    return is_of_this_operation(arrival(local_peer).word.load(std::memory_order_acquire));
  }
  /// \param word of an arrival, which may be in another operation of the same number
  bool is_of_this_operation(std::uint64_t word) const noexcept {
    return ((word ^ ticket_.word) >> 32) == 0;
  }
  /// Whether a local peer that has arrived is in another operation than this rank.
  bool differs(std::size_t local_peer) const noexcept {
    // relaxed: whoever asks has seen the word with acquire.
    return arrival(local_peer).word.load(std::memory_order_relaxed) != ticket_.word;
  }
  /// Of a local peer that has arrived: throws if it is in another operation, and takes note of what
  /// it says it has completed.
  void check_fingerprint(std::size_t local_peer) const {
    // relaxed: whoever asks has seen the word with acquire.
    note_arrival(local_peer, arrival(local_peer).word.load(std::memory_order_relaxed));
  }
  /// \param word of its arrival
  void note_arrival(std::size_t local_peer, std::uint64_t word) const {
    if (word != ticket_.word) [[unlikely]] {
      throw_mismatch(local_peer);
    }
    note_completed(books().known_complete[local_peer], arrival(local_peer));
  }
  static void note_completed(std::uint64_t& known, const wire::arrival& by) noexcept {
    // relaxed: whoever asks has seen the word beside it with acquire.
    known = std::max(known, by.completed.load(std::memory_order_relaxed));
  }
  /// Where a rank's published bytes lie.
  std::byte* publication(std::size_t local_peer, std::size_t bytes) const noexcept {
    if (bytes <= wire::inline_bytes) return arrival(local_peer).payload.data();
    return staged(ticket_.stage, local_peer, bytes);
  }
  /// A local peer was there at the first look. Where it waits for nobody it is ahead, and what it
  /// will be asked for next is probably there, too: that can travel meanwhile.
  void look_ahead(std::size_t local_peer, std::size_t published) const noexcept {
    if (ticket_.kind > stage_kind::one_way || !has_root(call_.what)) return;
    const std::size_t lane = board().lane_of(ticket_.sequence + 1);
    prefetch_to_read(&board().arrival(lane, local_peer));
    if (ticket_.kind == stage_kind::none) return;
    prefetch_to_read(staged(lane, local_peer, published));
  }
  /// What a rank does once it has seen what a flag says. Where time is virtual, fetching its line
  /// takes some; and only what a flag announced that was read may be read.
  void have_read(const void* flag) const noexcept {
    if (wire::virtual_time* const time = this->time()) [[unlikely]] {
      time->read_flag(flag);
    }
  }
  /// Whether the last users of the operation's lane and stage are done with them.
  bool lane_is_free() const noexcept {
    const bool was_free = ticket_.after <= books().known_complete_by_all;
    return (was_free && ticket_.kind != stage_kind::apart) || lane_has_become_free();
  }

  // ---- local work

  /// The time that this rank's work so far takes.
  wire::work_wait work() const noexcept { return wire::work_wait(time()); }
  static void move_bytes(wire::virtual_time* time, std::span<std::byte> to,
                         const std::byte* from) noexcept {
    if (to.empty()) return;  // there may be no address
    if (time != nullptr) [[unlikely]] {
      time->copy(to, from);
    } else {
      copy_bytes(to.data(), from, to.size());
    }
  }
  /// Does work that reads local peers' memory. They may have lent it, and whoever lends takes it
  /// back when the operation fails: then the work is not begun, or does not count.
  /// \throws error where the team is broken before or after.
  template <class Work>
  [[gnu::always_inline]] void read_local_peers(Work work) const {
    if (ticket_.kind < stage_kind::lengthy) {  // nothing is lent
      work();
    } else {
      read_lent(std::move(work));
    }
  }
  template <class Work>
  [[gnu::noinline]] void read_lent(Work work) const {
    bool whole = false;
    {
      const reading_marks marks(memory());
      whole = !members().broken();
      if (whole) work();
    }
    if (!whole || members().broken()) [[unlikely]] {
      throw_breakage();
    }
  }

  /// Takes note, where calls are on record, that it waits for `count` ranks, and for which first.
  void note_wait(std::size_t rank, std::size_t count) const noexcept {
    if (!is_on_record()) return;
    flight_recorder::wait(*flown_, rank, count);
    team_.flight()->look();
  }

  /// Pipelines from whose lent memory the kernel copies.
  lender_list& lenders() noexcept { return lenders_; }
  /// A pipeline lends memory, waits until its readers are done with that. Kept where verbs are
  /// checked.
  void note_lent() noexcept { ++lent_; }
  void note_returned() noexcept { --lent_; }

protected:
  /// Whether it is still among the calls on record.
  bool is_on_record() const noexcept {
    // relaxed: this thread has written it.
    return flown_ != nullptr && flown_->word.load(std::memory_order_relaxed) == ticket_.word;
  }

  operation_state(muster::team& of, const arguments& call, const prepared_call& prepared) noexcept
      : team_(of), call_(call), node_(of.node()), index_(of.node_index()), prepared_(prepared) {
    call_.how = prepared.how;
  }
  ~operation_state() = default;

  /// Where so many published bytes lie, of which too many for the arrival's line.
  std::byte* staged(std::size_t stage, std::size_t local_peer, std::size_t bytes) const noexcept {
    return bytes <= wire::tiny_stage_bytes ? board().tiny_stage(stage, local_peer)
                                           : board().short_stage(stage, local_peer);
  }

  muster::team& team_;
  arguments call_;
  std::span<const std::size_t> node_;
  std::size_t index_;
  prepared_call prepared_;
  wire::arrival* lane_ = nullptr;  // of all local peers
  muster::ticket ticket_;
  flight_entry* flown_ = nullptr;  // where calls are on record
  lender_list lenders_;
  scratch_memory scratch_;
  std::size_t lent_ = 0;  // pipelines that have not waited for their readers yet

private:
  /// Set as long as it lives, also where the work between them throws.
  class reading_marks {
  public:
    explicit reading_marks(wire::node_memory& on) noexcept : on_(on) { on_.begin_reading(); }
    ~reading_marks() { on_.end_reading(); }
    reading_marks(const reading_marks&) = delete;
    reading_marks& operator=(const reading_marks&) = delete;

  private:
    wire::node_memory& on_;
  };

  bool lane_has_become_free() const noexcept;
  [[noreturn]] void throw_mismatch(std::size_t local_peer) const;
  [[noreturn]] void throw_breakage() const;
};

}  // namespace muster
