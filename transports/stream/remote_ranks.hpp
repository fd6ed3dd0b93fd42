#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <muster/wire/fabric.hpp>
#include <muster/wire/membership.hpp>

#include "transports/stream/connections.hpp"

namespace muster::stream {

/// A rank's way to the ranks of other machines, and what it knows of their lives.
class remote_ranks : public endpoint {
public:
  /// What is known of the life of a rank that is waited for.
  virtual wire::liveness state(std::size_t rank) noexcept = 0;
  /// Of one that died: how that was noticed, and where it was.
  virtual const std::string& how_lost(std::size_t rank) const noexcept = 0;
  /// Whether this rank and another have anything to do with each other.
  virtual bool is_open_to(std::size_t rank) const noexcept = 0;
  /// A rank says that it leaves, and says nothing after that.
  virtual void note_leaving(std::size_t rank) noexcept = 0;
  /// Whoever connects from now on is told so, before this rank's farewell.
  virtual void tell_newcomers(const frame& news, std::vector<std::byte> bytes) = 0;
  /// This rank leaves: says so to those that it is connected to, and returns when what it has sent
  /// has come to their machines.
  /// \param farewell news without bytes
  /// \param broken   nobody may take it any more: it waits for 5 s at most
  virtual void leave(connections& of, const frame& farewell, bool broken) noexcept = 0;
  /// What the connections of this rank can come to take, of its own memory.
  virtual std::size_t most_bytes() const noexcept = 0;
  virtual wire::traffic traffic() const noexcept { return {}; }
};

}  // namespace muster::stream
