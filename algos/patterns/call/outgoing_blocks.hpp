#pragma once

#include <cstddef>
#include <span>

#include <muster/run/context.hpp>

namespace muster::algos {

/// What a rank of an alltoall or alltoallv sends, one block to each rank. In place, blocks must
/// leave before others come: they are moved aside.
class outgoing_blocks {
public:
  outgoing_blocks(context& me, const arguments& call)
      : call_(call), aside_(call.in_place() ? me.size() : 0) {
    for (std::size_t to = 0; to < aside_.size(); ++to) aside_[to] = call.sent_to(to);
    if (aside_.size() != 0) me.save(aside_);
  }

  std::span<const std::byte> operator[](std::size_t to) const noexcept {
    const std::span<const std::span<const std::byte>> aside = aside_;
    return aside.empty() ? call_.sent_to(to) : aside[to];
  }

private:
  const arguments& call_;
  pooled<std::span<const std::byte>> aside_;
};

}  // namespace muster::algos
