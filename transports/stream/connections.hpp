#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <muster/progress/progress_source.hpp>

#include "transports/stream/connection.hpp"
#include "transports/stream/frame.hpp"
#include "transports/stream/inbox.hpp"

namespace muster::stream {

class links;

/// A rank's end of one of the ways to reach others of its job: makes its connections to them, and
/// looks what has come on these.
class endpoint {
public:
  virtual ~endpoint() = default;

  virtual bool reaches(std::size_t rank) const noexcept = 0;
  virtual std::unique_ptr<connection> connect(connections& of, std::size_t rank) = 0;

  // As of a `progress_source`.
  virtual bool progress(connections& of) noexcept = 0;
  virtual int descriptor() const noexcept { return -1; }
  virtual void arm() noexcept = 0;
  virtual void disarm() noexcept = 0;
  virtual clock_time most_sleep() const noexcept { return clock_time::max(); }

  /// How many links of its connections operations use.
  std::size_t links_open = 0;
};

/// Who takes what ranks say of themselves and of their teams, apart from messages.
class newsreader {
public:
  virtual void read(std::size_t peer, const frame& head, std::span<const std::byte> bytes) = 0;

protected:
  ~newsreader() = default;
};

/// A rank's connections to others of its job, made when first used, and the teams that they serve.
/// What its engine polls: a poll looks at those who have ever said something, and at no others.
class connections final : public progress_source {
public:
  /// \param ranks how many the job has
  /// \param ways  outlive this; each rank is reached by one of them, at most one has a descriptor
  /// \param reader outlives this; null where there are no news
  connections(std::size_t ranks, std::vector<endpoint*> ways, newsreader* reader = nullptr);
  connections(const connections&) = delete;
  connections& operator=(const connections&) = delete;

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
  /// \param peer that sent it
  void set_aside(std::size_t peer, const frame& head, std::vector<std::byte> bytes);
  /// The sender of such a frame has withdrawn where it posted in such a team.
  void refuse_early_invitations(std::size_t peer, const frame& name);
  /// Null: nobody.
  newsreader* reader() const noexcept { return reader_; }
  /// Whether all that a rank has said by now has come to its link.
  bool hear(std::size_t rank) noexcept;

  // ---- progress_source

  bool progress() noexcept override;
  int descriptor() const noexcept override;
  void arm() noexcept override;
  void disarm() noexcept override;
  clock_time most_sleep() const noexcept override;

private:
  struct early_frame {
    std::size_t peer;
    frame head;
    std::vector<std::byte> bytes;
  };

  struct early_withdrawal {
    std::size_t peer;
    frame name;
  };

  std::vector<endpoint*> ways_;
  newsreader* reader_;
  inbox_memory inboxes_;
  std::vector<std::unique_ptr<connection>> by_rank_;
  std::unordered_map<std::uint64_t, links*> teams_;
  static constexpr std::uint64_t no_team = ~std::uint64_t{0};
  std::uint64_t last_team_ = no_team;  // that was found
  links* last_found_ = nullptr;
  std::unordered_map<std::uint64_t, std::vector<early_frame>> early_;
  std::unordered_map<std::uint64_t, std::vector<early_withdrawal>> withdrawn_early_;
  std::unordered_set<std::uint64_t> ended_;  // of which something may still come
};

}  // namespace muster::stream
