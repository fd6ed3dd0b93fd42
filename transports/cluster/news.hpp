#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include <muster/wire/call_record.hpp>
#include <muster/wire/membership.hpp>

#include "transports/cluster/job.hpp"
#include "transports/stream/remote_ranks.hpp"

namespace muster::cluster {

/// What a rank learns of a team from ranks of other machines.
class team_news {
public:
  /// The team is broken.
  virtual void hear_failure(const wire::failure& why) noexcept = 0;
  /// What a rank of the team has called last.
  virtual void hear_call(std::size_t rank, const wire::recorded_call& called) noexcept = 0;
  /// What this rank has called last, for one that waits for it.
  virtual wire::recorded_call last_call() const noexcept = 0;
  /// This one's, of the team.
  virtual std::size_t rank() const noexcept = 0;

protected:
  ~team_news() = default;
};

/// Tells ranks of other machines what ranks of one find in memory: why a team or the job is broken,
/// what was called last, who leaves. A failure is told by whoever finds it to all others.
class newsroom final : public stream::newsreader {
public:
  /// \param of, others outlive this
  newsroom(const job& of, std::size_t rank, stream::remote_ranks& others)
      : job_(of), rank_(rank), others_(others) {}

  void speak_through(stream::connections& all) noexcept { all_ = &all; }

  // ---- for teams

  void enroll(std::uint64_t team, team_news& who);
  void dismiss(std::uint64_t team) noexcept;
  /// To the ranks of other machines among `members`, ranks of the job.
  void tell_failure(std::uint64_t team, std::span<const std::size_t> members,
                    const wire::failure& why) noexcept;
  /// Asks a rank of another machine what it has called last in a team.
  /// \param self this one, as a rank of the team \param to a rank of the job
  void ask_call(std::uint64_t team, std::size_t self, std::size_t to) noexcept;

  // ---- for the rank

  /// The same to those alone who are connected to this rank, or will be.
  void repeat_failure(std::uint64_t team, std::span<const std::size_t> members,
                      const wire::failure& why) noexcept;
  void repeat_job_failure(const wire::failure& why) noexcept;
  /// Breaks the job for the ranks of other machines, once; where another rank has told this one,
  /// for those alone who are connected to this rank, or will be.
  void tell_job_failure(const wire::failure& why) noexcept;
  /// What this rank says when it leaves, without bytes.
  stream::frame farewell() const noexcept;

  void read(std::size_t peer, const stream::frame& head, std::span<const std::byte> bytes) override;

private:
  enum class kind : std::uint32_t { team_failure, job_failure, question, call, leaving };

  static stream::frame head_of(std::uint64_t team, std::size_t from, kind what,
                               std::size_t bytes) noexcept;
  void send(std::size_t to, std::uint64_t team, std::size_t from, kind what,
            std::vector<std::byte> bytes);
  void tell_failure(std::size_t to, std::uint64_t team, kind what, const wire::failure& why);
  void tell_connected(const wire::failure& why);
  void tell_newcomers(std::uint64_t team, kind what, const wire::failure& why);
  void hear_failure(std::uint64_t team, const wire::failure& why);

  const job& job_;
  std::size_t rank_;
  stream::remote_ranks& others_;
  stream::connections* all_ = nullptr;
  // That the job is broken was told by this rank to all that it should tell; by another one to it,
  // which may be out of reach of some.
  bool has_told_job_ = false;
  bool has_heard_job_ = false;
  std::unordered_map<std::uint64_t, team_news*> teams_;
  std::unordered_map<std::uint64_t, wire::failure> early_;  // of teams not made here yet
};

}  // namespace muster::cluster
