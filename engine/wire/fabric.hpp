#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <muster/progress/progress_source.hpp>
#include <muster/wire/board.hpp>
#include <muster/wire/link.hpp>
#include <muster/wire/membership.hpp>
#include <muster/wire/node_memory.hpp>
#include <muster/wire/virtual_time.hpp>

namespace muster::wire {

/// Names the memory that a rank provides for a team that is being made; 0 where it provides none.
/// Means something to fabrics of one job only.
struct memory_handle {
  std::uint64_t control = 0;  ///< what all its ranks use
  std::uint64_t board = 0;    ///< what those of this rank's node use
  std::uint64_t team = 0;     ///< a number that no other team of the job has ever had
};

/// The most shared memory that a team can come to take, in bytes for each of its ranks.
struct footprint {
  std::size_t memory = 0;  ///< flags and stages; also the address space
  std::size_t links = 0;   ///< more, for what it receives through links, if it uses them all
};

/// What a rank has asked of the RDMA devices of its machine so far, for all teams together; nothing
/// where others are reached without.
struct traffic {
  std::uint64_t queue_pairs = 0;       ///< that it has
  std::uint64_t most_queue_pairs = 0;  ///< that it had at once
  std::uint64_t made = 0;              ///< queue pairs, ever
  std::uint64_t recycled = 0;          ///< of them, ended to make room for others
  std::uint64_t lost = 0;              ///< of them, that failed
  std::uint64_t requests = 0;          ///< sends that were posted
  std::uint64_t doorbells = 0;         ///< with which they were
  std::uint64_t bytes = 0;             ///< that they carried
  std::uint64_t repeated = 0;          ///< requests posted again after a queue pair was lost
};

/// How one rank reaches the others of a team, in four parts: the memory of its node, links to ranks
/// of any node, what is known of the members, and what the engine polls and sleeps on. The
/// protocols of the engine are told in these, so that what runs on real memory also runs on any
/// other fabric.
///
/// All calls come from the thread that drives the rank's engine.
class fabric {
public:
  virtual ~fabric() = default;

  node_memory& memory() const noexcept { return *parts_.memory; }
  wire::links& links() const noexcept { return *parts_.links; }
  membership& members() const noexcept { return *parts_.members; }
  /// Null where the engine needs none: where time is virtual.
  progress_source* source() const noexcept { return parts_.source; }
  /// Null on real hardware.
  virtual_time* time() const noexcept { return parts_.time; }

  // A team made of `members`, ranks of this fabric in the order in which they are the new one's,
  // this one among them, is made by all of them: each provides what falls to it and tells the
  // others where that is; then each derives a fabric.

  /// \param turn a number that all members know, for taking turns at this.
  /// \param much the same on all members, also in `derive`
  /// \throws error `errc::resource` when there is no memory left for it.
  virtual memory_handle provide(std::span<const std::size_t> members, std::size_t turn,
                                const extent& much) = 0;
  /// Takes back what was provided for a team that will not be.
  virtual void withdraw(const memory_handle& provided) noexcept = 0;
  /// \param handles what each member provided, in the order of the members.
  /// The fabric needs nothing of this one, but all that this one was made from. Destroying it is
  /// of no concern to the other members; the memory goes with the last of them.
  virtual std::unique_ptr<fabric> derive(std::span<const std::size_t> members,
                                         std::span<const memory_handle> handles,
                                         const extent& much) = 0;
  /// Instead of deriving: this rank cannot be of the team, which is broken for its other members.
  virtual void refuse(std::span<const std::size_t> members, std::span<const memory_handle> handles,
                      const extent& much, const failure& why) noexcept = 0;
  virtual wire::footprint footprint() const noexcept = 0;
  virtual wire::traffic traffic() const noexcept { return {}; }

protected:
  /// Of the class that derives from this one.
  struct parts {
    node_memory* memory;
    wire::links* links;
    membership* members;
    progress_source* source = nullptr;
    virtual_time* time = nullptr;
  };
  explicit fabric(const parts& of) noexcept : parts_(of) {}

private:
  parts parts_;
};

}  // namespace muster::wire
