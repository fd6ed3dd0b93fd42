#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <muster/wire/fabric.hpp>
#include <muster/wire/virtual_time.hpp>

#include "transports/sim/links.hpp"

namespace muster::sim {

class rank;
class simulation;
class team_memory;

/// A node's memory, at the cost and in the time of the rank that uses it.
class node_memory final : public wire::node_memory {
public:
  node_memory(rank& of, const wire::board& board) noexcept : wire::node_memory(board), rank_(of) {}

  wire::origin lend(std::span<const std::byte> bytes, bool foreign) const noexcept override;
  const std::byte* borrow(const wire::origin& from) const noexcept override;
  int fetch(std::size_t local_peer, const wire::origin& from, std::size_t offset,
            std::span<std::byte> to) noexcept override;
  // One thread: nobody reads while another rank acts.
  void begin_reading() noexcept override {}
  void end_reading() noexcept override {}
  void settle() noexcept override {}
  std::span<std::byte> allocate(std::size_t bytes, use what) override;
  void deallocate(std::span<std::byte> memory) noexcept override;

private:
  void announce_and_wake(wire::counter& word, std::uint64_t value) noexcept override;

  rank& rank_;
};

/// What a rank has heard of the members of a team; `shared` is null for the job's.
class membership final : public wire::membership {
public:
  membership(rank& of, simulation& in, team_memory* shared) noexcept;

  std::optional<wire::failure> failed() const override;
  void fail(const wire::failure& why) noexcept override;
  wire::liveness state(std::size_t rank) const noexcept override;
  bool all_heard(std::size_t rank) const noexcept override;
  /// Whatever comes wakes a rank.
  void watch(std::size_t) noexcept override {}
  wire::recorded_call called(std::size_t lane, std::size_t rank) const noexcept override;
  /// Tells members of other nodes why the team is broken, if it is, once. Each rank that goes on or
  /// leaves does: whoever found it may have died before it told all, or be out of reach of some.
  void pass_failure_on() noexcept;

private:
  std::size_t node() const noexcept;
  std::uint64_t team() const noexcept;

  rank& rank_;
  simulation& in_;
  team_memory* shared_;
  bool has_told_ = false;
};

/// A simulated rank's reach to the members of a team: what it does there, the rank itself does, at
/// its own cost and time.
class fabric final : public wire::fabric, public wire::virtual_time {
public:
  /// Of the job's team.
  fabric(rank& of, simulation& in);
  /// \param shared of a team made from another
  fabric(rank& of, simulation& in, team_memory& shared);
  ~fabric() override;
  fabric(const fabric&) = delete;
  fabric& operator=(const fabric&) = delete;

  /// The rank of the job that a member is.
  std::size_t in_job(std::size_t member) const noexcept;
  /// See `membership::pass_failure_on`.
  void pass_failure_on() noexcept { members_.pass_failure_on(); }

  // ---- wire::fabric
  wire::memory_handle provide(std::span<const std::size_t> members, std::size_t turn,
                              const wire::extent& much) override;
  void withdraw(const wire::memory_handle& provided) noexcept override;
  std::unique_ptr<wire::fabric> derive(std::span<const std::size_t> members,
                                       std::span<const wire::memory_handle> handles,
                                       const wire::extent& much) override;
  void refuse(std::span<const std::size_t> members, std::span<const wire::memory_handle> handles,
              const wire::extent& much, const wire::failure& why) noexcept override;
  wire::footprint footprint() const noexcept override;

  // ---- wire::virtual_time
  void begin(std::uint64_t sequence, const arguments& call,
             std::string_view algorithm) noexcept override;
  void end(std::uint64_t sequence, const arguments& call) noexcept override;
  void copy(std::span<std::byte> to, const std::byte* from) noexcept override;
  void combine(const arguments& call, std::byte* to, std::span<const std::byte* const> from,
               std::size_t count) override;
  void read_flag(const void* flag) noexcept override;
  bool take_line(const void* flag) noexcept override;
  bool carries_payload() const noexcept override;
  bool busy() const noexcept override;
  void resume_when_done(std::coroutine_handle<> next) noexcept override;

private:
  fabric(rank& of, simulation& in, team_memory* shared, const wire::board& board);

  std::size_t size() const noexcept;

  rank& rank_;
  simulation& in_;
  team_memory* shared_;  // null: the team is the job's
  std::size_t self_;     // in the team
  node_memory memory_;
  sim::links links_;
  membership members_;
};

}  // namespace muster::sim
