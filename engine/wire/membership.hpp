#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include <muster/base/error.hpp>
#include <muster/wire/call_record.hpp>

namespace muster::wire {

/// What is known of a rank's life.
enum class liveness : std::uint32_t { alive, left, died };

/// Why a team is broken. Ranks of one node see the same first failure; ranks of others may have
/// learnt of another one first.
struct failure {
  errc code;
  std::size_t rank;  ///< the rank at fault, or `no_rank`
  std::string text;
};

/// Who of a team is alive, who called what last, and why the team is broken, as far as this rank
/// has heard.
class membership {
public:
  /// Two loads; true when `failed` has something to say, or is about to.
  bool broken() const noexcept {
    // relaxed: `failed` synchronises.
    return (failure_->load(std::memory_order_relaxed) |
            job_failure_->load(std::memory_order_relaxed)) != 0;
  }
  virtual std::optional<failure> failed() const = 0;
  /// Breaks the team for every rank; without effect if it is broken already.
  virtual void fail(const failure& why) noexcept = 0;

  virtual liveness state(std::size_t rank) const noexcept = 0;
  /// Of one that died, how that was noticed and where it was, where more than its state is known:
  /// "at 10.0.0.3:20000 its connection ended". For an error's text.
  virtual std::string how_lost(std::size_t rank) const {
    static_cast<void>(rank);
    return {};
  }
  /// Whether nothing that a rank said is still on its way. Where that cannot be known, it is false.
  virtual bool all_heard(std::size_t rank) const noexcept = 0;

  /// Before this rank's engine sleeps: what `rank` announces or sends from now on wakes it.
  virtual void watch(std::size_t rank) noexcept = 0;

  /// Where this rank says what it calls in a lane.
  call_record& own_record(std::size_t lane) const noexcept { return own_[lane * ranks_]; }
  /// What a rank called last in a lane.
  virtual recorded_call called(std::size_t lane, std::size_t rank) const noexcept = 0;
  /// Whether that has to be asked of the rank, so that it is known later.
  virtual bool asks_for_calls_of(std::size_t rank) const noexcept {
    static_cast<void>(rank);
    return false;
  }

protected:
  /// What operations touch directly, since a virtual call would cost more.
  struct words {
    const std::atomic<std::uint32_t>* failure;      ///< not zero: the team is broken
    const std::atomic<std::uint32_t>* job_failure;  ///< not zero: every team is; null: not this
    call_record* records;                           ///< by lane, then rank
    std::size_t rank;                               ///< this one
    std::size_t ranks;
  };
  explicit membership(const words& of) noexcept
      : failure_(of.failure),
        job_failure_(of.job_failure == nullptr ? of.failure : of.job_failure),
        own_(of.records + of.rank),
        ranks_(of.ranks) {}
  ~membership() = default;
  /// Whether the job's failure is the team's.
  bool fails_with_job() const noexcept { return job_failure_ != failure_; }

private:
  const std::atomic<std::uint32_t>* failure_;
  const std::atomic<std::uint32_t>* job_failure_;
  call_record* own_;
  std::size_t ranks_;
};

}  // namespace muster::wire
