#include <muster/run/diagnosis.hpp>

#include <sched.h>

#include <algorithm>
#include <string>

#include <muster/call/describe.hpp>
#include <muster/select/recorded_call.hpp>

namespace muster {

namespace {

/// Whether what a rank is known to have called is what this one called. The newest operation that
/// both have begun tells: a fingerprint covers all calls before. It is one of the last, but for a
/// rank that is far behind.
bool agrees(const operation_state& in, std::size_t other) noexcept {
  const std::uint64_t lanes = in.board().extent().lanes;
  for (std::uint64_t back = 0; back < std::min(lanes, in.ticket().sequence); ++back) {
    const std::size_t lane = in.board().lane_of(in.ticket().sequence - back);
    const std::uint64_t mine = in.members().called(lane, in.rank()).word;
    const std::uint64_t theirs = in.members().called(lane, other).word;
    if (((mine ^ theirs) >> 32) == 0) return mine == theirs;
  }
  return true;
}

}  // namespace

std::optional<error> find_mismatch(const operation_state& in, std::size_t other) {
  if (agrees(in, other)) return std::nullopt;
  const std::uint64_t last = in.ticket().sequence;
  const std::uint64_t lanes = in.board().extent().lanes;
  const std::uint64_t first = last > lanes ? last - lanes + 1 : 1;
  for (std::uint64_t sequence = first; sequence <= last; ++sequence) {
    const std::size_t lane = in.board().lane_of(sequence);
    const auto mine = in.members().called(lane, in.rank());
    const auto theirs = in.members().called(lane, other);
    const auto expected = static_cast<std::uint32_t>(sequence);
    if (mine.sequence() != expected || theirs.sequence() != expected) continue;
    if (mine.is_like(theirs)) continue;
    std::string they_say = muster::describe(theirs);
    std::string i_say = muster::describe(mine);
    if (they_say == i_say) {  // perhaps something else was chosen by hand
      they_say += " by " + describe_choice(theirs, in.team().selector().rows());
      i_say += " by " + describe_choice(mine, in.team().selector().rows());
    }
    return error(errc::mismatched_call,
                 "operation " + std::to_string(sequence) + " is " + they_say + " on rank " +
                     std::to_string(other) + " but " + i_say + " on rank " +
                     std::to_string(in.rank()) +
                     (theirs.details != mine.details ? ", of other blocks or elements" : ""),
                 other);
  }
  return std::nullopt;
}

error left_out(const operation_state& in, std::size_t other, std::uint64_t its_sequence) {
  std::string text = "operation " + std::to_string(in.ticket().sequence) + " is " +
                     muster::describe(in.call()) + " on rank " + std::to_string(in.rank()) +
                     " but nobody of the node of rank " + std::to_string(other) +
                     " sent anything for it, and that rank did for operation " +
                     std::to_string(its_sequence);
  const auto theirs = in.members().called(in.ticket().lane, other);
  if (theirs.sequence() == its_sequence) text += ", " + muster::describe(theirs);
  return {errc::mismatched_call, text, other};
}

error not_mutual(const operation_state& in, std::size_t other, std::uint64_t its_sequence) {
  return {errc::mismatched_call,
          "what comes next to rank " + std::to_string(in.rank()) + " from rank " +
              std::to_string(other) + " is of operation " + std::to_string(its_sequence) + " in " +
              in.describe() + "; expected each to be a neighbor of the other, as often",
          other};
}

namespace {

/// Of a local peer that is waited for and has completed the operation without this rank: why; or
/// null. What a rank says before it completes an operation has been heard by whoever sees it
/// completed.
std::exception_ptr find_unanswered(const operation_state& in, std::size_t other) {
  if (in.shape().node_of(other) != in.shape().node_of(in.rank())) return nullptr;
  // acquire: what that rank did in the operation comes before.
  const std::uint64_t completed =
      in.board().completion(in.shape().index_of(other)).upto.load(std::memory_order_acquire);
  if (completed < in.ticket().sequence || !in.members().all_heard(other)) return nullptr;
  return std::make_exception_ptr(
      error(errc::mismatched_call,
            "rank " + std::to_string(in.rank()) + " has rank " + std::to_string(other) +
                " as a neighbor in " + in.describe() + ", which rank " + std::to_string(other) +
                " has completed without it; expected each to be a neighbor of the other, as often",
            other));
}

}  // namespace

std::exception_ptr find_loss(const operation_state& in, std::size_t rank) noexcept {
  // Its life first: what a rank called before it left is on record by then.
  const wire::liveness state = in.members().state(rank);
  if (const auto why = find_mismatch(in, rank)) return std::make_exception_ptr(*why);
  if (has_neighbors(in.call().what)) {
    if (auto why = find_unanswered(in, rank)) return why;
  }
  if (state == wire::liveness::alive) return nullptr;
  if (state == wire::liveness::died) {
    const std::string how = in.members().how_lost(rank);
    return std::make_exception_ptr(error(errc::rank_died,
                                         "rank " + std::to_string(rank) + " died in or before " +
                                             in.describe() + (how.empty() ? "" : ": " + how),
                                         rank));
  }
  return std::make_exception_ptr(error(
      errc::rank_left, "rank " + std::to_string(rank) + " left before " + in.describe(), rank));
}

std::exception_ptr breakage(const operation_state& in) noexcept {
  const auto why = in.members().failed();
  if (!why) return nullptr;
  return std::make_exception_ptr(error(why->code, in.describe() + ": " + why->text, why->rank));
}

std::exception_ptr breakage_once_written(const operation_state& in) noexcept {
  constexpr int most_polls = 10'000;  // one that died in the middle never has
  for (int look = 0; look < most_polls; ++look) {
    if (auto why = breakage(in)) return why;
    ::sched_yield();
  }
  return nullptr;
}

}  // namespace muster
