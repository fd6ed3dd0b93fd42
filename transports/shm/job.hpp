#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <muster/environment/environment.hpp>
#include <muster/progress/engine.hpp>
#include <muster/run/flight_record.hpp>
#include <muster/team/machine.hpp>
#include <muster/team/shape.hpp>
#include <muster/wire/board.hpp>
#include <muster/wire/fabric.hpp>
#include <muster/wire/membership.hpp>

#include "transports/shm/ring.hpp"
#include "transports/shm/segment.hpp"
#include "transports/shm/team_memory.hpp"

namespace muster::shm {

/// Memory for what a rank is sent through links, in bytes: what `MUSTER_LINK_MEMORY` says.
/// \throws error `errc::invalid_argument`
std::size_t link_memory_asked_for();

/// What makes a job, decided by whoever starts it.
struct job_options {
  std::vector<place> places;  ///< one a rank
  muster::machine measured;
  /// Bytes a rank can give out as `shared_buffer`s. Address space only, until used.
  std::size_t arena_bytes = std::size_t{1} << 30;
  /// Bytes a rank can give out for boards of the teams that are made from others. The same.
  std::size_t boards_bytes = std::size_t{8} << 30;
  /// Bytes of memory that a rank can come to use for what it is sent through links, if all others
  /// send it something. Where they are very many, it is 4 KiB for each. Nothing: what
  /// `MUSTER_LINK_MEMORY` says.
  std::optional<std::size_t> link_bytes;
  /// Ranks are threads of one process and may read each other's memory where it is.
  bool one_process = false;
  /// No rank ever sleeps while it waits: none is told of anything, and none pays for being able to.
  bool nobody_sleeps = false;
};

/// The life of a rank and how to wake it. On a line of its own: its owner writes here.
struct alignas(wire::cache_line) rank_line {
  std::atomic<std::uint32_t> watched;      ///< somebody sleeps until this rank announces something
  std::atomic<std::uint32_t> parked;       ///< this rank sleeps, or is about to
  std::atomic<std::uint32_t> reading;      ///< this rank is reading what a local peer may have lent
  std::atomic<std::uint32_t> state;        ///< wire::liveness
  std::atomic<std::int32_t> process;       ///< its process id, once joined
  std::atomic<std::uint32_t> connections;  ///< how many ranks have ever said something to it
  std::atomic<std::uint32_t> missed;       ///< see `job::note_missed`
};

/// The memory of a job on this machine: one control segment for all ranks, one segment a node for
/// boards and shared buffers, one doorbell a rank. Most of it is address space that no memory
/// stands behind before it is used.
class job {
public:
  /// Starts a job; all its memory is in this process.
  static job create(const job_options& options);
  /// Joins the job that this process was started in as one of its ranks, if it was.
  /// \throws error `errc::bootstrap` where what the environment says cannot be true.
  static std::optional<job> join();
  /// Joins as `rank` a job of which another process gave this one what `descriptors_for` names.
  /// \throws error `errc::bootstrap` where these are not a job's, or this is not a rank of it.
  static job attach(std::size_t rank, segment control, segment node, std::vector<doorbell> bells);
  /// Differs between builds that could not be ranks of one job.
  static std::uint64_t version() noexcept;

  /// What a process needs to join as `rank`: the value of the environment variable
  /// `environment_name`, and the descriptors to inherit, as they are numbered in this process: the
  /// control segment's, its node's, and a doorbell a rank.
  static constexpr const char* environment_name = environment::job.name;
  std::string environment_for(std::size_t rank) const;
  std::vector<int> descriptors_for(std::size_t rank) const;

  /// Whether this process has it from one that forked it. It is no rank then, and may change
  /// nothing.
  bool is_inherited() const noexcept;

  std::size_t size() const noexcept { return places_.size(); }
  /// The rank that this process joined as.
  std::size_t joined_as() const noexcept { return joined_as_; }
  const std::vector<place>& places() const noexcept { return places_; }
  const muster::machine& machine() const noexcept;
  bool one_process() const noexcept;
  std::size_t arena_bytes() const noexcept;

  rank_line& line(std::size_t rank) const noexcept;
  /// Who sleeps until a rank announces something: a bit for each rank.
  std::span<std::atomic<std::uint64_t>> watchers_of(std::size_t rank) const noexcept;
  /// What all ranks share as a team.
  team_memory team() const noexcept;
  /// What one rank says to another goes through this.
  ring& ring_of(std::size_t sender, std::size_t receiver) const noexcept;
  std::size_t ring_bytes() const noexcept;
  /// Before the sender uses that for the first time.
  void connect(std::size_t sender, std::size_t receiver) const noexcept;
  bool is_connected(std::size_t sender, std::size_t receiver) const noexcept;
  wire::board board(std::size_t node) const noexcept;
  /// Where a rank's shared buffers lie; `index` is its index in its node.
  std::span<std::byte> arena(std::size_t node, std::size_t index) const noexcept;
  std::byte* node_base(std::size_t node) const noexcept;
  std::byte* control_base() const noexcept { return control_.base(); }
  /// Where a rank gives out memory for the teams that are made from others: on its node, for all.
  segment_part boards(std::size_t rank) const noexcept;
  segment_part controls(std::size_t rank) const noexcept;
  /// What the ranks of this machine keep of their calls.
  flight_record& flight(std::size_t rank) const noexcept;
  flight_directory& flights() const noexcept;
  int bell(std::size_t rank) const noexcept { return bells_[rank].descriptor(); }

  /// Breaks the job (the first call wins) and wakes every rank.
  void fail(const wire::failure& why) const noexcept;
  /// Not zero once somebody has begun to break the job.
  const std::atomic<std::uint32_t>& failure_state() const noexcept;
  std::optional<wire::failure> failed() const;
  wire::liveness state(std::size_t rank) const noexcept;
  /// This rank waits for `rank`, and is awake. To be said again and again.
  void note_missed(std::size_t rank) const noexcept;
  /// Whether somebody has said so within a second.
  bool is_missed(std::size_t rank) const noexcept;
  /// Marks a rank as gone and wakes every rank.
  void set_state(std::size_t rank, wire::liveness state) const noexcept;

  const muster::shape& shape() const noexcept { return *shape_; }

private:
  struct header;
  struct control_layout;
  job();
  header& head() const noexcept;
  control_layout layout() const noexcept;
  std::atomic<std::uint8_t>& connected(std::size_t sender, std::size_t receiver) const noexcept;
  void ring_all() const noexcept;
  void read_places();

  segment control_;
  std::vector<segment> nodes_;  // by node number; in a joined process only its own is mapped
  std::vector<doorbell> bells_;
  std::vector<place> places_;
  std::optional<muster::shape> shape_;
  std::size_t joined_as_ = 0;
  std::int32_t process_;  // that made or joined it
};

}  // namespace muster::shm
