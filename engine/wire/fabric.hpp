#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <muster/base/error.hpp>
#include <muster/progress/engine.hpp>
#include <muster/wire/board.hpp>
#include <muster/wire/channel.hpp>
#include <muster/wire/virtual_time.hpp>

namespace muster::wire {

/// What is known of a rank's life.
enum class liveness : std::uint32_t { alive, left, died };

/// Why a team is broken: the first failure wins and every rank sees the same one.
struct failure {
  errc code;
  std::size_t rank;  ///< the rank at fault, or `no_rank`
  std::string text;
};

/// Where memory lies that a rank provides for a team that is being made; 0 where it provides none.
/// Means something to fabrics of one job only.
struct site {
  std::uint64_t control = 0;  ///< what all its ranks use
  std::uint64_t board = 0;    ///< what those of this rank's node use
};

/// The most shared memory that a team can come to take, in bytes for each of its ranks.
struct footprint {
  std::size_t memory = 0;    ///< flags and stages; also the address space
  std::size_t channels = 0;  ///< more, for what it receives through channels, if it uses them all
};

/// How one rank reaches the others of a team. The protocols of the engine (boards, pipelines,
/// channels) are told in these few operations, so that what runs on real memory also runs on any
/// other fabric.
///
/// All calls come from the thread that drives the rank's engine. A store made before `announce` is
/// visible to whoever has seen the announced value.
class fabric : public wakeup_source {
public:
  virtual ~fabric() = default;

  /// The memory shared with the ranks of this node.
  const wire::board& board() const noexcept { return memory_.board; }
  /// What a rank of any node called last in a lane.
  call_record& record(std::size_t lane, std::size_t rank) const noexcept {
    return memory_.records[lane * memory_.ranks + rank];
  }
  /// Two loads; true when `failed` has something to say, or is about to.
  bool broken() const noexcept {
    // relaxed: `failed` synchronises.
    return (memory_.failure->load(std::memory_order_relaxed) |
            memory_.job_failure->load(std::memory_order_relaxed)) != 0;
  }

  /// Null on real hardware.
  virtual_time* time() const noexcept { return memory_.time; }

  /// Stores `value` with release semantics and wakes the ranks that sleep waiting for this one.
  virtual void announce(counter& word, std::uint64_t value) noexcept = 0;

  /// Where peers of this node can read `bytes` in place; `origin::kind::staged` where they cannot.
  /// `foreign` allows the kind that peers can only copy from, not load.
  virtual origin lend(std::span<const std::byte> bytes, bool foreign) const noexcept = 0;
  /// The address of a peer's lent memory here, or null for `origin::kind::foreign`.
  virtual const std::byte* borrow(const origin& from) const noexcept = 0;
  /// Copies from `offset` bytes into a peer's `foreign` memory. Returns 0, or the system's error
  /// number where it refuses.
  [[nodiscard]] virtual int fetch(std::size_t rank, const origin& from, std::size_t offset,
                                  std::span<std::byte> to) noexcept = 0;

  /// The channel from rank `from` to rank `to` in a lane, one of which is this one; for use until
  /// it is closed.
  virtual channel& open(std::size_t lane, std::size_t from, std::size_t to, stream what) = 0;
  virtual void close(channel& used) noexcept = 0;

  /// Around reads of memory that a local peer may have lent: between the two, `settle` of whoever
  /// broke the team waits. What was read counts only if the team is not `broken` afterwards.
  virtual void begin_reading() noexcept = 0;
  virtual void end_reading() noexcept = 0;
  /// After `fail`: returns when no rank can still be reading what this one has lent, wherever such
  /// a read would be of memory that its owner may now free.
  virtual void settle() noexcept = 0;

  /// Memory that every rank of the node can address, aligned to a page: for `shared_buffer`, or
  /// for `shared_scratch`.
  /// \throws error `errc::resource` when the node's arena of this rank is used up.
  enum class memory_use { buffer, shared_scratch };
  virtual std::span<std::byte> allocate(std::size_t bytes, memory_use use) = 0;
  virtual void deallocate(std::span<std::byte> memory) noexcept = 0;

  virtual liveness state(std::size_t rank) const noexcept = 0;
  /// Whether nothing that a rank said is still on its way. Where that cannot be known, it is false.
  virtual bool all_heard(std::size_t rank) const noexcept = 0;
  virtual std::optional<failure> failed() const = 0;
  /// Breaks the team for every rank; without effect if it is broken already.
  virtual void fail(const failure& why) noexcept = 0;

  // A team made of `members`, ranks of this fabric in the order in which they are the new one's,
  // this one among them, is made by all of them: each provides what falls to it and tells the
  // others where that is; then each derives a fabric.

  /// \param turn a number that all members know, for taking turns at this.
  /// \param much the same on all members, also in `derive`
  /// \throws error `errc::resource` when there is no memory left for it.
  virtual site provide(std::span<const std::size_t> members, std::size_t turn,
                       const extent& much) = 0;
  /// Takes back what was provided for a team that will not be.
  virtual void withdraw(const site& provided) noexcept = 0;
  /// \param sites what each member provided, in the order of the members.
  /// The fabric needs nothing of this one, but all that this one was made from. Destroying it is
  /// of no concern to the other members; the memory goes with the last of them.
  virtual std::unique_ptr<fabric> derive(std::span<const std::size_t> members,
                                         std::span<const site> sites, const extent& much) = 0;
  /// Instead of deriving: this rank cannot be of the team, which is broken for its other members.
  virtual void refuse(std::span<const std::size_t> members, std::span<const site> sites,
                      const extent& much, const wire::failure& why) noexcept = 0;
  virtual wire::footprint footprint() const noexcept = 0;

protected:
  /// What every operation touches: addressed directly, since a virtual call would cost more.
  struct directly_addressed {
    wire::board board;
    call_record* records;  ///< by lane, then rank
    std::size_t ranks;
    const std::atomic<std::uint32_t>* failure;      ///< not zero: the team is broken
    const std::atomic<std::uint32_t>* job_failure;  ///< not zero: every team is
    virtual_time* time = nullptr;
  };
  explicit fabric(const directly_addressed& memory) noexcept : memory_(memory) {}

private:
  directly_addressed memory_;
};

}  // namespace muster::wire
