#pragma once

#include <cstddef>
#include <span>

#include <muster/run/context.hpp>

namespace muster::algos {

/// Messages that go out and come in all at once, over as many connections, at most one to a rank
/// and one from a rank.
class simultaneous {
public:
  explicit simultaneous(context& me) : me_(me) {}

  void send(std::size_t to, std::span<const std::byte> bytes) { out_.push_back({to, bytes}); }
  void receive(std::size_t from, std::span<std::byte> place) { in_.push_back({from, place}); }

  /// Comes before `run`, maybe long before: as soon as messages may come.
  task<> invite();
  task<> run();

private:
  struct outgoing {
    std::size_t to;
    std::span<const std::byte> bytes;
  };
  struct incoming {
    std::size_t from;
    std::span<std::byte> place;
  };
  context& me_;
  pooled_list<outgoing> out_;
  pooled_list<incoming> in_;
};

}  // namespace muster::algos
