#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <vector>

#include "tests/fuzz/guarded_place.hpp"
#include "transports/stream/links.hpp"

namespace muster::fuzz {

/// What rank 0 does in a team of two, whatever its peer says: it never does what a link forbids.
/// It gives memory back as soon as it may, so that later uses of it are found.
class conversation {
public:
  /// \param of, members outlive this
  conversation(stream::connections& of, std::uint64_t team, std::span<const std::size_t> members);
  /// Takes back what is still under way.
  ~conversation();
  conversation(const conversation&) = delete;
  conversation& operator=(const conversation&) = delete;

  /// From now on waits for short messages, or does not any more.
  void turn();
  /// Takes so many bytes of short messages, if they have come.
  void receive(std::size_t bytes);
  void send(std::size_t bytes);
  /// Invites a long message.
  void post(std::size_t bytes);
  /// Goes on with the long message that was invited first.
  void take();
  /// Answers an invitation, if there is one.
  void put(std::size_t bytes);
  /// Gives back what has left, and looks that nothing was written where it must not be.
  void look();

private:
  struct kept_place {
    guarded_place memory;
    std::vector<std::byte> expected;
  };

  stream::links links_;
  wire::open_link posts_;
  wire::open_link sends_;
  std::optional<wire::open_link> waits_;
  std::deque<guarded_place> posted_;
  bool is_taking_ = false;       // the first of them
  std::deque<kept_place> kept_;  // whose messages have come
  std::deque<std::vector<std::byte>> bodies_;
};

}  // namespace muster::fuzz
