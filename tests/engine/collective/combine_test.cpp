// Every form of `combine` that this processor can run gives what one element at a time gives.

#include <doctest/doctest.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "engine/collective/combine.hpp"
#include "tests/harness/random.hpp"

namespace muster::testing {
namespace {

constexpr std::array types = {datatype::byte,    datatype::int8,   datatype::uint8,
                              datatype::int16,   datatype::uint16, datatype::int32,
                              datatype::uint32,  datatype::int64,  datatype::uint64,
                              datatype::float32, datatype::float64};
constexpr std::array operations = {reduction::sum, reduction::product, reduction::min,
                                   reduction::max};
// Around where single elements, one tile and several tiles begin, in elements of any size.
constexpr std::array<std::size_t, 14> counts = {0,   1,   7,    16,   17,   31,   128,
                                                129, 256, 1000, 2047, 2048, 2049, 5000};

/// Inputs at odd addresses, so that nothing relies on alignment.
class inputs {
public:
  inputs(std::size_t how_many, std::size_t bytes, random_stream& random) : bytes_(bytes) {
    for (std::size_t i = 0; i < how_many; ++i) {
      memory_.emplace_back(bytes + 1);
      // Small bytes: as floating-point numbers they are finite, and mostly denormal or small.
      for (std::byte& each : memory_.back()) each = static_cast<std::byte>(random.below(64));
    }
  }
  std::vector<const std::byte*> all() const {
    std::vector<const std::byte*> result;
    for (const auto& each : memory_) result.push_back(each.data() + 1);
    return result;
  }
  std::byte* first() { return memory_.front().data() + 1; }
  std::size_t bytes() const { return bytes_; }

private:
  std::size_t bytes_;
  std::vector<std::vector<std::byte>> memory_;
};

std::vector<std::byte> one_by_one(reduction op, datatype type, const inputs& from) {
  const auto all = from.all();
  const std::size_t size = size_of(type);
  std::vector<std::byte> result(from.bytes());
  for (std::size_t at = 0; at < from.bytes(); at += size) {
    std::vector<const std::byte*> single;
    for (const std::byte* each : all) single.push_back(each + at);
    combiners().front()(op, type, result.data() + at, single, 1);
  }
  return result;
}

void check_all_forms(reduction op, datatype type, inputs from, std::size_t count) {
  const auto expected = one_by_one(op, type, from);
  const auto all = from.all();
  for (const combiner form : combiners()) {
    std::vector<std::byte> result(from.bytes());
    form(op, type, result.data(), all, count);
    CHECK(result == expected);
  }
  combine(op, type, from.first(), all, count);  // over one of its inputs
  CHECK(std::equal(expected.begin(), expected.end(), from.first()));
}

TEST_CASE("all forms, types and operations, to the bit") {
  random_stream random(run_seed());
  for (const datatype type : types) {
    for (const reduction op : operations) {
      for (const std::size_t count : counts) {
        const std::size_t how_many = 1 + random.below(5);
        check_all_forms(op, type, inputs(how_many, count * size_of(type), random), count);
      }
    }
  }
}

TEST_CASE("sums of known numbers") {
  for (const combiner form : combiners()) {
    const std::vector<double> a(300, 1.5);
    const std::vector<double> b(300, 2.25);
    std::vector<double> sum(300);
    const std::array inputs = {reinterpret_cast<const std::byte*>(a.data()),
                               reinterpret_cast<const std::byte*>(b.data())};
    form(reduction::sum, datatype::float64, reinterpret_cast<std::byte*>(sum.data()), inputs, 300);
    CHECK(sum == std::vector<double>(300, 3.75));
  }
}

}  // namespace
}  // namespace muster::testing
