#pragma once

#include <cstddef>
#include <string>

#include "tools/library/launcher/meeting.hpp"

namespace muster::launcher {

/// What a launcher carries between the processes that it has started, and nobody else hears.
class private_channel {
public:
  virtual ~private_channel() = default;
  virtual std::size_t rank() const noexcept = 0;
  virtual std::size_t size() const noexcept = 0;
  /// What rank 0 says. Collective, once.
  /// \param mine of rank 0: at most 1,000 printable characters, none of them a space, `;` or `=`
  /// \throws error `errc::bootstrap`
  virtual std::string hear_rank_0(const std::string& mine) = 0;
};

/// What rank 0 says there, for others to come to its place: no more than 12 of its addresses.
std::string invitation_to(const meeting& one);

/// Rank 0 makes a key and a place, and invites the others there.
/// \throws error `errc::bootstrap`
meeting meet_through(private_channel& all);

}  // namespace muster::launcher
