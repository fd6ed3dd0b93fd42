#pragma once

#include <muster/run/context.hpp>

namespace muster {

/// A pipeline whose blocks are of lengths that only their writer and their readers know.
///
/// A writer has one block for each reader, or one for all. Segment k holds the k-th piece of each,
/// as far as it goes; there are as many segments as the longest block needs, and at least one.
/// Before the first pieces stand *notes*: how long each block is, and where it lies in what was
/// lent. So a reader finds out where it expects another length.
class varying_pipeline : public pipeline {
public:
  varying_pipeline(context& me, std::size_t index, std::size_t blocks,
                   std::size_t ahead = segments::in_step, std::size_t sole_reader = all);

  /// Segments that a block of so many bytes needs.
  std::size_t segments_for(std::size_t bytes) const noexcept;

  /// Offers all blocks where they are, if local peers can copy them from there, and posts the only
  /// segment. If not, stage them.
  bool lend(std::span<const std::span<const std::byte>> blocks) noexcept;
  /// Notes how long the staged blocks are, in the slot of segment 0.
  void note(std::byte* slot, std::span<const std::span<const std::byte>> blocks) noexcept;
  /// Where the piece of a block goes in the slot of a segment, and the piece.
  std::byte* place(std::byte* slot, std::size_t block) const noexcept;
  std::span<const std::byte> piece_of(std::span<const std::byte> block,
                                      std::size_t segment) const noexcept;

  /// How many segments this rank takes of each local peer, by `segments_for`; kept by the caller.
  void will_take(std::span<const std::size_t> segments) noexcept { takes_ = segments; }
  /// Copies as `pipeline::copy` does, a block that its reader expects to be as long as `whole`.
  /// \throws error `errc::mismatched_call` where it is not.
  copying copy(std::size_t local_peer, std::size_t segment, std::size_t block,
               std::span<std::byte> whole);
  /// This rank takes no more segments of anybody: no writer waits for it from here on.
  void take_all() noexcept;

private:
  struct block_note {
    std::uint64_t bytes;
    std::uint64_t offset;
  };
  std::size_t stride() const noexcept { return cut_.piece + sizeof(block_note); }
  block_note read_note(std::size_t local_peer, std::size_t block) const noexcept;
  void write_notes(std::byte* slot, std::span<const std::span<const std::byte>> blocks,
                   std::span<const std::byte> lent) noexcept;
};

}  // namespace muster
