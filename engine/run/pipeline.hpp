#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <utility>

#include <muster/coro/task.hpp>
#include <muster/run/operation_state.hpp>
#include <muster/run/segments.hpp>
#include <muster/run/waits.hpp>
#include <muster/team/timed_lending.hpp>
#include <muster/wire/board.hpp>
#include <muster/wire/virtual_time.hpp>

namespace muster {

class context;

/// A stream of segments from every rank of a node to its local peers.
///
/// A writer either *lends* memory that its local peers can read where it is, all segments at once,
/// or *stages* segment after segment in the node's memory, at most `segments::ahead` ahead of the
/// slowest reader. Readers need not know which.
class pipeline : private lender {
public:
  /// With a `sole_reader`, a local peer that alone reads what all others write, each writer waits
  /// only for what that one has taken of it, not for the slowest writer: see `take_of`.
  pipeline(context& me, std::size_t index, const segments& cut, std::size_t sole_reader = all);
  ~pipeline();
  pipeline(const pipeline&) = delete;
  pipeline& operator=(const pipeline&) = delete;

  const segments& cut() const noexcept { return cut_; }

  /// Offers the whole contribution where it is, if local peers can get at it there. They can then
  /// read it until `returned`. Where they will only `copy` from it, it may also be lent where they
  /// cannot load from it, if that is faster on this machine.
  /// \returns whether it was lent; if not, stage it.
  enum class lending { for_loads, for_copies };
  bool lend(std::span<const std::byte> contribution, lending how) noexcept;
  bool lent() const noexcept { return lent_; }

  /// Waits for a free place for `segment` in this rank's stage and gives it; block b's piece goes
  /// to `b * cut().piece`. `readers`: all local peers, one, or some.
  class slot_wait;
  slot_wait slot(std::size_t segment, std::size_t readers = all) noexcept;
  slot_wait slot(std::size_t segment, std::span<const std::size_t> readers) noexcept;
  /// Makes `segment` visible, after its slot was filled.
  void post(std::size_t segment) noexcept;

  /// Waits for a local peer's segment, or for one of this rank's own.
  class segment_wait;
  segment_wait arrived(std::size_t local_peer, std::size_t segment) noexcept;
  /// Where the piece of `block` of a segment that has arrived can be read; null where it can only
  /// be copied.
  const std::byte* piece(std::size_t local_peer, std::size_t segment, std::size_t block) noexcept;
  /// Copies the piece of `block` of a segment that has arrived to its place in `whole`, and from a
  /// lender, on segment 0, the whole block at once. Awaited, like all local work.
  class copying;
  copying copy(std::size_t local_peer, std::size_t segment, std::size_t block,
               std::span<std::byte> whole);
  /// For waits: whether a local peer's segment is here, also true for one that turns out to be in
  /// another operation; and what has to change before it is.
  bool is_here(std::size_t local_peer, std::size_t segment) const noexcept;
  const void* watched_of(std::size_t local_peer) const noexcept;
  /// Whether a local peer whose first segment has arrived lends.
  bool lends(std::size_t local_peer) const noexcept;
  /// Segments that must be taken from a local peer whose first one has arrived.
  std::size_t segments_of(std::size_t local_peer) const noexcept;

  /// This rank is done with `segment`, and all before it, of every local peer.
  void take(std::size_t segment) noexcept;
  /// The sole reader is done with `segment`, and all before it, of one local peer.
  void take_of(std::size_t local_peer, std::size_t segment) noexcept;
  /// Waits until the readers are done with what was lent; at once if nothing was.
  class return_wait;
  return_wait returned(std::size_t readers = all) noexcept;
  /// Waits until the readers are done with `segment` and all before it.
  return_wait taken(std::size_t segment, std::size_t readers = all) noexcept;

  /// Local peers whose segment has arrived, in that order.
  local_peer_arrivals here(std::size_t segment) noexcept;
  /// Waits for the segment of every local peer, or of some.
  everybody all_here(std::size_t segment) noexcept;
  everybody all_here(std::size_t segment, std::span<const std::size_t> local_peers) noexcept {
    return {op_, local_peer_list(local_peers), this, segment};
  }

  static constexpr std::size_t all = std::numeric_limits<std::size_t>::max();

protected:
  wire::pipeline_head& pipeline_head(std::size_t local_peer) const noexcept;
  std::byte* stage(std::size_t local_peer, std::size_t segment) const noexcept;
  /// Whether readers are to copy a contribution of so many bytes from this rank's memory, if its
  /// blocks are, or the longest is, of `block_bytes`. To be asked once: it may be a trial.
  bool choose_foreign(std::size_t bytes, std::size_t block_bytes) noexcept;
  /// Offers memory; the first post tells. \returns whether readers can get at it.
  bool offer(std::span<const std::byte> memory, bool foreign,
             std::size_t segments_to_take) noexcept;
  /// Has the kernel copy from a local peer's memory, or the local peer, where the kernel refuses.
  copying fetch(std::size_t local_peer, const wire::origin& from, std::size_t offset,
                std::span<std::byte> to);

