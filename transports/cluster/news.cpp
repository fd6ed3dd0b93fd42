#include "transports/cluster/news.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include <muster/base/error.hpp>

namespace muster::cluster {
namespace {

/// A failure, as it is told. Without gaps, in which other memory of this rank would go along.
struct told_failure {
  std::int64_t code;
  std::uint64_t rank;
  std::array<char, 1024> text;
};
static_assert(sizeof(told_failure) <= stream::connection::most_news);

template <class T>
std::vector<std::byte> bytes_of(const T& told) {
  const auto bytes = std::as_bytes(std::span(&told, 1));
  return {bytes.begin(), bytes.end()};
}

/// Nothing where it is not as long as it should be: the sender may be another program.
template <class T>
std::optional<T> told_in(std::span<const std::byte> bytes) {
  if (bytes.size() != sizeof(T)) return std::nullopt;
  T told;
  std::memcpy(&told, bytes.data(), sizeof told);
  return told;
}

told_failure told(const wire::failure& why) {
  told_failure as{.code = static_cast<std::int64_t>(why.code), .rank = why.rank, .text = {}};
  why.text.copy(as.text.data(), as.text.size() - 1);
  return as;
}

wire::failure failure_in(const told_failure& told) {
  const auto end = std::ranges::find(told.text, '\0');
  return {.code = static_cast<errc>(told.code),
          .rank = static_cast<std::size_t>(told.rank),
          .text = std::string(told.text.begin(), end)};
}

}  // namespace

void newsroom::enroll(std::uint64_t team, team_news& who) {
  teams_.emplace(team, &who);
  const auto early = early_.extract(team);
  if (!early.empty()) who.hear_failure(early.mapped());
}

void newsroom::dismiss(std::uint64_t team) noexcept { teams_.erase(team); }

// ---- told

stream::frame newsroom::head_of(std::uint64_t team, std::size_t from, kind what,
                                std::size_t bytes) noexcept {
  const stream::frame made{.team = team,
                           .from = static_cast<std::uint32_t>(from),
                           .lane = static_cast<std::uint32_t>(what),
                           .what = stream::frame::kind::news,
                           .taken = 0,
                           .bytes = static_cast<std::uint32_t>(bytes)};
  return made;
}

void newsroom::send(std::size_t to, std::uint64_t team, std::size_t from, kind what,
                    std::vector<std::byte> bytes) {
  try {
    all_->to(to).owe_news(head_of(team, from, what, bytes.size()), std::move(bytes));
  } catch (const error&) {
    // There is no memory for a connection to it: whoever has one tells it.
  }
}

void newsroom::tell_failure(std::size_t to, std::uint64_t team, kind what,
                            const wire::failure& why) {
  send(to, team, 0, what, bytes_of(told(why)));
}

void newsroom::tell_failure(std::uint64_t team, std::span<const std::size_t> members,
                            const wire::failure& why) noexcept {
  for (const std::size_t rank : members) {
    if (!job_.is_here(rank)) tell_failure(rank, team, kind::team_failure, why);
  }
}

void newsroom::repeat_failure(std::uint64_t team, std::span<const std::size_t> members,
                              const wire::failure& why) noexcept {
  for (const std::size_t rank : members) {
    if (others_.is_open_to(rank)) tell_failure(rank, team, kind::team_failure, why);
  }
  tell_newcomers(team, kind::team_failure, why);
}

void newsroom::repeat_job_failure(const wire::failure& why) noexcept {
  if (!std::exchange(has_told_job_, true)) tell_connected(why);
}

void newsroom::tell_connected(const wire::failure& why) {
  for (std::size_t rank = 0; rank < job_.size(); ++rank) {
    if (others_.is_open_to(rank)) tell_failure(rank, 0, kind::job_failure, why);
  }
  tell_newcomers(0, kind::job_failure, why);
}

void newsroom::tell_newcomers(std::uint64_t team, kind what, const wire::failure& why) {
  std::vector<std::byte> bytes = bytes_of(told(why));
  const stream::frame head = head_of(team, 0, what, bytes.size());
  others_.tell_newcomers(head, std::move(bytes));
}

void newsroom::tell_job_failure(const wire::failure& why) noexcept {
  if (std::exchange(has_told_job_, true)) return;
  if (has_heard_job_) return tell_connected(why);
  for (std::size_t rank = 0; rank < job_.size(); ++rank) {
    if (!job_.is_here(rank)) tell_failure(rank, 0, kind::job_failure, why);
  }
}

stream::frame newsroom::farewell() const noexcept { return head_of(0, rank_, kind::leaving, 0); }

void newsroom::ask_call(std::uint64_t team, std::size_t self, std::size_t to) noexcept {
  send(to, team, self, kind::question, {});
}

// ---- heard

void newsroom::read(std::size_t peer, const stream::frame& head, std::span<const std::byte> bytes) {
  const auto found = teams_.find(head.team);
  team_news* const team = found == teams_.end() ? nullptr : found->second;
  switch (static_cast<kind>(head.lane)) {
    case kind::team_failure:
      if (const auto told = told_in<told_failure>(bytes))
        hear_failure(head.team, failure_in(*told));
      return;
    case kind::job_failure:
      if (const auto told = told_in<told_failure>(bytes)) {
        has_heard_job_ = true;
        job_.here().fail(failure_in(*told));
      }
      return;
    case kind::question:
      if (team != nullptr) {
        send(peer, head.team, team->rank(), kind::call, bytes_of(team->last_call()));
      }
      return;
    case kind::call:
      if (const auto told = told_in<wire::recorded_call>(bytes); told && team != nullptr) {
        team->hear_call(head.from, *told);
      }
      return;
    case kind::leaving:
      return others_.note_leaving(peer);
  }
}

void newsroom::hear_failure(std::uint64_t team, const wire::failure& why) {
  const auto found = teams_.find(team);
  if (found != teams_.end()) return found->second->hear_failure(why);
  // Of one that this rank has made already and given up, or has not made yet.
  early_.emplace(team, why);
}

}  // namespace muster::cluster
