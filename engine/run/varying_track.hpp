#pragma once

#include <muster/run/context.hpp>

namespace muster {

/// A track whose blocks are of lengths that only their writer and their readers know.
///
/// A writer has one block for each reader, or one for all. Item k holds the k-th piece of each, as
/// far as it goes; there are as many items as the longest block needs, and at least one. Before the
/// first pieces stand *notes*: how long each block is, and where it lies in what was lent. So a
/// reader finds out where it expects another length.
class varying_track : public track {
public:
  varying_track(context& me, std::size_t index, std::size_t blocks,
                std::size_t ahead = items::in_step, std::size_t sole_reader = all) noexcept;

  /// Items that a block of so many bytes needs.
  std::size_t items_for(std::size_t bytes) const noexcept;

  /// Offers all blocks where they are, if neighbours can copy them from there, and posts the only
  /// item. If not, stage them.
  bool lend(std::span<const std::span<const std::byte>> blocks) noexcept;
  /// Notes how long the staged blocks are, in the room of item 0.
  void note(std::byte* room, std::span<const std::span<const std::byte>> blocks) noexcept;
  /// Where the piece of a block goes in the room of an item, and the piece.
  std::byte* place(std::byte* room, std::size_t block) const noexcept;
  std::span<const std::byte> piece_of(std::span<const std::byte> block,
                                      std::size_t item) const noexcept;

  /// How many items this rank takes of each neighbour, by `items_for`; kept by the caller.
  void will_take(std::span<const std::size_t> items) noexcept { takes_ = items; }
  /// Copies as `track::copy` does, a block that its reader expects to be as long as `whole`.
  /// \throws error `errc::mismatched_call` where it is not.
  copying copy(std::size_t neighbour, std::size_t item, std::size_t block,
               std::span<std::byte> whole);
  /// This rank takes no more items of anybody: no writer waits for it from here on.
  void take_all() noexcept;

private:
  struct block_note {
    std::uint64_t bytes;
    std::uint64_t offset;
  };
  std::size_t stride() const noexcept { return cut_.piece + sizeof(block_note); }
  block_note read_note(std::size_t neighbour, std::size_t block) const noexcept;
  void write_notes(std::byte* room, std::span<const std::span<const std::byte>> blocks,
                   std::span<const std::byte> lent) noexcept;
};

}  // namespace muster
