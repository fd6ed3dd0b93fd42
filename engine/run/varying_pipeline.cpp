#include <muster/run/varying_pipeline.hpp>

#include <algorithm>
#include <cstring>
#include <functional>
#include <string>

namespace muster {
namespace {

/// The memory from the first byte of all blocks to the last: what lies between them is never read.
std::span<const std::byte> hull(std::span<const std::span<const std::byte>> blocks) noexcept {
  const std::byte* from = nullptr;
  const std::byte* to = nullptr;
  // Blocks of different arrays, as absolute addresses allow, compare by std::less alone.
  constexpr std::less<> before;
  for (const auto& block : blocks) {
    if (block.empty()) continue;
    const std::byte* const end = block.data() + block.size();
    if (from == nullptr || before(block.data(), from)) from = block.data();
    if (to == nullptr || before(to, end)) to = end;
  }
  return {from, static_cast<std::size_t>(to - from)};
}

}  // namespace

varying_pipeline::varying_pipeline(context& me, std::size_t index, std::size_t blocks,
                                   std::size_t ahead, std::size_t sole_reader)
    : pipeline(me, index, segments(0, blocks, ahead), sole_reader) {
  cut_.piece -= sizeof(block_note);
}

std::size_t varying_pipeline::segments_for(std::size_t bytes) const noexcept {
  return std::max<std::size_t>(1, (bytes + cut_.piece - 1) / cut_.piece);
}

bool varying_pipeline::lend(std::span<const std::span<const std::byte>> blocks) noexcept {
  std::size_t longest = 0;
  std::size_t all_bytes = 0;
  for (const auto& block : blocks) {
    longest = std::max(longest, block.size());
    all_bytes += block.size();
  }
  if (longest == 0) return false;  // the notes are all there is
  const auto memory = hull(blocks);
  if (!offer(memory, choose_foreign(all_bytes, longest), 1)) return false;
  write_notes(stage(op_.node_index(), 0), blocks, memory);
  post(0);
  return true;
}

void varying_pipeline::note(std::byte* slot,
                            std::span<const std::span<const std::byte>> blocks) noexcept {
  write_notes(slot, blocks, {});
}

// Like flags, notes are stored whether or not buffers carry anything.
void varying_pipeline::write_notes(std::byte* slot,
                                   std::span<const std::span<const std::byte>> blocks,
                                   std::span<const std::byte> lent) noexcept {
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const bool is_lent = !lent.empty() && !blocks[i].empty();
    const block_note note = {
        blocks[i].size(),
        is_lent ? static_cast<std::uint64_t>(blocks[i].data() - lent.data()) : 0,
    };
    std::memcpy(slot + i * stride(), &note, sizeof note);
  }
}

varying_pipeline::block_note varying_pipeline::read_note(std::size_t local_peer,
                                                         std::size_t block) const noexcept {
  block_note note;
  std::memcpy(&note, stage(local_peer, 0) + block * stride(), sizeof note);
  return note;
}

std::byte* varying_pipeline::place(std::byte* slot, std::size_t block) const noexcept {
  return slot + block * stride() + sizeof(block_note);
}

std::span<const std::byte> varying_pipeline::piece_of(std::span<const std::byte> block,
                                                      std::size_t segment) const noexcept {
  const std::size_t from = std::min(block.size(), cut_.offset(segment));
  return block.subspan(from, std::min(cut_.piece, block.size() - from));
}

pipeline::copying varying_pipeline::copy(std::size_t local_peer, std::size_t segment,
                                         std::size_t block, std::span<std::byte> whole) {
  block_note note = {whole.size(), 0};
  if (segment == 0) note = read_note(local_peer, block);
  me_.check_length(me_.rank_of(local_peer), note.bytes, whole.size());
  if (whole.empty()) return copying(op_.work());
  const wire::origin& from = pipeline_head(local_peer).from;
  switch (from.where) {
    case wire::origin::kind::staged: {
      const auto piece = piece_of(whole, segment);
      return copying(me_.copy_result(whole.subspan(cut_.offset(segment), piece.size()),
                                     place(stage(local_peer, segment), block)));
    }
    case wire::origin::kind::foreign:
      return fetch(local_peer, from, note.offset, whole);
    default:
      return copying(me_.copy_result(whole, op_.memory().borrow(from) + note.offset));
  }
}

void varying_pipeline::take_all() noexcept {
  constexpr std::size_t last_segment = std::numeric_limits<std::uint32_t>::max() - 1;
  take(last_segment);
}

}  // namespace muster
