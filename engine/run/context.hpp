#pragma once

#include <algorithm>
#include <coroutine>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <muster/base/copy_bytes.hpp>
#include <muster/call/arguments.hpp>
#include <muster/call/combine.hpp>
#include <muster/coro/pooled.hpp>
#include <muster/run/arrival_log.hpp>
#include <muster/run/pipeline.hpp>
#include <muster/run/posted_places.hpp>
#include <muster/run/scratch_memory.hpp>
#include <muster/run/team.hpp>
#include <muster/run/verb_checks.hpp>
#include <muster/run/waits.hpp>
#include <muster/select/catalog.hpp>
#include <muster/select/prepared_call.hpp>
#include <muster/wire/board.hpp>
#include <muster/wire/fabric.hpp>

namespace muster {

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
  const muster::machine& machine() const noexcept { return team_.machine(); }
  const arguments& call() const noexcept { return call_; }

  /// The ranks of this rank's node, ascending; a local peer is an index into it.
  std::span<const std::size_t> node() const noexcept { return node_; }
  std::size_t node_index() const noexcept { return index_; }
  std::size_t rank_of(std::size_t local_peer) const noexcept { return node_[local_peer]; }

  /// Announces this rank's arrival. Every rank of every operation does so exactly once.
  void arrive();
  /// The same, with up to `wire::short_stage_bytes` bytes for the local peers to read.
  void publish(std::span<const std::byte> bytes);
  /// The same with two stretches of bytes, one after the other.
  void publish(std::span<const std::byte> first, std::span<const std::byte> second);
  /// Waits for a local peer to arrive; what it published, which must be `bytes` long.
  read_wait read(std::size_t local_peer, std::size_t bytes) noexcept {
    return {*this, local_peer, bytes};
  }
  /// Waits for all local peers to arrive, or for some, who stand for the others.
  everybody all_here() noexcept { return {*this, local_peer_list(node_.size())}; }
  everybody all_here(std::span<const std::size_t> local_peers) noexcept {
    return {*this, local_peer_list(local_peers)};
  }
  /// The local peer, perhaps this rank itself, that was first of its node to ask this in this
  /// operation: all who ask are told the same, without waiting.
  std::size_t first_here();
  /// Local peers in the order of their arrival.
  local_peer_arrivals here() noexcept { return local_peer_arrivals(*this); }
  local_peer_arrivals here(std::span<const std::size_t> local_peers) noexcept {
    return {*this, local_peers};
  }
  /// What a local peer that has arrived published.
  std::span<const std::byte> published(std::size_t local_peer, std::size_t bytes) const noexcept {
    return {publication(local_peer, bytes), bytes};
  }

  /// Counts this rank in among those of its node, at most once an operation and after its arrival:
  /// `if (co_await me.count_in())` is true for the one with whom they are complete, whoever that
  /// is. That one sees what all of them wrote before, and has seen that they are in the same
  /// operation, so that it can act for the node at once. All ranks of a node do this, or none.
  count_in_wait count_in() {
    if (is_checked()) [[unlikely]]
      checks().use_node("counts in");
    return count_in_wait(*this);
  }

  // ---- between ranks of any nodes
  //
  // In one of two schemes, by length alone. Short messages are copied into a channel, whether the
  // receiver is there or not: their coming is the first that it hears of the sender. Long ones go
  // *zero-copy*: the receiver first invites the sender, who hears by that that it is there, and
  // then sends straight into its memory.