  context& me_;
  operation_state& op_;  // the same
  std::size_t index_;
  segments cut_;
  // Of a pipeline whose writers have different numbers of segments: how many this rank takes of
  // each.
  std::span<const std::size_t> takes_ = {};

private:
  struct trial {
    timed_lending* of = nullptr;  ///< null: this is none
    timed_lending::way how = timed_lending::way::staged;
    std::size_t bytes = 0;
    std::uint64_t began = 0;  ///< in ticks
  };
  /// Whether both ways of one reader's block are tried: where all copy at once, or this rank waits
  /// for all. Where ranks share cores, whose turn it is takes longer than all but a root's longest
  /// copies.
  /// \param bytes of all blocks
  bool is_tried(std::size_t bytes) const noexcept;
  /// Whether all ranks copy at once what no cache holds. A stage is then one more trip through
  /// memory, and nobody is left to hide it.
  bool is_exchange_beyond_caches(std::size_t footprint) const noexcept;
  /// Whether so much would be staged in pages that were never touched.
  bool is_stage_too_new(std::size_t bytes, std::size_t readers) const noexcept;
  class bounce_wait;
  wire::pipeline_tail& pipeline_tail(std::size_t local_peer) const noexcept;
  std::byte* bounce_buffer(std::size_t local_peer) const noexcept;

  // Of a reader whom the kernel refuses a copy.
  task<> copy_bounced(std::size_t local_peer, std::size_t offset, std::span<std::byte> to);
  void ask(std::size_t local_peer, std::size_t offset, std::size_t bytes) noexcept;
  bool is_given() const noexcept;
  // Of the lender it asks. One reader at a time has the bounce buffer.
  void answer_readers() noexcept override;
  bool has_asked(std::size_t local_peer) const noexcept;
  bool has_used_answer() const noexcept;
  void answer(std::size_t local_peer) noexcept;

  std::size_t sole_reader_;
  std::size_t posted_ = 0;  // segments of this rank
  trial trial_;
  bool lent_ = false;
  std::size_t lent_segments_ = 0;  // that readers take before what was lent is returned
  std::span<const std::byte> lent_foreign_ = {};
  std::size_t answered_ = all;  // who has the bounce buffer
  std::uint64_t answer_ = 0;    // to which request
  std::uint64_t request_ = 0;   // of this rank to a lender, its last one
  std::uint64_t request_count_ = 0;
};

/// What a copy is awaited with. It is done already, but for the time that it takes where time is
/// virtual; or the kernel has refused it, and the lender has still to stage what is to be copied.
class [[nodiscard]] pipeline::copying {
public:
  explicit copying(const wire::work_wait& done) noexcept : done_(done) {}
  explicit copying(task<> bounced) noexcept : bounced_(std::move(bounced)) {}

  bool await_ready() const noexcept { return !bounced_ && done_.await_ready(); }
  template <class Promise>
  bool await_suspend(std::coroutine_handle<Promise> self) noexcept {
    if (bounced_) return std::move(bounced_).operator co_await().await_suspend(self);
    done_.await_suspend(self);
    return true;
  }
  void await_resume() {
    if (bounced_) [[unlikely]] {
      std::move(bounced_).operator co_await().await_resume();
    }
  }

private:
  wire::work_wait done_;
  task<> bounced_;
};

/// Waits until readers have taken so many segments that there is room for one more, or all are
/// returned.
class takers_wait : public collective_wait {
public:
  takers_wait(operation_state& me, std::size_t pipeline, std::uint64_t segments,
              const local_peer_list& readers) noexcept
      : collective_wait(me), pipeline_(pipeline), segments_(segments), readers_(readers) {}
  /// `readers` are those to wait for: all local peers, or one. `sole_reader`, if there is one, says
  /// in this rank's line what it took of this rank.
  takers_wait(operation_state& me, std::size_t pipeline, std::uint64_t segments,
              std::size_t readers, std::size_t sole_reader) noexcept;
  bool ready() noexcept override;
  bool await_ready() noexcept { return ready() || poll_again(); }
  const void* watched() const noexcept override;

protected:
  ~takers_wait() = default;

private:
  std::span<const std::size_t> candidates() const noexcept override;
  bool awaits(std::size_t candidate) const noexcept override;
  const wire::counter& taken_by(std::size_t line) const noexcept;
  bool is_taken(std::size_t line) const noexcept;

  std::size_t pipeline_;
  std::uint64_t segments_;
  local_peer_list readers_;
  std::size_t sole_reader_ = pipeline::all;
  std::size_t next_ = 0;  // the first reader not yet known to be far enough
  std::size_t end_ = readers_.size();
};

class pipeline::slot_wait final : public takers_wait {
public:
  slot_wait(operation_state& me, std::size_t pipeline, std::uint64_t segments, std::size_t readers,
            std::size_t sole_reader, std::byte* place) noexcept
      : takers_wait(me, pipeline, segments, readers, sole_reader), place_(place) {}
  slot_wait(operation_state& me, std::size_t pipeline, std::uint64_t segments,
            const local_peer_list& readers, std::byte* place) noexcept
      : takers_wait(me, pipeline, segments, readers), place_(place) {}
  std::byte* await_resume() {
    rethrow_interruption();
    return place_;
  }

private:
  std::byte* place_;
};

class pipeline::return_wait final : public takers_wait {
public:
  using takers_wait::takers_wait;
  void await_resume() { rethrow_interruption(); }
};

class pipeline::segment_wait final : public collective_wait {
public:
  segment_wait(operation_state& me, pipeline& on, std::size_t local_peer,
               std::size_t segment) noexcept
      : collective_wait(me), pipeline_(on), local_peer_(local_peer), segment_(segment) {}
  bool ready() noexcept override;
  bool await_ready() noexcept { return ready() || poll_again(); }
  void await_resume();
  const void* watched() const noexcept override;

private:
  std::span<const std::size_t> candidates() const noexcept override;
  bool awaits(std::size_t) const noexcept override { return true; }

  pipeline& pipeline_;
  std::size_t local_peer_;
  std::size_t segment_;
};

}  // namespace muster
