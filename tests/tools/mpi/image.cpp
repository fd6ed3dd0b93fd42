#include "tests/tools/mpi/image.hpp"

#include <algorithm>

#include <muster/base/random.hpp>

namespace muster::testing {
namespace {

constexpr std::ptrdiff_t margin = 64;

/// The bytes of a message, one after another.
class message {
public:
  explicit message(std::uint64_t key) : words_(key) {}
  unsigned char next() {
    if (left_ == 0) {
      word_ = words_.next();
      left_ = 8;
    }
    const auto byte = static_cast<unsigned char>(word_);
    word_ >>= 8;
    --left_;
    return byte;
  }

private:
  random_stream words_;
  std::uint64_t word_ = 0;
  int left_ = 0;
};

}  // namespace

image::image(std::span<const block> blocks, unsigned char guard) : guard_(guard) {
  std::ptrdiff_t low = 0;
  std::ptrdiff_t high = 0;
  for (const block& one : blocks) {
    if (one.count == 0) continue;
    const auto last = one.at + static_cast<std::ptrdiff_t>(one.count - 1) * one.of->extent;
    low = std::min(low, std::min(one.at, last) + one.of->low());
    high = std::max(high, std::max(one.at, last) + one.of->high());
  }
  // Aligned as MPI expects elements to be.
  origin_ = (margin - low + margin - 1) / margin * margin;
  bytes_.assign(static_cast<std::size_t>(origin_ + high + margin), guard_);
}

void image::clear() { std::ranges::fill(bytes_, guard_); }

void image::put(const block& where, std::uint64_t key) {
  message from(key);
  for (std::size_t i = 0; i < where.count; ++i) {
    const auto element = origin_ + where.at + static_cast<std::ptrdiff_t>(i) * where.of->extent;
    for (const piece& one : where.of->pieces) {
      const auto to = bytes_.begin() + element + one.at;
      std::generate_n(to, one.length, [&] { return from.next(); });
    }
  }
}

std::optional<std::ptrdiff_t> image::difference(const image& other) const {
  if (bytes_ == other.bytes_) return std::nullopt;  // in one call, which costs little
  const auto at = std::ranges::mismatch(bytes_, other.bytes_).in1;
  return at - bytes_.begin() - origin_;
}

}  // namespace muster::testing