  /// Sends bytes to a rank; complete when they may be changed. In order per pair. They are the
  /// caller's, `shared_scratch` or `scratch`, which outlive the operation whatever becomes of it.
  task<> send(std::size_t rank, std::span<const std::byte> bytes);
  /// Receives the next bytes from a rank into their place: `invite`, then `receive`.
  task<> expect(std::size_t rank, std::span<std::byte> bytes);
  /// Lets a rank send its next message into `place`, if messages so long are zero-copy; else does
  /// nothing. The place is the caller's, `shared_scratch` or `scratch`: the rank may write there
  /// until the message is received or the operation has ended.
  task<> invite(std::size_t rank, std::span<std::byte> place);
  /// Receives a message to which its sender was invited, into that place, or one that is too short
  /// for that.
  task<> receive(std::size_t rank, std::span<std::byte> bytes);
  bool is_zero_copy(std::size_t bytes) const noexcept;
  /// Of a block that came another way.
  /// \throws error `errc::mismatched_call` where this rank expects another length
  void check_length(std::size_t from, std::size_t sent, std::size_t expected) const;
  /// A short message that is no payload but says how the algorithm goes on: where a simulation
  /// leaves payload out, it is sent nevertheless. At most `most_note` bytes, which both ends know.
  task<> send_note(std::size_t rank, std::span<const std::byte> note);
  task<> receive_note(std::size_t rank, std::span<std::byte> note);
  static constexpr std::size_t most_note = 48;
  /// Ranks in the order in which they are heard of: their messages come, or their invitations. Of
  /// what has come already the rank that comes first in `ranks` is first.
  peer_arrivals messages_from(pooled_list<std::size_t> ranks) {
    return {*this, peer_arrivals::what::messages, std::move(ranks)};
  }
  peer_arrivals invitations_from(pooled_list<std::size_t> ranks) {
    return {*this, peer_arrivals::what::invitations, std::move(ranks)};
  }

  /// Waits for the next message of whoever of these ranks of a node sends one; `receive` takes it.
  /// It is not zero-copy: nobody knows whom to invite.
  task<std::size_t> sender_among(std::span<const std::size_t> ranks);

  /// The memory that a local peer provides for this operation; see `shared_scratch`.
  task<std::span<std::byte>> shared_scratch_of(std::size_t local_peer, std::size_t bytes);
  /// That of which a local peer has told where it is.
  std::span<std::byte> shared_scratch_at(const wire::origin& where,
                                         std::size_t bytes) const noexcept;

  /// Working memory that lives as long as the operation, so that it may be lent: what an
  /// algorithm's own frame holds is gone before a failure is announced.
  std::span<std::byte> scratch(std::size_t bytes);
  /// A copy in such memory.
  std::span<const std::byte> save(std::span<const std::byte> bytes);
  /// The same for several blocks, each of which is exchanged for its copy.
  void save(std::span<std::span<const std::byte>> blocks);

  /// Local work. Awaited, so that it can take time where time is virtual.
  wire::work_wait copy(std::span<std::byte> to, std::span<const std::byte> from) noexcept {
    wire::virtual_time* const time = this->time();
    // In-place forms meet here with both sides the same.
    if (to.data() != from.data() && !from.empty()) move_bytes(time, to, from.data());
    return wire::work_wait(time);
  }
  /// The same into this rank's stage.
  wire::work_wait stage(std::span<std::byte> to, std::span<const std::byte> from) noexcept {
    wire::virtual_time* const time = this->time();
    timed_copy* const timed = time == nullptr ? team_.copies_to_stage_.of(from.size()) : nullptr;
    if (timed != nullptr) {
      (*timed)(to.data(), from.data(), from.size());
    } else if (!from.empty()) {
      move_bytes(time, to, from.data());
    }
    return wire::work_wait(time);
  }
  /// The same into this rank's result: from its own buffer, or from a local peer's memory.
  wire::work_wait copy_own(std::span<std::byte> to, std::span<const std::byte> from) noexcept {
    if (copy_to_result_ == nullptr || to.data() == from.data()) return copy(to, from);
    (*copy_to_result_)(to.data(), from.data(), from.size());
    return wire::work_wait(nullptr);
  }
  wire::work_wait copy_result(std::span<std::byte> to, const std::byte* from) {
    wire::virtual_time* const time = this->time();
    read_local_peers([&] {
      if (copy_to_result_ != nullptr) {
        (*copy_to_result_)(to.data(), from, to.size());
      } else {
        move_bytes(time, to, from);
      }
    });
    return wire::work_wait(time);
  }
  wire::work_wait combine(std::byte* to, std::span<const std::byte* const> from,
                          std::size_t count) {
    wire::virtual_time* const time = this->time();
    read_local_peers([&] {
      if (time != nullptr) [[unlikely]] {
        time->combine(call_, to, from, count);
      } else {
        muster::combine(call_, to, from, count);
      }
    });
    return wire::work_wait(time);
  }

