#include <muster/run/segments.hpp>

#include <algorithm>

namespace muster {

segments::segments(std::size_t block_bytes, std::size_t blocks, std::size_t ahead,
                   std::size_t grain) noexcept
    : block_bytes(block_bytes), blocks(blocks), ahead(ahead) {
  piece = std::max(wire::segment_bytes / blocks / grain * grain, grain);
}

segments segments::followed(std::size_t block_bytes, std::size_t blocks) noexcept {
  constexpr std::size_t least = 16 * 1024;  // more than a notice costs
  segments cut(block_bytes, blocks, far);
  const std::size_t wanted = std::max((block_bytes + far - 1) / far, least / blocks);
  constexpr std::size_t grain = wire::cache_line;
  cut.piece = std::min(cut.piece, (wanted + grain - 1) / grain * grain);
  return cut;
}

}  // namespace muster
