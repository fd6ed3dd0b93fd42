#include "tests/conformance/contents.hpp"

#include <algorithm>
#include <cstring>
#include <type_traits>

#include "tests/harness/random.hpp"

namespace muster::testing {
namespace {

// Reference arithmetic in the plainest form: integers wrap, so they are computed unsigned.
template <class T>
T apply(reduction op, T a, T b) {
  using wide = std::conditional_t<std::is_integral_v<T>, std::uint64_t, T>;
  switch (op) {
    case reduction::sum:
      return static_cast<T>(static_cast<wide>(a) + static_cast<wide>(b));
    case reduction::product:
      return static_cast<T>(static_cast<wide>(a) * static_cast<wide>(b));
    case reduction::min:
      return std::min(a, b);
    case reduction::max:
      return std::max(a, b);
    default:
      break;
  }
  return a;
}

template <class T>
void combine_into(reduction op, std::span<std::byte> sum, std::span<const std::byte> next) {
  for (std::size_t at = 0; at + sizeof(T) <= sum.size(); at += sizeof(T)) {
    T a;
    T b;
    std::memcpy(&a, sum.data() + at, sizeof(T));
    std::memcpy(&b, next.data() + at, sizeof(T));
    a = apply(op, a, b);
    std::memcpy(sum.data() + at, &a, sizeof(T));
  }
}

void combine_into(const spec& call, std::span<std::byte> sum, std::span<const std::byte> next) {
  switch (call.type) {
    case datatype::byte:
    case datatype::uint8:
      return combine_into<std::uint8_t>(call.op, sum, next);
    case datatype::int8:
      return combine_into<std::int8_t>(call.op, sum, next);
    case datatype::int16:
      return combine_into<std::int16_t>(call.op, sum, next);
    case datatype::uint16:
      return combine_into<std::uint16_t>(call.op, sum, next);
    case datatype::int32:
      return combine_into<std::int32_t>(call.op, sum, next);
    case datatype::uint32:
      return combine_into<std::uint32_t>(call.op, sum, next);
    case datatype::int64:
      return combine_into<std::int64_t>(call.op, sum, next);
    case datatype::uint64:
      return combine_into<std::uint64_t>(call.op, sum, next);
    case datatype::float32:
      return combine_into<float>(call.op, sum, next);
    case datatype::float64:
      return combine_into<double>(call.op, sum, next);
    default:
      break;
  }
}

template <class T>
T floating(const spec& call, std::uint64_t random) {
  if (call.rounded) return static_cast<T>(0.5 + static_cast<double>(random >> 11) * 0x1p-53);
  if (call.op == reduction::product) {  // powers of two
    return static_cast<T>(std::int64_t{1} << (random % 3)) / 2 * (random & 64 ? 1 : -1);
  }
  return static_cast<T>(static_cast<std::int64_t>(random % 2048) - 1024);
}

template <class T>
void fill_floating(const spec& call, random_stream& random, std::span<std::byte> to) {
  for (std::size_t at = 0; at + sizeof(T) <= to.size(); at += sizeof(T)) {
    const T value = floating<T>(call, random.next());
    std::memcpy(to.data() + at, &value, sizeof(T));
  }
}

void fill_bytes(random_stream& random, std::span<std::byte> to) {
  for (std::size_t at = 0; at < to.size(); at += sizeof(std::uint64_t)) {
    const std::uint64_t word = random.next();
    std::memcpy(to.data() + at, &word, std::min(sizeof word, to.size() - at));
  }
}

std::vector<std::byte> reduced(const spec& call, std::size_t ranks) {
  std::vector<std::byte> sum(call.bytes());
  std::vector<std::byte> next(call.bytes());
  fill(call, 0, 0, sum);
  for (std::size_t rank = 1; rank < ranks; ++rank) {
    fill(call, rank, 0, next);
    combine_into(call, sum, next);
  }
  return sum;
}

/// One block from each rank, which its `block_of(rank)`-th block is.
template <class BlockOf>
std::vector<std::byte> gathered(const spec& call, std::size_t ranks, BlockOf block) {
  std::vector<std::byte> all(call.bytes() * ranks);
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    const std::span<std::byte> place(all.data() + rank * call.bytes(), call.bytes());
    fill(call, rank, block(rank), place);
  }
  return all;
}

}  // namespace

std::string describe(const spec& call) {
  std::string text(name(call.what));
  text += "(" + std::to_string(call.count) + " x " + std::string(name(call.type)) + ", " +
          std::string(name(call.op)) + ", root " + std::to_string(call.root);
  if (call.in_place) text += ", in place";
  if (call.rounded) text += ", rounded";
  return text + ")";
}

void fill(const spec& call, std::size_t rank, std::size_t block, std::span<std::byte> to) {
  random_stream random(derive(call.seed, rank << 20 | block));
  if (call.op != reduction::none && call.type == datatype::float32) {
    fill_floating<float>(call, random, to);
  } else if (call.op != reduction::none && call.type == datatype::float64) {
    fill_floating<double>(call, random, to);
  } else {
    fill_bytes(random, to);
  }
}

std::vector<std::byte> contribution(const spec& call, std::size_t ranks, std::size_t rank) {
  const std::size_t blocks = call.what == collective::alltoall ? ranks : 1;
  std::vector<std::byte> all(call.bytes() * blocks);
  for (std::size_t block = 0; block < blocks; ++block) {
    fill(call, rank, block, std::span(all).subspan(block * call.bytes(), call.bytes()));
  }
  return all;
}

std::vector<std::byte> expected(const spec& call, std::size_t ranks, std::size_t rank) {
  switch (call.what) {
    case collective::barrier:
      return {};
    case collective::bcast:
      return contribution(call, ranks, call.root);
    case collective::reduce:
      return rank == call.root ? reduced(call, ranks) : std::vector<std::byte>();
    case collective::allreduce:
      return reduced(call, ranks);
    case collective::allgather:
      return gathered(call, ranks, [](std::size_t) { return 0; });
    case collective::alltoall:
      return gathered(call, ranks, [rank](std::size_t) { return rank; });
    default:
      break;
  }
  return {};
}

}  // namespace muster::testing