  /// Whether `verb_checks` are asked: in builds with assertions, and under virtual time.
  bool is_checked() const noexcept {
#ifdef NDEBUG
    return time() != nullptr;
#else
    return true;
#endif
  }
  verb_checks checks() const noexcept { return {call_.what, prepared_.chosen->id, ticket_.kind}; }

  /// "allreduce(16 x float64, sum), operation 7", for messages.
  std::string describe() const;

protected:
  // The operation begins with its place in the team's order, and ends well or by breaking the team
  // (unless it is broken already).
  void take_place() noexcept;
  /// Before it begins: by what `text` chooses.
  void prepare_by(std::string_view text);
  /// Before it begins: to other buffers, null where these are.
  void move_to(const std::byte* send, std::byte* receive) noexcept {
    call_.send = send;
    call_.receive = receive;
  }
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
  friend class count_in_wait;
  friend class read_wait;
  friend class local_peers_wait;
  friend class everybody;
  friend class local_peer_arrivals;
  friend class pipeline;
  friend class varying_pipeline;
  friend class takers_wait;
  friend class peer_arrivals;
  friend class shared_scratch;

  wire::node_memory& memory() const noexcept { return team_.memory_; }
  wire::membership& members() const noexcept { return team_.members_; }
  wire::virtual_time* time() const noexcept { return team_.time_; }
  wire::links& links() const noexcept { return team_.links_; }
  /// A link of this operation.
  wire::open_link link(std::size_t peer,
                       wire::links::sends what = wire::links::sends::nothing) const {
    return {links(), ticket_.channel_lane, peer, what};
  }
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
  const wire::board& board() const noexcept { return memory().board(); }
  wire::arrival& arrival(std::size_t local_peer) const noexcept { return lane_[local_peer]; }
  bool has_arrived(std::size_t local_peer) const noexcept {
    // acquire: pairs with the release in `node_memory::announce`.
    const std::uint64_t word = arrival(local_peer).word.load(std::memory_order_acquire);
    return ((word ^ ticket_.word) >> 32) == 0;
  }
  /// Whether a local peer that has arrived is in another operation than this rank.
  bool differs(std::size_t local_peer) const noexcept {
    // relaxed: whoever asks has seen the word with acquire.
    return arrival(local_peer).word.load(std::memory_order_relaxed) != ticket_.word;
  }
  /// Of a local peer that has arrived: throws if it is in another operation, and takes note of what
  /// it says it has completed.
  void check_fingerprint(std::size_t local_peer) {
    if (differs(local_peer)) [[unlikely]] {
      throw_mismatch(local_peer);
    }
    std::uint64_t& known = team_.known_complete_[local_peer];
    known = std::max(known, arrival(local_peer).completed.load(std::memory_order_relaxed));
  }
  /// A local peer was there at the first look. Where it waits for nobody it is ahead, and what it
  /// will be asked for next is probably there, too: that can travel meanwhile.
  void look_ahead(std::size_t local_peer, std::size_t published) const noexcept {
    if (has_root(call_.what) && ticket_.kind <= stage_kind::one_way) {
      prefetch_next(local_peer, published);
    }
  }
  void prefetch_next(std::size_t local_peer, std::size_t published) const noexcept;
  /// Where so many published bytes lie, of which too many for the arrival's line.
  std::byte* staged(std::size_t stage, std::size_t local_peer, std::size_t bytes) const noexcept {
    return bytes <= wire::tiny_stage_bytes ? board().tiny_stage(stage, local_peer)
                                           : board().short_stage(stage, local_peer);
  }
  void announce_arrival() noexcept;
  /// Apart from the question, which every publication asks.
  [[gnu::cold, gnu::noinline]] void check_publication(std::size_t bytes);
  void prepare_next_publication(std::size_t bytes) const noexcept;
  /// Where time is virtual, fetching a flag's line takes some.
  void have_fetched(const void* flag) const noexcept {
    if (wire::virtual_time* const time = this->time()) [[unlikely]] {
      time->fetch_line(flag);
    }
  }
  [[noreturn]] void throw_mismatch(std::size_t local_peer) const;
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
  /// Does work that reads local peers' memory. They may have lent it, and whoever lends takes it
  /// back when the operation fails: then the work is not begun, or does not count.
  /// \throws error where the team is broken before or after.
  template <class Work>
  void read_local_peers(Work work) {
    if (ticket_.kind < stage_kind::lengthy) {  // nothing is lent
      work();
    } else {
      read_lent(std::move(work));
    }
  }
  template <class Work>
  void read_lent(Work work) {
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
  [[noreturn]] void throw_breakage() const;
  // Pipelines of this operation from whose lent memory the kernel copies.
  void add_lender(pipeline& one) noexcept;
  void forget_lender(const pipeline& one) noexcept;
  /// Where the kernel has refused a reader.
  void answer_readers() noexcept {
    for (pipeline* one = lenders_; one != nullptr; one = one->next_lender_) one->answer_readers();
  }
  task<> send_pieces(std::size_t rank, std::span<const std::byte> bytes);
  task<> send_zero_copy(std::size_t rank, std::span<const std::byte> bytes);
  /// What comes next from a rank that is to send, or to be sent, so many bytes; also a question.
  message_header take_header(wire::link& on, std::size_t from, std::size_t bytes);
  /// What a rank says with its next invitation, to send so many bytes.
  void take_invitation(wire::link& on, std::size_t from, std::size_t bytes);
  /// Whether what came from a rank is of this operation and of so many bytes; else throws.
  void require_expected(const message_header& header, std::size_t from, std::size_t bytes) const;
  /// Where a rank's published bytes lie.
  std::byte* publication(std::size_t local_peer, std::size_t bytes) const noexcept {
    if (bytes <= wire::inline_bytes) return arrival(local_peer).payload.data();
    return staged(ticket_.stage, local_peer, bytes);
  }
  bool begin(const coroutine_place& place, std::coroutine_handle<> self) noexcept override;
  void enter() override;
  void complete() noexcept;
  /// Of an operation that ends well, where verbs are checked; else it is abandoned.
  bool has_arrived_once() noexcept;
  void abandon(const error& why) noexcept;
  [[gnu::cold]] void abandon(const std::exception_ptr& failure) noexcept;
  [[gnu::cold]] void abandon_destroyed() noexcept;
  [[gnu::cold]] void refuse() noexcept;
  void log_arrival(bool failed) const noexcept {
    if (team_.arrivals_ == nullptr) [[likely]]
      return;
    team_.arrivals_->end(logged_, ticket_.sequence, failed);
  }
  void write_record() noexcept;
  /// Bytes that the ranks of this node receive together.
  std::size_t received_in_node() const noexcept;
  /// Why waiting for `rank` is in vain, if it is.
  std::exception_ptr lost(std::size_t rank) const noexcept;
  /// Whether what a rank is known to have called is what this one called.
  bool agrees(std::size_t rank) const noexcept;
  std::optional<error> mismatch(std::size_t rank) const;
  /// `rank` has sent something of another operation in this lane, but nobody of its node of this.
  error left_out(std::size_t rank, std::uint64_t its_sequence) const;
  /// What comes next from a neighbor is of another operation.
  error not_mutual(std::size_t rank, std::uint64_t its_sequence) const;
  /// Of a local peer that is waited for and has completed this operation without: why; or null.
  std::exception_ptr unanswered(std::size_t rank) const;
  std::exception_ptr breakage() const noexcept;
  /// Of a broken team: whoever breaks it may still be writing why.
  std::exception_ptr breakage_once_written() const noexcept;
  bool lane_is_free() noexcept;

  team& team_;
  arguments call_;
  std::span<const std::size_t> node_;
  std::size_t index_;
  prepared_call prepared_;
  bool running_ = false;
  bool arrived_ = false;                  // kept where verbs are checked
  timed_copy* copy_to_result_ = nullptr;  // null: by ordinary stores, or where time is virtual
  wire::arrival* lane_ = nullptr;         // of all local peers
  ticket ticket_;
  arrival_log::begun logged_;  // where the team has a log
  scratch_memory scratch_;
  posted_places posted_;  // kept where verbs are checked
  pipeline* lenders_ = nullptr;
  std::optional<turn_wait> turn_;  // while it waits for its turn
  std::exception_ptr refusal_;     // why it did not even begin
};

inline everybody pipeline::all_here(std::size_t segment) noexcept {
  return {me_, local_peer_list(me_.node().size()), this, segment};
}

}  // namespace muster
