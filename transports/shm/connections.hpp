#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <muster/progress/progress_source.hpp>

#include "transports/shm/connection.hpp"
#include "transports/shm/frame.hpp"
#include "transports/shm/inbox.hpp"
#include "transports/shm/job.hpp"
#include "transports/shm/parking.hpp"

namespace muster::shm {

class links;

/// A rank's connections to others of its job, made when first used, and the teams that they serve.
/// What its engine polls: a poll looks at those who have ever said something, and at no others.
class connections final : public progress_source {
public:
  /// \param of outlives this
  connections(const job& of, std::size_t rank);
  connections(const connections&) = delete;
  connections& operator=(const connections&) = delete;

  const job& of() const noexcept { return job_; }
  std::size_t rank() const noexcept { return rank_; }
  const shm::parking& parking() const noexcept { return parking_; }
  connection& to(std::size_t rank);
  inbox_memory& inboxes() noexcept { return inboxes_; }

  /// A team's links are there: what has come for it before is theirs.
  /// \param team its number in the job
  void enroll(std::uint64_t team, links& all);
  /// They are no more. \param expects_more something may come that is for nobody any more
  void dismiss(std::uint64_t team, bool expects_more) noexcept;
  /// Null: not yet, or no longer.
  links* find(std::uint64_t team) noexcept;
  /// Keeps what came for a team of which this rank has no links yet.
  void set_aside(const frame& head, std::vector<std::byte> bytes);
  /// Whether all that a rank has said by now has come to its link.
  bool hear(std::size_t rank) noexcept;

  // ---- progress_source

  bool progress() noexcept override;
  int descriptor() const noexcept override { return -1; }
  void arm() noexcept override;
  void disarm() noexcept override { parking_.disarm(); }

private:
  struct early_frame {
    frame head;
    std::vector<std::byte> bytes;
  };
  void find_new();

  const job& job_;
  std::size_t rank_;
  rank_line& mine_;
  shm::parking parking_;
  inbox_memory inboxes_;
  std::vector<std::unique_ptr<connection>> by_rank_;
  std::vector<connection*> all_;    // those that were made
  std::vector<connection*> heard_;  // those whose peers have said something
  std::uint32_t known_ = 0;         // how many those are
  std::unordered_map<std::uint64_t, links*> teams_;
  static constexpr std::uint64_t no_team = ~std::uint64_t{0};
  std::uint64_t last_team_ = no_team;  // that was found
  links* last_found_ = nullptr;
  std::unordered_map<std::uint64_t, std::vector<early_frame>> early_;
  std::unordered_set<std::uint64_t> ended_;  // of which something may still come
};

}  // namespace muster::shm
