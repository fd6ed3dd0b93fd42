#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <muster/wire/fabric.hpp>
#include <muster/wire/virtual_time.hpp>

#include "transports/sim/clock.hpp"
#include "transports/sim/node.hpp"

namespace muster::sim {

class rank;
class simulation;

/// What the ranks of a team that was made from another share. It lives until all have left and what
/// they have announced has become visible.
class team_memory {
public:
  /// \param number  not that of any other team of the simulation
  /// \param members ranks of the job, in the team's order
  team_memory(simulation& in, std::uint64_t number, std::vector<std::size_t> members,
              const wire::extent& much);
  ~team_memory();
  team_memory(const team_memory&) = delete;
  team_memory& operator=(const team_memory&) = delete;

  std::uint64_t number() const noexcept { return number_; }
  const std::vector<std::size_t>& members() const noexcept { return members_; }
  wire::call_record* records() const noexcept;
  wire::board board_on(std::size_t node) const noexcept;

  const std::atomic<std::uint32_t>& failure_word() const noexcept { return failure_word_; }
  const std::optional<wire::failure>& failure() const noexcept { return failure_; }
  /// False where it is broken already.
  bool fail(const wire::failure& why);

  /// A rank has left, whose flags are all visible at `quiet`. True for the last one.
  bool leave(picoseconds quiet) noexcept;
  bool is_quiet(picoseconds now) const noexcept { return now > quiet_at_; }

private:
  struct node_board {
    std::size_t node;
    std::size_t ranks;
    std::size_t offset;
  };

  simulation& in_;
  std::uint64_t number_;
  std::vector<std::size_t> members_;
  wire::extent much_;
  std::vector<node_board> boards_;
  std::optional<pages> memory_;  // records, then the boards
  std::atomic<std::uint32_t> failure_word_{0};
  std::optional<wire::failure> failure_;
  std::size_t left_ = 0;  // ranks
  picoseconds quiet_at_ = 0;
};

/// A simulated rank's reach to the others of such a team: what it does there, the rank itself does,
/// at its own cost and time.
class team_reach final : public wire::fabric, public wire::virtual_time {
public:
  /// \param self the rank's place in the team
  team_reach(rank& of, simulation& in, team_memory& shared, std::size_t self);
  ~team_reach() override;
  team_reach(const team_reach&) = delete;
  team_reach& operator=(const team_reach&) = delete;

  // ---- wire::fabric
  void announce(wire::counter& word, std::uint64_t value) noexcept override;
  wire::origin lend(std::span<const std::byte> bytes, bool foreign) const noexcept override;
  const std::byte* borrow(const wire::origin& from) const noexcept override;
  int fetch(std::size_t rank, const wire::origin& from, std::size_t offset,
            std::span<std::byte> to) noexcept override;
  wire::channel& open(std::size_t lane, std::size_t from, std::size_t to,
                      wire::stream what) override;
  void close(wire::channel& used) noexcept override;
  void begin_reading() noexcept override {}
  void end_reading() noexcept override {}
  void settle() noexcept override {}
  std::span<std::byte> allocate(std::size_t bytes, memory_use use) override;
  void deallocate(std::span<std::byte> memory) noexcept override;
  wire::liveness state(std::size_t rank) const noexcept override;
  bool all_heard(std::size_t rank) const noexcept override;
  std::optional<wire::failure> failed() const override;
  void fail(const wire::failure& why) noexcept override;
  wire::site provide(std::span<const std::size_t> members, std::size_t turn,
                     const wire::extent& much) override;
  void withdraw(const wire::site& provided) noexcept override;
  std::unique_ptr<wire::fabric> derive(std::span<const std::size_t> members,
                                       std::span<const wire::site> sites,
                                       const wire::extent& much) override;
  void refuse(std::span<const std::size_t> members, std::span<const wire::site> sites,
              const wire::extent& much, const wire::failure& why) noexcept override;
  wire::footprint footprint() const noexcept override;
  void arm() noexcept override {}
  void disarm() noexcept override {}

  // ---- wire::virtual_time
  void begin(std::uint64_t sequence, const arguments& call,
             std::string_view algorithm) noexcept override;
  void end(std::uint64_t sequence, const arguments& call) noexcept override;
  void copy(std::span<std::byte> to, const std::byte* from) noexcept override;
  void combine(const arguments& call, std::byte* to, std::span<const std::byte* const> from,
               std::size_t count) override;
  void fetch_line(const void* flag) noexcept override;
  bool take_line(const void* flag) noexcept override;
  bool carries_payload() const noexcept override;
  bool busy() const noexcept override;
  void resume_when_done(std::coroutine_handle<> next) noexcept override;

private:
  /// Ranks of the job for those of this team.
  std::vector<std::size_t> in_job(std::span<const std::size_t> members) const;

  rank& rank_;
  simulation& in_;
  team_memory& shared_;
  std::size_t self_;
};

/// What a fabric of virtual time says of its memory.
wire::footprint footprint_of(const wire::fabric& one, std::size_t ranks) noexcept;

}  // namespace muster::sim
