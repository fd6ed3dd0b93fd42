#include "algos/patterns/node/receive_segments.hpp"

namespace muster::algos {

task<> receive_segments(pipeline& on, std::size_t writer, std::size_t block,
                        std::span<std::byte> result) {
  co_await on.arrived(writer, 0);
  const std::size_t count = on.segments_of(writer);
  for (std::size_t k = 0; k < count; ++k) {
    if (k != 0) co_await on.arrived(writer, k);
    co_await on.copy(writer, k, block, result);
    if (k + 1 < count) on.take(k);
  }
  // A lender, whose first segment was all, waits for as many as it would have staged.
  on.take(on.cut().count() - 1);
}

}  // namespace muster::algos
