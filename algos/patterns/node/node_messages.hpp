#pragma once

#include <cstddef>
#include <span>

#include <muster/run/context.hpp>

namespace muster::algos {

/// What comes to a rank from other nodes, from each in one message of a block of every rank of it:
/// straight into their places where those follow each other, else through working memory.
class node_messages {
public:
  node_messages(context& me, const arguments& call)
      : me_(me), call_(call), rooms_(me.shape().nodes()) {}

  /// Lets a rank send what its node has for this one.
  task<> invite(std::size_t from) { return me_.invite(from, place_of(from)); }
  /// Receives that, one message after the other.
  task<> receive(std::size_t from);

private:
  std::span<const std::size_t> node_of(std::size_t rank) const {
    return me_.shape().ranks_of(me_.shape().node_of(rank));
  }
  std::span<std::byte> place_of(std::size_t from);

  context& me_;
  const arguments& call_;
  // By node, for long messages, which may all come at once. Short ones share that of this rank's.
  pooled_list<std::span<std::byte>> rooms_;
};

}  // namespace muster::algos
